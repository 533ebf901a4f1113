import { type PDFDocument, type PDFFont, StandardFonts } from '@cantoo/pdf-lib';
import { counted } from '../../base/counted.ts';

/** A label of the summary. */
export interface SummaryRow {
  id: string;
  courier: string;
  /** The municipality of the recipient. */
  locality: string;
}

/** A line, which starts with an id or a courier. */
interface Line {
  font: PDFFont;
  name: string;
  end: string;
  /** How many letters of the end a line without room keeps. */
  minEnd: number;
}

const margin = 18;
const lineHeight = 1.25;
const sizes = [10, 9, 8, 7, 6, 5, 4, 3.5];
const graphemes = new Intl.Segmenter('es', { granularity: 'grapheme' });

/** In units of the size: a UUID with 28 letters. Two columns of 3.5 points fit on a label of 100 mm. */
const longLine = 34;
/** In units of the size: a shortened id with eight letters. */
const shortLine = 11;
/** Enough letters of an id to tell shipments of one day apart: five from its start, and six from its end. */
const minName = 12;
/** More than a line of any page shows. Shortening takes quadratic time. */
const maxLetters = 500;

/** Adds a page for the driver: for each courier the ids, the localities of the recipients, and the count. */
export async function addSummary(
  document: PDFDocument,
  { width, height }: { width: number; height: number },
  rows: readonly SummaryRow[],
): Promise<void> {
  const regular = await document.embedFont(StandardFonts.Helvetica);
  const bold = await document.embedFont(StandardFonts.HelveticaBold);
  // Both fonts have the same letters.
  const supported = new Set(regular.getCharacterSet());
  const lines = [...Map.groupBy(rows, ({ courier }) => courier)].flatMap(([courier, ofCourier]): Line[] => {
    const count = `: ${counted(ofCourier.length, 'label')}`;
    return [
      { font: bold, name: printable(courier, supported), end: count, minEnd: count.length },
      ...ofCourier.map(({ id, locality }) => ({
        font: regular,
        name: printable(id, supported),
        end: `  ${printable(locality, supported)}`,
        minEnd: 3,
      })),
    ];
  });
  const room = { width: Math.max(0, width - 2 * margin), height: Math.max(0, height - 2 * margin) };
  const widest = Math.max(...lines.map(({ font, name, end }) => font.widthOfTextAtSize(name + end, 1)));
  const { size, columns } = sizeFor(lines.length, widest, room);
  const page = document.addPage([width, height]);
  const perColumn = Math.ceil(lines.length / columns);
  const columnWidth = room.width / columns;
  for (const [index, line] of lines.entries()) {
    const x = margin + Math.floor(index / perColumn) * columnWidth;
    const y = height - margin - ((index % perColumn) + 1) * size * lineHeight;
    page.drawText(shortened(line, (columnWidth - size) / size), { x, y, size, font: line.font });
  }
}

/** The largest size at which all lines are on the page, if possible as a whole. @param widest in units of the size */
function sizeFor(
  lines: number,
  widest: number,
  room: { width: number; height: number },
): { size: number; columns: number } {
  // If the widest line has no room at any size, the others may have.
  for (const lineWidth of [widest, longLine, shortLine])
    for (const size of sizes) {
      const columns = Math.floor(room.width / ((lineWidth + 1) * size));
      const perColumn = Math.floor(room.height / (size * lineHeight));
      if (perColumn * columns >= lines) return { size, columns: Math.ceil(lines / perColumn) };
    }
  // A page smaller than any label: the lines overlap less the smaller they are.
  const columns = Math.max(1, Math.floor(room.width / 42));
  const size = (room.height * columns) / (lines * lineHeight);
  return { size: Math.min(3.5, Math.max(0.5, size)), columns };
}

/** The text with a question mark for each letter that the standard fonts of PDF lack, as emoji and most alphabets. */
function printable(text: string, supported: ReadonlySet<number>): string {
  return [...graphemes.segment(text.normalize('NFC').replace(/\s/g, ' '))]
    .map(({ segment }) =>
      [...segment].every((letter) => supported.has(letter.codePointAt(0) ?? 0)) ? segment : '?',
    )
    .join('');
}

/**
 * Shortens a line to a width in units of the size. Ids may differ at both ends, so a name loses its middle. The end is
 * what the driver compares: the count stays whole, and a locality loses letters only after the id.
 */
function shortened({ font, name, end, minEnd }: Line, width: number): string {
  let nameLetters = Math.min(name.length, maxLetters);
  let endLetters = Math.min(end.length, maxLetters);
  const text = () => withoutMiddle(name, nameLetters) + withoutEnd(end, endLetters);
  const isTooWide = () => font.widthOfTextAtSize(text(), 1) > width;
  while (nameLetters > minName && isTooWide()) nameLetters -= 1;
  while (endLetters > minEnd && isTooWide()) endLetters -= 1;
  while (nameLetters > 1 && isTooWide()) nameLetters -= 1;
  return text();
}

function withoutMiddle(text: string, letters: number): string {
  if (text.length <= letters) return text;
  const fromStart = Math.floor((letters - 1) / 2);
  return `${text.slice(0, fromStart)}…${text.slice(text.length - (letters - 1 - fromStart))}`;
}

function withoutEnd(text: string, letters: number): string {
  return text.length <= letters ? text : `${text.slice(0, letters - 1)}…`;
}
