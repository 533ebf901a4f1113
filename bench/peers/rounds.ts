import { setTimeout as pause } from 'node:timers/promises';
import { type LoadSeen, load, percentile, requestText } from '../load.ts';
import { median } from '../markdown-table.ts';
import type { Server } from '../server-process.ts';
import type { Upstream } from '../upstream.ts';
import { nextBearer, type Scenario } from './scenarios.ts';
import type { ServerEntry } from './servers.ts';
import { bodiesOf } from './workloads.ts';

/** The results of one round of a server. */
export interface Round {
  requestsPerSecond: number;
  cpuUsPerRequest: number;
  p50Ms: number;
  p99Ms: number;
  /** Of a cold round, only in its last part. */
  callsPerRequest: number;
  /** The CPU time divided by the time: 1 is a whole core. */
  busy: number;
}

/** The results of all rounds of a server. */
export interface Measured {
  name: string;
  rounds: Round[];
  peakBytes: number;
}

export interface RoundOptions {
  rounds: number;
  roundMs: number;
}

export interface ColdOptions {
  start: (entry: ServerEntry) => Promise<Server>;
  upstream: Upstream;
  /** The number of other rounds. There is one cold round for each three of them. */
  rounds: number;
  coldMs: number;
}

/** The last part of a cold round, in which calls are counted. */
const countedShare = 1 / 5;

// The place of the token in a prepared request.
const tokenPlace = '\0';

/** Sends requests to a server for a time. Calls `onAsk` for each request. */
export function askFor(
  { port, entry }: Server,
  { workload, bearer, connections }: Scenario,
  forMs: number,
  onAsk = () => {},
): Promise<LoadSeen> {
  const headers = ['accept: application/json', 'content-type: application/json'];
  const halves = bodiesOf(workload, entry.documents?.[workload]).map((body) =>
    requestText({ path: entry.path(workload), token: tokenPlace, headers, body }).split(tokenPlace),
  );
  let count = 0;
  const next = () => {
    onAsk();
    const [before = '', after = ''] = halves[count++ % halves.length] ?? [];
    return { text: before + nextBearer(bearer) + after };
  };
  return load({ port, next, connections, forMs });
}

/**
 * Measures all servers in turns. Each round starts with another server, so that a disturbance affects all servers.
 */
export async function measure(
  servers: readonly Server[],
  upstream: Upstream,
  scenario: Scenario,
  { rounds, roundMs }: RoundOptions,
): Promise<Measured[]> {
  const measured = servers.map((server) => ({ server, rounds: [] as Round[] }));
  for (const server of servers) server.forgetPeak();
  for (let round = 0; round < rounds; round++) {
    for (const { server, rounds } of rotated(measured, round))
      rounds.push(await roundOf(server, upstream, scenario, roundMs));
  }
  return measured.map(({ server, rounds }) => ({
    name: server.entry.name,
    rounds,
    peakBytes: server.peakBytes(),
  }));
}

/**
 * Measures all servers in turns, each alone. Each round starts a new server, which gets the load from its first
 * request on.
 */
export async function measureCold(
  entries: readonly ServerEntry[],
  scenario: Scenario,
  { start, upstream, rounds, coldMs }: ColdOptions,
): Promise<Measured[]> {
  const measured = entries.map((entry) => ({ entry, name: entry.name, rounds: [] as Round[], peakBytes: 0 }));
  for (let round = 0; round < rounds / 3; round++) {
    for (const seen of rotated(measured, round)) {
      const server = await start(seen.entry);
      try {
        seen.rounds.push(await roundOf(server, upstream, scenario, coldMs, true));
        seen.peakBytes = Math.max(seen.peakBytes, server.peakBytes());
      } finally {
        server.stop();
      }
    }
  }
  return measured;
}

function rotated<Item>(items: readonly Item[], by: number): Item[] {
  const first = by % items.length;
  return [...items.slice(first), ...items.slice(0, first)];
}

async function roundOf(
  server: Server,
  upstream: Upstream,
  scenario: Scenario,
  roundMs: number,
  isCold = false,
): Promise<Round> {
  const count = async () => (await upstream.turnTo({ delayMs: scenario.delayMs, keepsCalls: false })).count;
  let asked = 0;
  // Each connection asks again after a response, so as many requests end in a second as start.
  async function lastCallsPerRequest(): Promise<number> {
    await pause(roundMs * (1 - countedShare));
    await count();
    const askedBefore = asked;
    await pause(roundMs * countedShare);
    return (await count()) / (asked - askedBefore);
  }
  await count();
  const cpuBefore = server.cpuUs();
  const load = askFor(server, scenario, roundMs, () => void asked++);
  const lastCalls = isCold ? lastCallsPerRequest() : undefined;
  // The count ends first even if the load fails, because the next count would get its result.
  const { requests, ms, latenciesMs } = await load.finally(() => lastCalls);
  const cpuUs = server.cpuUs() - cpuBefore;
  return {
    requestsPerSecond: (requests / ms) * 1_000,
    cpuUsPerRequest: cpuUs / requests,
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
    callsPerRequest: (await lastCalls) ?? (await count()) / requests,
    busy: cpuUs / 1_000 / ms,
  };
}

/** The median of one figure of all rounds. */
export function medianOf(rounds: readonly Round[], figure: keyof Round): number {
  return median(rounds.map((round) => round[figure]));
}

/** The median of the ratio in each round, because a disturbance of a round affects both servers. */
export function shareOf(rounds: readonly Round[], others: readonly Round[], figure: keyof Round): number {
  return median(rounds.map((round, index) => round[figure] / (others[index]?.[figure] ?? Number.NaN)));
}
