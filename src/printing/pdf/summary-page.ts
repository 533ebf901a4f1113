import { type PDFDocument, type PDFFont, type PDFPage, StandardFonts } from '@cantoo/pdf-lib';
import { counted } from '../../base/counted.ts';

/** A label of the summary. */
export interface SummaryRow {
  id: string;
  courier: string;
  /** The municipality of the recipient. */
  locality: string;
}

const margin = 18;
const lineHeight = 1.25;
const sizes = [10, 9, 8, 7, 6, 5, 4, 3.5];
const graphemes = new Intl.Segmenter('es', { granularity: 'grapheme' });

/** Adds a page for the driver: for each courier the ids, the localities of the recipients, and the count. */
export async function addSummary(
  document: PDFDocument,
  { width, height }: { width: number; height: number },
  rows: readonly SummaryRow[],
): Promise<void> {
  const fonts = {
    regular: await document.embedFont(StandardFonts.Helvetica),
    bold: await document.embedFont(StandardFonts.HelveticaBold),
  };
  const lines = [...Map.groupBy(rows, ({ courier }) => courier)].flatMap(([courier, ofCourier]) => [
    { font: fonts.bold, text: `${courier}: ${counted(ofCourier.length, 'label')}` },
    ...ofCourier.map(({ id, locality }) => ({ font: fonts.regular, text: `${id}  ${locality}` })),
  ]);
  const room = { width: width - 2 * margin, height: height - 2 * margin };
  const { size, columns } = sizeFor(lines.length, room);
  const page = document.addPage([width, height]);
  const perColumn = Math.ceil(lines.length / columns);
  const columnWidth = room.width / columns;
  for (const [index, { font, text }] of lines.entries()) {
    const x = margin + Math.floor(index / perColumn) * columnWidth;
    const y = height - margin - ((index % perColumn) + 1) * size * lineHeight;
    draw(page, text, font, { x, y, size, width: columnWidth - size });
  }
}

/** The largest size at which all lines are on the page. A column is as wide as 24 letters. */
function sizeFor(lines: number, room: { width: number; height: number }): { size: number; columns: number } {
  for (const size of sizes) {
    const columns = Math.max(1, Math.floor(room.width / (24 * 0.5 * size)));
    const perColumn = Math.floor(room.height / (size * lineHeight));
    if (perColumn * columns >= lines) return { size, columns: Math.ceil(lines / Math.max(1, perColumn)) };
  }
  // A page smaller than any label: the lines overlap less the smaller they are.
  const columns = Math.max(1, Math.floor(room.width / 42));
  return { size: Math.max(0.5, (room.height * columns) / (lines * lineHeight)), columns };
}

function draw(
  page: PDFPage,
  text: string,
  font: PDFFont,
  { width, ...at }: { x: number; y: number; size: number; width: number },
): void {
  const supported = new Set(font.getCharacterSet());
  // The standard fonts of PDF lack emoji and most alphabets.
  let shown = [...graphemes.segment(text.normalize('NFC').replace(/\s/g, ' '))]
    .map(({ segment }) =>
      [...segment].every((letter) => supported.has(letter.codePointAt(0) ?? 0)) ? segment : '?',
    )
    .join('');
  const fits = () => font.widthOfTextAtSize(shown, at.size) <= width;
  if (!fits()) {
    while (shown.length > 1 && !fits()) shown = `${shown.slice(0, -2)}…`;
  }
  page.drawText(shown, { ...at, font });
}
