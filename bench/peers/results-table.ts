import { markdownTable, megabytes, shown, withRange } from './markdown-table.ts';
import { type Measured, medianOf, type Round, shareOf } from './rounds.ts';

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

/** Medians, and behind those of requests and CPU the least and the most of a round. The first is the limit. */
export function resultsTable(measured: readonly Measured[]): string {
  const limit = measured[0]?.rounds ?? [];
  const range = (rounds: readonly Round[], figure: keyof Round) =>
    withRange(rounds.map((round) => round[figure]));
  return markdownTable(
    head,
    measured.map(({ name, rounds, peakBytes }) => [
      name,
      range(rounds, 'requestsPerSecond'),
      shareOf(rounds, limit, 'requestsPerSecond').toFixed(2),
      range(rounds, 'cpuUsPerRequest'),
      shareOf(rounds, limit, 'cpuUsPerRequest').toFixed(2),
      shown(medianOf(rounds, 'p50Ms')),
      shown(medianOf(rounds, 'p99Ms')),
      shown(medianOf(rounds, 'callsPerRequest')),
      `${Math.round(medianOf(rounds, 'busy') * 100)} %`,
      String(Math.round(megabytes(peakBytes))),
    ]),
  );
}
