import { median } from '../measure.ts';

export type Cells = readonly string[];

/** A table of Markdown. Its first columns are of words, and stand to the left. */
export function markdownTable(head: Cells, rows: readonly Cells[], columnsOfWords = 1): string {
  const sides = head.map((_, column) => (column < columnsOfWords ? '---' : '--:'));
  return [head, sides, ...rows].map(line).join('\n');
}

function line(cells: Cells): string {
  return `| ${cells.join(' | ')} |`;
}

/** Three digits. */
export function shown(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(value < 10 ? 2 : 1).replace(/\.0+$/, '');
}

/** The median, and behind it the least and the most. */
export function withRange(values: readonly number[]): string {
  return `${shown(median(values))} (${shown(Math.min(...values))} – ${shown(Math.max(...values))})`;
}

/** Of bytes. */
export function megabytes(bytes: number): number {
  return bytes / 1_048_576;
}
