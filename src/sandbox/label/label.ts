import { PDFDocument, StandardFonts } from '@cantoo/pdf-lib';
import bwipjs from 'bwip-js/node';
import type { Location, Origin, Shipment } from '../interface/schemas.ts';
import {
  type Band,
  band,
  black,
  type Canvas,
  fill,
  frame,
  innerWidth,
  left,
  margin,
  pageHeight,
  pageWidth,
  textWidth,
  white,
} from './label-canvas.ts';
import { fittingSize, wrap, writable } from './label-text.ts';

/** Blank on both sides of a Code 128, in modules; scanners need it. */
const quietModules = 10;
const maxModuleWidth = 1.9;

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
 * The label of a shipment as a PDF of one page, 100 by 150 mm: the PDF of the interface's `GET
 * /v1/shipments/{id}/label`. The same input gives the same bytes. Texts too long for their place are cut.
 */
export async function renderLabel(input: LabelInput): Promise<Uint8Array> {
  const { shipment, courierName } = input;
  // As in a path, since neither the bars nor the fonts can write every character.
  const id = encodeURIComponent(shipment.name.replace('shipments/', ''));
  const document = await PDFDocument.create({ updateMetadata: false });
  document.setTitle(`Guía ${id}`);
  document.setAuthor(courierName);
  document.setProducer('Waybill sandbox');
  document.setCreationDate(new Date(shipment.createTime));
  document.setModificationDate(new Date(shipment.createTime));
  const label: Canvas = {
    page: document.addPage([pageWidth, pageHeight]),
    regular: await document.embedFont(StandardFonts.Helvetica),
    bold: await document.embedFont(StandardFonts.HelveticaBold),
  };
  drawHeader(label, input, band(0, 32));
  drawBarcode(label, id, band(32, 98));
  drawRecipient(label, input, band(130, 116));
  drawSender(label, input, band(246, 52));
  drawContent(label, input, band(298, 38));
  drawFacts(label, input, band(336, 28));
  drawCollection(label, input, band(364, pageHeight - 2 * margin - 364));
  return document.save({ useObjectStreams: false });
}

function drawHeader(label: Canvas, { courierName }: LabelInput, area: Band): void {
  const { page, bold, regular } = label;
  fill(label, area);
  const name = writable(courierName, bold);
  const size = fittingSize(name, bold, innerWidth * 0.62, 19, 9);
  const [fitted = ''] = wrap(name, bold, size, innerWidth * 0.62, 1);
  page.drawText(fitted, { x: left, y: area.bottom + 16 - size / 3, size, font: bold, color: white });
  const title = 'Guía de transporte';
  const x = pageWidth - left - regular.widthOfTextAtSize(title, 9);
  page.drawText(title, { x, y: area.bottom + 13, size: 9, font: regular, color: white });
}

function drawBarcode(label: Canvas, id: string, area: Band): void {
  const { page, bold } = label;
  frame(label, area);
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
  const write = frame(label, area, 'DESTINATARIO');
  write(`${recipient.firstName} ${recipient.lastName}`, { size: 13, bold: true, lines: 2 });
  if (address.organization !== '') write(address.organization, { size: 8.5, lines: 1 });
  for (const line of address.addressLines.slice(0, 2)) write(line, { size: 10, lines: 1 });
  write(`${address.locality}, ${address.administrativeArea}`, { size: 13, bold: true, lines: 1 });
  const papers = documentType ? ` · ${documentType} ${document ?? ''}` : '';
  write(`Tel. ${recipient.phoneNumber}${papers}`, { size: 10, lines: 1 });
}

function drawSender(label: Canvas, { origin, originLocation }: LabelInput, area: Band): void {
  const { locality, administrativeArea } = originLocation.address;
  const write = frame(label, area, 'REMITENTE');
  write(origin.address.organization, { size: 10, bold: true, lines: 1 });
  write(origin.address.addressLines.join(' · '), { size: 8.5, lines: 1 });
  write(`${locality}, ${administrativeArea}`, { size: 8.5, lines: 1 });
}

function drawContent(label: Canvas, { contentDescription }: LabelInput, area: Band): void {
  frame(label, area, 'CONTENIDO')(contentDescription, { size: 8.5, lines: 2 });
}

function drawFacts(label: Canvas, { shipment, referenceId }: LabelInput, area: Band): void {
  const facts = [
    ['FECHA', colombianDate(shipment.createTime)],
    ['REFERENCIA', referenceId ?? 'Sin referencia'],
    ['RECOGIDA', shipment.requiresPickup ? 'En el origen' : 'No requiere'],
  ] as const;
  const width = innerWidth / facts.length;
  for (const [index, [heading, fact]] of facts.entries())
    frame(label, area, heading, { x: margin + index * width, width })(fact, { size: 9, lines: 1 });
}

function drawCollection(label: Canvas, { cashOnDeliveryCents }: LabelInput, area: Band): void {
  const { page, bold } = label;
  const collects = cashOnDeliveryCents > 0;
  if (collects) fill(label, area);
  else frame(label, area);
  const color = collects ? white : black;
  const text = collects ? `${formatPesos(cashOnDeliveryCents)} COP` : 'SIN RECAUDO';
  const size = fittingSize(text, bold, textWidth, 23, 6);
  const heading = collects ? 'COBRAR AL ENTREGAR' : 'PAGADO';
  page.drawText(heading, { x: left, y: area.top - 10, size: 7, font: bold, color });
  page.drawText(text, { x: left, y: area.bottom + 10, size, font: bold, color });
}

/** The widths of a Code 128's bars and gaps in turn, in modules, the first being a bar. */
function code128(text: string): number[] {
  const [symbol] = bwipjs.raw('code128', text, '');
  if (symbol === undefined || !('sbs' in symbol)) throw new TypeError(`Code 128 has no bars for ${text}`);
  return symbol.sbs;
}

/** Cents as Colombians write pesos: `$ 116.700`. Cents that are no whole peso follow a comma. */
function formatPesos(cents: number): string {
  const pesos = String(Math.floor(cents / 100)).replace(/\B(?=(\d{3})+$)/g, '.');
  const rest = cents % 100;
  return `$ ${pesos}${rest === 0 ? '' : `,${String(rest).padStart(2, '0')}`}`;
}

/** The day in Colombia, as people there write it. */
function colombianDate(timestamp: string): string {
  const day = new Date(Date.parse(timestamp) - 5 * 3_600_000).toISOString();
  return `${day.slice(8, 10)}/${day.slice(5, 7)}/${day.slice(0, 4)}`;
}
