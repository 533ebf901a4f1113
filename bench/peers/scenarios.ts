import type { WorkloadName } from './workloads.ts';

export interface Load {
  /**
   * `new`: each request has a token of its own, so servers can share nothing. `constant`: all requests have one
   * token.
   */
  bearer: 'new' | 'constant';
  delayMs: number;
  connections: number;
}

/** A workload under one load. */
export interface Scenario extends Load {
  workload: WorkloadName;
  /** The servers of a short run: all of its servers, the limit and Waybill, or none. */
  inShort: 'all' | 'ours' | 'none';
}

/** The loads of the measure at the end of a run. A short run has no other loads. */
export const loads = {
  full: { bearer: 'new', delayMs: 0, connections: 32 },
  oneClient: { bearer: 'new', delayMs: 20, connections: 1 },
  unshared: { bearer: 'new', delayMs: 0, connections: 100 },
  shared: { bearer: 'constant', delayMs: 0, connections: 100 },
} as const satisfies Record<string, Load>;

const { full, oneClient, unshared, shared } = loads;
const away = { ...full, delayMs: 20 };

function both(workload: WorkloadName, load: Load, inShort: Scenario['inShort'] = 'none'): Scenario[] {
  return [
    { workload, ...load, inShort },
    { workload, ...load, bearer: 'constant', inShort: 'none' },
  ];
}

/** All scenarios in the order of the tables, sorted by workload. */
export const scenarios: readonly Scenario[] = [
  ...both('order', full, 'all'),
  ...both('order', away),
  ...both('order', oneClient, 'ours'),
  ...both('shipments', full, 'all'),
  { workload: 'shipments', ...unshared, inShort: 'ours' },
  { workload: 'shipments', ...shared, inShort: 'ours' },
  ...both('shipments', away),
  ...both('shipments', oneClient, 'ours'),
  ...both('deep', full, 'all'),
  ...both('deep', away),
  ...both('deep', oneClient, 'ours'),
  ...both('typename', full, 'all'),
];

export function hasLoad({ bearer, delayMs, connections }: Load, load: Load): boolean {
  return bearer === load.bearer && delayMs === load.delayMs && connections === load.connections;
}

/** `a new bearer on every request, REST 20 ms away, 32 connections`. */
export function described({ bearer, delayMs, connections, workload }: Scenario): string {
  return [
    bearer === 'new' ? 'a new bearer on every request' : 'one bearer',
    ...(workload === 'typename' ? [] : [`REST ${delayMs} ms away`]),
    connections === 1 ? 'one client' : `${connections} connections`,
  ].join(', ');
}

const bearerLength = 48;
let bearers = 0;

/** The access token of the next request, with a usual length. */
export function nextBearer(bearer: Load['bearer']): string {
  if (bearer === 'new') bearers += 1;
  return (bearer === 'new' ? `new-${bearers}-` : 'constant-').padEnd(bearerLength, '0');
}
