import { type Cost, median } from './measure.ts';

export interface Row {
  screen: string;
  /** In the order of the table's columns. */
  costs: Cost[];
}

/** Calls and milliseconds of each way for each screen, as a table of Markdown. */
export function table(ways: readonly string[], rows: readonly Row[]): string {
  return [
    line(['screen', ...ways.flatMap((way) => [`${way}: calls`, 'ms'])]),
    line(['---', ...ways.flatMap(() => ['--:', '--:'])]),
    ...rows.map(({ screen, costs }) =>
      line([screen, ...costs.flatMap(({ calls, ms }) => [shownCalls(calls), shownMs(ms)])]),
    ),
  ].join('\n');
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

/** The median: `4`, or `4 (up to 77)` where a run took more. */
function shownCalls(calls: readonly number[]): string {
  const most = Math.max(...calls);
  const usual = median(calls);
  return most > usual ? `${usual} (up to ${most})` : `${usual}`;
}

export function shownMs(ms: number): string {
  return ms.toFixed(ms < 100 ? 1 : 0);
}
