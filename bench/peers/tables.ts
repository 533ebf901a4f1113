import { setTimeout as pause } from 'node:timers/promises';
import { markdownTable, megabytes, shown, withRange } from '../markdown-table.ts';
import type { Server } from '../server-process.ts';
import { type Measured, medianOf, type Round, shareOf } from './rounds.ts';
import type { ServerEntry } from './servers.ts';

const head = [
  'server',
  'requests/s',
  'REST calls',
  'of the limit',
  'CPU µs/request',
  'times the limit',
  'p50 ms',
  'p99 ms',
  'core',
  'peak MB',
];

/**
 * Medians. Requests and CPU time also have the lowest and the highest round in brackets. The first row is the limit.
 */
export function resultsTable(measured: readonly Measured[]): string {
  const limit = measured[0]?.rounds ?? [];
  const range = (rounds: readonly Round[], figure: keyof Round) =>
    withRange(rounds.map((round) => round[figure]));
  const rows = measured.map(({ name, rounds, peakBytes }) => [
    name,
    range(rounds, 'requestsPerSecond'),
    shown(medianOf(rounds, 'callsPerRequest')),
    shareOf(rounds, limit, 'requestsPerSecond').toFixed(2),
    range(rounds, 'cpuUsPerRequest'),
    shareOf(rounds, limit, 'cpuUsPerRequest').toFixed(2),
    shown(medianOf(rounds, 'p50Ms')),
    shown(medianOf(rounds, 'p99Ms')),
    `${Math.round(medianOf(rounds, 'busy') * 100)} %`,
    Math.round(megabytes(peakBytes)),
  ]);
  return markdownTable(head, rows);
}

const restMs = 1_000;

/** Starts all servers in turns, each alone. @returns a table of their start-up times and their memory at rest. */
export async function startUpTable(
  entries: readonly ServerEntry[],
  start: (entry: ServerEntry) => Promise<Server>,
  times: number,
): Promise<string> {
  const seen = entries.map((entry) => ({ entry, startMs: [] as number[], restMb: [] as number[] }));
  for (let time = 0; time < times; time++) {
    for (const { entry, startMs, restMb } of seen) {
      const server = await start(entry);
      await pause(restMs);
      startMs.push(server.startMs);
      restMb.push(megabytes(server.residentBytes()));
      server.stop();
    }
  }
  const rows = seen.map(({ entry, startMs, restMb }) => [entry.name, withRange(startMs), withRange(restMb)]);
  return markdownTable(['server', 'first answer after ms', 'MB at rest'], rows);
}
