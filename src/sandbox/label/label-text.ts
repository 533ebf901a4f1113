import type { PDFFont } from '@cantoo/pdf-lib';

const graphemes = new Intl.Segmenter('es', { granularity: 'grapheme' });
const ellipsis = '…';

/**
 * A text that the font can write: accents are composed, white space becomes plain spaces, and each character that the
 * font lacks (the standard fonts of PDF know no emoji and no Arabic) becomes a question mark that a person can see.
 */
export function writable(text: string, font: PDFFont): string {
  const known = new Set(font.getCharacterSet());
  const clean = text.normalize('NFC').replace(/\s+/g, ' ').trim();
  return [...graphemes.segment(clean)]
    .map(({ segment }) =>
      [...segment].every((letter) => known.has(letter.codePointAt(0) ?? 0)) ? segment : '?',
    )
    .join('');
}

/** Breaks a writable text into at most so many lines of at most `maxWidth` points; what does not fit ends in an ellipsis. */
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
  for (const word of text.split(' ').flatMap((long) => pieces(long, fits))) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (fits(longer)) {
      line = longer;
      continue;
    }
    lines.push(line);
    line = word;
  }
  lines.push(line);
  if (lines.length <= maxLines) return lines;
  return [...lines.slice(0, maxLines - 1), cut(lines[maxLines - 1] ?? '', fits)];
}

/** The largest size, from `most` down to `least`, at which a text fits a width. */
export function fittingSize(
  text: string,
  font: PDFFont,
  maxWidth: number,
  most: number,
  least: number,
): number {
  return Math.max(least, Math.min(most, (maxWidth / font.widthOfTextAtSize(text, 1)) * 0.999));
}

/** A word, or its parts where it alone is wider than a line. */
function pieces(word: string, fits: (text: string) => boolean): string[] {
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

function cut(line: string, fits: (text: string) => boolean): string {
  let kept = line;
  while (kept !== '' && !fits(kept + ellipsis)) kept = kept.slice(0, -1);
  return kept.trimEnd() + ellipsis;
}
