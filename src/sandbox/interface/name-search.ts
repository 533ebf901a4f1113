/** Removes case and accents: `González` and `GONZALEZ` give the same text. */
export function fold(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}

/** The folded words of a name. Spaces around each word let trigrams match the start and the end of a word. */
export function indexedName(name: string): string {
  return wordsOf(name)
    .map((word) => `  ${word} `)
    .join('');
}

/**
 * An FTS5 query for names that share a trigram with the text. An index finds them, and `resembles` then checks each of
 * them. Undefined for a text without a word.
 */
export function trigramQuery(text: string): string | undefined {
  const trigrams = new Set<string>();
  for (const word of wordsOf(text)) {
    const padded = [...`  ${word} `];
    for (let start = 0; start + 3 <= padded.length; start += 1)
      trigrams.add(padded.slice(start, start + 3).join(''));
  }
  return trigrams.size === 0 ? undefined : [...trigrams].map((trigram) => `"${trigram}"`).join(' OR ');
}

/** Whether each word of the text matches a word of the name: exactly, as a prefix, or with 1 or 2 typos. */
export function resembles(name: string, text: string): boolean {
  const words = wordsOf(name);
  return wordsOf(text).every((searched) => words.some((word) => matchesWord(word, searched)));
}

function matchesWord(word: string, searched: string): boolean {
  if (word.startsWith(searched)) return true;
  const maxEdits = searched.length <= 3 ? 0 : searched.length <= 8 ? 1 : 2;
  return Math.abs(word.length - searched.length) <= maxEdits && editDistance(word, searched) <= maxEdits;
}

/** The number of omitted, added, changed or transposed letters (optimal string alignment distance). */
function editDistance(a: string, b: string): number {
  let secondLastRow: number[] = [];
  let lastRow = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const currentRow = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      currentRow[column] = Math.min(
        cell(lastRow, column) + 1,
        cell(currentRow, column - 1) + 1,
        cell(lastRow, column - 1) + (same ? 0 : 1),
        swapped ? cell(secondLastRow, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [secondLastRow, lastRow] = [lastRow, currentRow];
  }
  return cell(lastRow, b.length);
}

function cell(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}

function wordsOf(text: string): string[] {
  return fold(text).match(/[\p{L}\p{N}]+/gu) ?? [];
}
