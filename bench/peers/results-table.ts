import { median } from '../measure.ts';
import { type Measured, medianOf, type Round } from './rounds.ts';

const head = [
  'server',
  'requests/s',
  'of the limit',
  'CPU µs/request',
  'times the limit',
  'p50 ms',
  'p99 ms',
  'REST calls',
  'core',
  'peak MB',
];

/** A table of Markdown: medians, and behind those of requests and CPU the least and the most of a round. */
export function resultsTable(measured: readonly Measured[]): string {
  const limit = measured[0]?.rounds ?? [];
  return [
    line(head),
    line(head.map((_, column) => (column === 0 ? '---' : '--:'))),
    ...measured.map(({ server, rounds, peakBytes }) =>
      line([
        server.entry.name,
        withRange(rounds, 'requestsPerSecond'),
        share(rounds, limit, 'requestsPerSecond'),
        withRange(rounds, 'cpuUsPerRequest'),
        share(rounds, limit, 'cpuUsPerRequest'),
        shown(medianOf(rounds, 'p50Ms')),
        shown(medianOf(rounds, 'p99Ms')),
        shown(medianOf(rounds, 'callsPerRequest')),
        `${Math.round(medianOf(rounds, 'busy') * 100)} %`,
        peakBytes === undefined ? '' : String(Math.round(peakBytes / 1_048_576)),
      ]),
    ),
  ].join('\n');
}

/** Round by round, so that what disturbed a round disturbed both. */
function share(rounds: readonly Round[], limit: readonly Round[], figure: keyof Round): string {
  return median(rounds.map((round, index) => round[figure] / (limit[index]?.[figure] ?? Number.NaN))).toFixed(
    2,
  );
}

function withRange(rounds: readonly Round[], figure: keyof Round): string {
  const values = rounds.map((round) => round[figure]);
  return `${shown(medianOf(rounds, figure))} (${shown(Math.min(...values))} – ${shown(Math.max(...values))})`;
}

/** Three digits. */
function shown(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(value < 10 ? 2 : 1).replace(/\.0+$/, '');
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
