import type { Cost } from './measure.ts';

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

/** `4`, or `3 to 4` where not every run took as many. */
function shownCalls(calls: readonly number[]): string {
  const [least, most] = [Math.min(...calls), Math.max(...calls)];
  return least === most ? `${least}` : `${least} to ${most}`;
}

export function shownMs(ms: number): string {
  return ms.toFixed(ms < 100 ? 1 : 0);
}
