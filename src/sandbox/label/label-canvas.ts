import { type PDFFont, type PDFPage, rgb } from '@cantoo/pdf-lib';
import { wrap, writable } from './label-text.ts';

const pointsPerMm = 72 / 25.4;
/** Sizes of the label, in points. */
export const pageWidth = 100 * pointsPerMm;
export const pageHeight = 150 * pointsPerMm;
export const margin = 9;
const padding = 6;
export const innerWidth = pageWidth - 2 * margin;
/** The x position and the width of texts. */
export const textLeft = margin + padding;
export const textWidth = innerWidth - 2 * padding;
export const black = rgb(0, 0, 0);
export const white = rgb(1, 1, 1);

/** The page of a label with its fonts. */
export interface Canvas {
  page: PDFPage;
  regular: PDFFont;
  bold: PDFFont;
}

/** A horizontal area of the label. Its edges are in points from the bottom of the page. */
export interface Band {
  top: number;
  bottom: number;
}

/** Makes the area `fromTop` points below the top margin, `height` points high. */
export function band(fromTop: number, height: number): Band {
  const top = pageHeight - margin - fromTop;
  return { top, bottom: top - height };
}

/** Fills an area with black. */
export function fillBand({ page }: Canvas, { top, bottom }: Band): void {
  page.drawRectangle({ x: margin, y: bottom, width: innerWidth, height: top - bottom, color: black });
}

/** Draws a box with a small heading. Returns a function that writes texts into the box, one below the other. */
export function drawBox(
  { page, regular, bold }: Canvas,
  { top, bottom }: Band,
  heading = '',
  { x, width } = { x: margin, width: innerWidth },
): (text: string, style: { size: number; lines: number; bold?: boolean }) => void {
  page.drawRectangle({ x, y: bottom, width, height: top - bottom, borderColor: black, borderWidth: 0.8 });
  if (heading !== '')
    page.drawText(heading, { x: x + padding, y: top - 9, size: 6.5, font: bold, color: black });
  let baseline = top - 10;
  return (text, style) => {
    const { size } = style;
    const font = style.bold ? bold : regular;
    for (const line of wrap(writable(text, font), font, size, width - 2 * padding, style.lines)) {
      baseline -= size * 1.2;
      page.drawText(line, { x: x + padding, y: baseline, size, font, color: black });
    }
  };
}
