import { resolve } from 'node:path';
import { markdownTable, shown, withRange } from '../markdown-table.ts';
import type { Server } from '../server-process.ts';
import type { Upstream } from '../upstream.ts';
import { compareAnswers } from './answers.ts';
import {
  askFor,
  type Measured,
  measure,
  measureCold,
  medianOf,
  type RoundOptions,
  shareOf,
} from './rounds.ts';
import { loads } from './scenarios.ts';
import { install, type ServerEntry, waybill, waybillIn } from './servers.ts';
import type { WorkloadName } from './workloads.ts';

export interface PairOptions extends RoundOptions {
  warmUpMs: number;
  coldMs: number;
  start: (entry: ServerEntry) => Promise<Server>;
  upstream: Upstream;
}

/**
 * Compares Waybill of another checkout and of this checkout in turns. Each request has a new bearer; 32 connections.
 * The second row of a workload has cold rounds.
 * The share of CPU time has the lowest and the highest round in brackets. If these are far apart, the machine was busy.
 * @throws Error if the directory cannot be installed. AssertionError if the responses differ.
 */
export async function pairsTable(
  directory: string,
  workloads: readonly WorkloadName[],
  { warmUpMs, coldMs, start, upstream, ...rounds }: PairOptions,
): Promise<string> {
  const entries = [
    { ...waybillIn(resolve(directory)), name: 'there' },
    { ...waybill, name: 'here' },
  ];
  if (!entries.every(install)) throw new Error(`Expected ${directory} to be installed`);
  const rows: string[][] = [];
  for (const workload of workloads) {
    const scenario = { workload, ...loads.full, inShort: 'all' } as const;
    const running: Server[] = [];
    try {
      for (const entry of entries) running.push(await start(entry));
      await compareAnswers(running, workload);
      for (const server of running) await askFor(server, scenario, warmUpMs);
      rows.push([workload, ...cellsOf(await measure(running, upstream, scenario, rounds))]);
    } finally {
      for (const server of running) server.stop();
    }
    const cold = await measureCold(entries, scenario, { start, upstream, coldMs, ...rounds });
    rows.push([`${workload}, cold`, ...cellsOf(cold)]);
  }
  const figures = ['CPU µs/request', 'requests/s', 'REST calls', 'p99 ms'];
  const head = figures.flatMap((figure) => [`${figure} there`, 'here']);
  return markdownTable(['workload', 'CPU here of there', ...head], rows);
}

function cellsOf(measured: readonly Measured[]): string[] {
  const [there = [], here = []] = measured.map(({ rounds }) => rounds);
  const figures = ['cpuUsPerRequest', 'requestsPerSecond', 'callsPerRequest', 'p99Ms'] as const;
  const cells = figures.flatMap((figure) => [there, here].map((rounds) => shown(medianOf(rounds, figure))));
  const shares = here.map((round, index) => shareOf([round], there.slice(index), 'cpuUsPerRequest'));
  return [withRange(shares), ...cells];
}
