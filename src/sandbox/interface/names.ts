/** Case and accents apart: `González` and `GONZALEZ` are the same. */
export function fold(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}

/** The words of a name, folded and each between blanks, so that trigrams know where a word starts and ends. */
export function indexedName(name: string): string {
  return wordsOf(name)
    .map((word) => `  ${word} `)
    .join('');
}

/** An FTS5 query for names that have any trigram of the text; undefined for a text without a word. */
export function trigramQuery(text: string): string | undefined {
  const trigrams = new Set<string>();
  for (const word of wordsOf(text)) {
    const padded = [...`  ${word} `];
    for (let start = 0; start + 3 <= padded.length; start += 1)
      trigrams.add(padded.slice(start, start + 3).join(''));
  }
  return trigrams.size === 0 ? undefined : [...trigrams].map((trigram) => `"${trigram}"`).join(' OR ');
}

/** Whether every word of the text is, but for a typo or two, a word of the name or the start of one. */
export function resembles(name: string, text: string): boolean {
  const words = wordsOf(name);
  return wordsOf(text).every((wanted) => words.some((word) => isLike(word, wanted)));
}

function isLike(word: string, wanted: string): boolean {
  if (word.startsWith(wanted)) return true;
  const allowed = wanted.length <= 3 ? 0 : wanted.length <= 8 ? 1 : 2;
  return Math.abs(word.length - wanted.length) <= allowed && editDistance(word, wanted) <= allowed;
}

/** Letters left out, added, changed or swapped with their neighbour. */
function editDistance(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const same = one[row - 1] === other[column - 1];
      const swapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current[column] = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
        swapped ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [beforeLast, last] = [last, current];
  }
  return at(last, other.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}

function wordsOf(text: string): string[] {
  return fold(text).match(/[\p{L}\p{N}]+/gu) ?? [];
}
