import { type LoadSeen, load, percentile, requestText } from '../load.ts';
import { median } from '../markdown-table.ts';
import type { Server } from '../server-process.ts';
import type { Upstream } from '../upstream.ts';
import { nextBearer, type Scenario } from './scenarios.ts';
import { bodiesOf } from './workloads.ts';

/** The results of one round of a server. */
export interface Round {
  requestsPerSecond: number;
  cpuUsPerRequest: number;
  p50Ms: number;
  p99Ms: number;
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

// The place of the token in a prepared request.
const tokenPlace = '\0';

/** Sends requests to a server for a time. */
export function askFor(
  { port, entry }: Server,
  { workload, bearer, connections }: Scenario,
  forMs: number,
): Promise<LoadSeen> {
  const headers = ['accept: application/json', 'content-type: application/json'];
  const halves = bodiesOf(workload, entry.documents?.[workload]).map((body) =>
    requestText({ path: entry.path(workload), token: tokenPlace, headers, body }).split(tokenPlace),
  );
  let count = 0;
  const next = () => {
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
  const quiet = { delayMs: scenario.delayMs, keepsCalls: false };
  for (const server of servers) server.forgetPeak();
  for (let round = 0; round < rounds; round++) {
    const first = round % measured.length;
    for (const { server, rounds } of [...measured.slice(first), ...measured.slice(0, first)]) {
      await upstream.turnTo(quiet);
      const cpuBefore = server.cpuUs();
      const { requests, ms, latenciesMs } = await askFor(server, scenario, roundMs);
      const cpuUs = server.cpuUs() - cpuBefore;
      const calls = (await upstream.turnTo(quiet)).count;
      rounds.push({
        requestsPerSecond: (requests / ms) * 1_000,
        cpuUsPerRequest: cpuUs / requests,
        p50Ms: percentile(latenciesMs, 0.5),
        p99Ms: percentile(latenciesMs, 0.99),
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

/** The median of one figure of all rounds. */
export function medianOf(rounds: readonly Round[], figure: keyof Round): number {
  return median(rounds.map((round) => round[figure]));
}

/** The median of the ratio in each round, because a disturbance of a round affects both servers. */
export function divideLimits(
  rounds: readonly Round[],
  others: readonly Round[],
  figure: keyof Round,
): number {
  return median(rounds.map((round, index) => round[figure] / (others[index]?.[figure] ?? Number.NaN)));
}
