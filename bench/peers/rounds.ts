import { median } from '../measure.ts';
import { newBearer, oneBearer } from './bearers.ts';
import { load } from './load.ts';
import type { Scenario } from './scenarios.ts';
import type { Server } from './server-process.ts';
import { bodiesFor } from './servers.ts';
import type { Upstream } from './upstream.ts';

/** What one round of a server showed. */
export interface Round {
  requestsPerSecond: number;
  cpuUsPerRequest: number;
  p50Ms: number;
  p99Ms: number;
  callsPerRequest: number;
  /** How much of the time the server's process was at work: 1 is a whole core. */
  busy: number;
}

/** What all rounds of a server showed. */
export interface Measured {
  name: string;
  rounds: Round[];
  peakBytes: number;
}

export interface RoundOptions {
  rounds: number;
  roundMs: number;
}

/** Asks a server for so long. */
export function askFor(server: Server, { workload, bearer, connections }: Scenario, forMs: number) {
  return load({
    port: server.port,
    path: server.entry.path(workload),
    bodies: bodiesFor(server.entry, workload),
    nextBearer: bearer === 'new' ? newBearer : oneBearer,
    connections,
    forMs,
  });
}

/** All servers in turns, each round in another order, so that what disturbs the machine disturbs all of them. */
export async function measure(
  servers: readonly Server[],
  upstream: Upstream,
  scenario: Scenario,
  { rounds, roundMs }: RoundOptions,
): Promise<Measured[]> {
  const measured = servers.map((server) => ({ server, rounds: [] as Round[] }));
  const quiet = { delayMs: scenario.delayMs, keepsCalls: false };
  for (const server of servers) server.forgetPeak();
  for (let round = 0; round < rounds; round++) {
    for (const place of measured.keys()) {
      const { server, rounds } = measured[(place + round) % measured.length] ?? unreachable();
      await upstream.turnTo(quiet);
      const cpuBefore = server.cpuUs();
      const { requests, ms, latenciesMs } = await askFor(server, scenario, roundMs);
      const cpuUs = server.cpuUs() - cpuBefore;
      const calls = (await upstream.turnTo(quiet)).count;
      rounds.push({
        requestsPerSecond: (requests / ms) * 1_000,
        cpuUsPerRequest: cpuUs / requests,
        p50Ms: latenciesMs[Math.floor(requests * 0.5)] ?? 0,
        p99Ms: latenciesMs[Math.floor(requests * 0.99)] ?? 0,
        callsPerRequest: calls / requests,
        busy: cpuUs / 1_000 / ms,
      });
    }
  }
  return measured.map(({ server, rounds }) => ({
    name: server.entry.name,
    rounds,
    peakBytes: server.peakBytes(),
  }));
}

/** The median of one figure over the rounds. */
export function medianOf(rounds: readonly Round[], figure: keyof Round): number {
  return median(rounds.map((round) => round[figure]));
}

/** What one has of the other, by the median of the rounds, as what disturbed a round disturbed both. */
export function shareOf(rounds: readonly Round[], others: readonly Round[], figure: keyof Round): number {
  return median(rounds.map((round, index) => round[figure] / (others[index]?.[figure] ?? Number.NaN)));
}

function unreachable(): never {
  throw new Error('The place is within the list');
}
