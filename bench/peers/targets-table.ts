import { markdownTable } from './markdown-table.ts';
import { type Result, targets } from './targets.ts';

/** Each target, what came of it, and whether it is met. */
export function targetsTable(results: readonly Result[]): string {
  const head = ['asked', 'target', 'came', 'met'];
  const rows = targets.map(({ asked, title, held }) => {
    const seen = held(results);
    return [asked, title, ...(seen ? [seen.came, seen.isMet ? 'yes' : 'no'] : ['not measured', ''])];
  });
  return markdownTable(head, rows, head.length);
}
