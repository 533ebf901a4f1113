export type Cells = readonly (string | number)[];

/** A Markdown table. Its first columns contain words and are aligned to the left. */
export function markdownTable(head: Cells, rows: readonly Cells[], columnsOfWords = 1): string {
  const sides = head.map((_, column) => (column < columnsOfWords ? '---' : '--:'));
  return [head, sides, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The median. If two numbers are in the middle, it is their mean. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
}

/** A number with three digits. */
export function shown(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(value < 10 ? 2 : 1).replace(/\.0+$/, '');
}

/** The median, and in brackets the lowest and the highest value. */
export function withRange(values: readonly number[]): string {
  return `${shown(median(values))} (${shown(Math.min(...values))} – ${shown(Math.max(...values))})`;
}

/** Converts bytes to megabytes. */
export const megabytes = (bytes: number): number => bytes / 1_048_576;
