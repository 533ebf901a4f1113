import { type WorkloadName, workloads } from './workloads.ts';

/** A workload under one load. */
export interface Scenario {
  workload: WorkloadName;
  /** Whether every request has an access token of its own, so that nothing can be shared or known, or all have one. */
  bearer: 'new' | 'constant';
  delayMs: number;
  connections: number;
  isInShort: boolean;
}

const connections = 32;
const bearers = ['new', 'constant'] as const;

function withBearers(workload: WorkloadName, load: Omit<Scenario, 'workload' | 'bearer'>): Scenario[] {
  return bearers.map((bearer) => ({ workload, bearer, ...load }));
}

const withoutDelay = { delayMs: 0, connections, isInShort: true };

/** In the order of the tables. Those of a workload follow each other. */
export const scenarios: readonly Scenario[] = [
  ...withBearers('order', withoutDelay),
  ...withBearers('order', { ...withoutDelay, delayMs: 20, isInShort: false }),
  ...withBearers('shipments', withoutDelay),
  ...withBearers('shipments', { ...withoutDelay, connections: 100 }),
  ...withBearers('shipments', { ...withoutDelay, delayMs: 20, isInShort: false }),
  ...withBearers('shipments', { delayMs: 20, connections: 1, isInShort: true }),
  ...withBearers('deep', withoutDelay),
  ...withBearers('deep', { ...withoutDelay, delayMs: 20, isInShort: false }),
  ...withBearers('deep', { delayMs: 20, connections: 1, isInShort: true }),
  ...withBearers('typename', withoutDelay),
];

/** `new bearer on every request, REST 20 ms away, 32 connections`. */
export function described({ bearer, delayMs, connections, workload }: Scenario): string {
  return [
    bearer === 'new' ? 'a new bearer on every request' : 'one bearer',
    ...(workloads[workload].usesRest ? [`REST ${delayMs} ms away`] : []),
    connections === 1 ? 'one client' : `${connections} connections`,
  ].join(', ');
}
