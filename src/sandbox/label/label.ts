import { PDFDocument, StandardFonts } from '@cantoo/pdf-lib';
import bwipjs from 'bwip-js/node';
import type { Location, Origin, Shipment } from '../interface/schemas.ts';
import {
  type Band,
  band,
  black,
  type Canvas,
  drawBox,
  fillBand,
  innerWidth,
  margin,
  pageHeight,
  pageWidth,
  textLeft,
  textWidth,
  white,
} from './label-canvas.ts';
import { drawInFormat, formatOf } from './label-format.ts';
import { fittingSize, wrap, writable } from './label-text.ts';

/** The blank space that scanners need on both sides of a Code 128, in modules. */
const quietModules = 10;
const maxModuleWidth = 1.9;

/** The content of a label. */
export interface LabelInput {
  shipment: Shipment;
  origin: Origin;
  originLocation: Location;
  courierName: string;
  cashOnDeliveryCents: number;
  contentDescription: string;
  referenceId?: string;
}

/**
 * Renders the label PDF of a shipment, in the format of its courier. The same input gives the same bytes. Long texts are
 * truncated.
 */
export async function renderLabel(input: LabelInput): Promise<Uint8Array> {
  const { shipment, courierName } = input;
  // Percent-encoded: the barcode and the fonts lack some characters.
  const id = encodeURIComponent(shipment.name.replace('shipments/', ''));
  const document = await PDFDocument.create({ updateMetadata: false });
  document.setTitle(`Guía ${id}`);
  document.setAuthor(courierName);
  document.setProducer('Waybill sandbox');
  document.setCreationDate(new Date(shipment.createTime));
  document.setModificationDate(new Date(shipment.createTime));
  const regular = await document.embedFont(StandardFonts.Helvetica);
  const bold = await document.embedFont(StandardFonts.HelveticaBold);
  const format = formatOf(shipment.courier);
  for (const heading of format.pages) {
    const label: Canvas = { page: document.addPage(), regular, bold };
    drawInFormat(label.page, format, () => drawLabel(label, input, id, heading));
  }
  return document.save({ useObjectStreams: false });
}

function drawLabel(label: Canvas, input: LabelInput, id: string, heading: string): void {
  drawHeader(label, input, heading, band(0, 32));
  drawBarcode(label, id, band(32, 98));
  drawRecipient(label, input, band(130, 116));
  drawSender(label, input, band(246, 52));
  drawContent(label, input, band(298, 38));
  drawDetails(label, input, band(336, 28));
  drawCashOnDelivery(label, input, band(364, pageHeight - 2 * margin - 364));
}

function drawHeader(label: Canvas, { courierName }: LabelInput, title: string, area: Band): void {
  const { page, bold, regular } = label;
  fillBand(label, area);
  const name = writable(courierName, bold);
  const size = fittingSize(name, bold, innerWidth * 0.62, 19, 9);
  const [fitted = ''] = wrap(name, bold, size, innerWidth * 0.62, 1);
  page.drawText(fitted, { x: textLeft, y: area.bottom + 16 - size / 3, size, font: bold, color: white });
  const x = pageWidth - textLeft - regular.widthOfTextAtSize(title, 9);
  page.drawText(title, { x, y: area.bottom + 13, size: 9, font: regular, color: white });
}

function drawBarcode(label: Canvas, id: string, area: Band): void {
  const { page, bold } = label;
  drawBox(label, area);
  const widths = code128(id);
  const modules = widths.reduce((sum, width) => sum + width, 0) + 2 * quietModules;
  const moduleWidth = Math.min(maxModuleWidth, textWidth / modules);
  let x = (pageWidth - modules * moduleWidth) / 2 + quietModules * moduleWidth;
  for (const [index, width] of widths.entries()) {
    if (index % 2 === 0)
      page.drawRectangle({ x, y: area.bottom + 24, width: width * moduleWidth, height: 64, color: black });
    x += width * moduleWidth;
  }
  const size = fittingSize(id, bold, textWidth, 15, 1);
  const textX = (pageWidth - bold.widthOfTextAtSize(id, size)) / 2;
  page.drawText(id, { x: textX, y: area.bottom + 8, size, font: bold, color: black });
}

function drawRecipient(label: Canvas, { shipment: { recipient } }: LabelInput, area: Band): void {
  const { address, documentType, document } = recipient;
  const write = drawBox(label, area, 'DESTINATARIO');
  write(`${recipient.firstName} ${recipient.lastName}`, { size: 13, bold: true, lines: 2 });
  if (address.organization !== '') write(address.organization, { size: 8.5, lines: 1 });
  for (const line of address.addressLines.slice(0, 2)) write(line, { size: 10, lines: 1 });
  write(`${address.locality}, ${address.administrativeArea}`, { size: 13, bold: true, lines: 1 });
  const identityDocument = documentType ? ` · ${documentType} ${document ?? ''}` : '';
  write(`Tel. ${recipient.phoneNumber}${identityDocument}`, { size: 10, lines: 1 });
}

function drawSender(label: Canvas, { origin, originLocation }: LabelInput, area: Band): void {
  const { locality, administrativeArea } = originLocation.address;
  const write = drawBox(label, area, 'REMITENTE');
  write(origin.address.organization, { size: 10, bold: true, lines: 1 });
  write(origin.address.addressLines.join(' · '), { size: 8.5, lines: 1 });
  write(`${locality}, ${administrativeArea}`, { size: 8.5, lines: 1 });
}

function drawContent(label: Canvas, { contentDescription }: LabelInput, area: Band): void {
  drawBox(label, area, 'CONTENIDO')(contentDescription, { size: 8.5, lines: 2 });
}

function drawDetails(label: Canvas, { shipment, referenceId }: LabelInput, area: Band): void {
  const details = [
    ['FECHA', colombianDate(shipment.createTime)],
    ['REFERENCIA', referenceId ?? 'Sin referencia'],
    ['RECOGIDA', shipment.requiresPickup ? 'En el origen' : 'No requiere'],
  ] as const;
  const width = innerWidth / details.length;
  for (const [index, [heading, detail]] of details.entries())
    drawBox(label, area, heading, { x: margin + index * width, width })(detail, { size: 9, lines: 1 });
}

function drawCashOnDelivery(label: Canvas, { cashOnDeliveryCents }: LabelInput, area: Band): void {
  const { page, bold } = label;
  const hasCashOnDelivery = cashOnDeliveryCents > 0;
  if (hasCashOnDelivery) fillBand(label, area);
  else drawBox(label, area);
  const color = hasCashOnDelivery ? white : black;
  const text = hasCashOnDelivery ? `${formatPesos(cashOnDeliveryCents)} COP` : 'SIN RECAUDO';
  const size = fittingSize(text, bold, textWidth, 23, 6);
  const heading = hasCashOnDelivery ? 'COBRAR AL ENTREGAR' : 'PAGADO';
  page.drawText(heading, { x: textLeft, y: area.top - 10, size: 7, font: bold, color });
  page.drawText(text, { x: textLeft, y: area.bottom + 10, size, font: bold, color });
}

/** The widths of the bars and gaps of a Code 128, in modules. Bars and gaps alternate; the first is a bar. */
function code128(text: string): number[] {
  const [symbol] = bwipjs.raw('code128', text, '');
  if (symbol === undefined || !('sbs' in symbol)) throw new TypeError(`Code 128 has no bars for ${text}`);
  return symbol.sbs;
}

/** Formats cents as a Colombian price, such as `$ 116.700`. Cents below a peso follow a comma. */
function formatPesos(cents: number): string {
  const pesos = String(Math.floor(cents / 100)).replace(/\B(?=(\d{3})+$)/g, '.');
  const rest = cents % 100;
  return `$ ${pesos}${rest === 0 ? '' : `,${String(rest).padStart(2, '0')}`}`;
}

/** The date in Colombia, as `dd/mm/yyyy`. */
function colombianDate(timestamp: string): string {
  const day = new Date(Date.parse(timestamp) - 5 * 3_600_000).toISOString();
  return `${day.slice(8, 10)}/${day.slice(5, 7)}/${day.slice(0, 4)}`;
}
