import type { PDFFont } from '@cantoo/pdf-lib';

const graphemes = new Intl.Segmenter('es', { granularity: 'grapheme' });
const ellipsis = '…';

/**
 * Converts a text for a font: composes accents and turns white space into spaces. A character that the font lacks
 * becomes a question mark. The standard fonts of PDF lack emoji and Arabic.
 */
export function writable(text: string, font: PDFFont): string {
  const supported = new Set(font.getCharacterSet());
  const clean = text.normalize('NFC').replace(/\s+/g, ' ').trim();
  return [...graphemes.segment(clean)]
    .map(({ segment }) =>
      [...segment].every((letter) => supported.has(letter.codePointAt(0) ?? 0)) ? segment : '?',
    )
    .join('');
}

/** Breaks a text into at most `maxLines` lines of at most `maxWidth` points. A cut text ends with an ellipsis. */
export function wrap(
  text: string,
  font: PDFFont,
  size: number,
  maxWidth: number,
  maxLines: number,
): string[] {
  const fits = (line: string) => font.widthOfTextAtSize(line, size) <= maxWidth;
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap((long) => splitToWidth(long, fits))) {
    const extended = line === '' ? word : `${line} ${word}`;
    if (fits(extended)) {
      line = extended;
      continue;
    }
    lines.push(line);
    line = word;
  }
  lines.push(line);
  if (lines.length <= maxLines) return lines;
  return [...lines.slice(0, maxLines - 1), truncate(lines[maxLines - 1] ?? '', fits)];
}

/** The largest font size from `max` down to `min` at which a text fits a width, all in points. */
export function fittingSize(text: string, font: PDFFont, maxWidth: number, max: number, min: number): number {
  return Math.max(min, Math.min(max, (maxWidth / font.widthOfTextAtSize(text, 1)) * 0.999));
}

/** Splits a word that is wider than a line. */
function splitToWidth(word: string, fits: (text: string) => boolean): string[] {
  const parts: string[] = [];
  let rest = '';
  for (const letter of word) {
    if (rest !== '' && !fits(rest + letter)) {
      parts.push(rest);
      rest = '';
    }
    rest += letter;
  }
  return [...parts, rest];
}

function truncate(line: string, fits: (text: string) => boolean): string {
  let shortened = line;
  while (shortened !== '' && !fits(shortened + ellipsis)) shortened = shortened.slice(0, -1);
  return shortened.trimEnd() + ellipsis;
}
