import type { Context } from '../../graph/context.ts';
import { createLoaders, type Loaders } from '../../loaders/loaders.ts';
import type { LoaderMemory } from '../../loaders/memory.ts';
import type { RestApi } from '../../rest/api.ts';
import type { Callers } from '../../rest/caller.ts';
import type { Ledger } from '../../rest/ledger.ts';
import { createLifetime, type Lifetime } from '../../rest/lifetime.ts';
import { bareIdentifier } from '../../rest/resource-name.ts';
import type { Tenant } from '../../rest/tenant.ts';
import type { Idempotency } from '../../writes/idempotency.ts';
import { createWrites } from '../../writes/writes.ts';
import { toClientError } from '../client-error.ts';
import type { Report } from '../log/faults.ts';
import type { Asking } from './operation.ts';
import { asksForCost } from './show-cost.ts';

export interface ContextOptions {
  api: RestApi;
  currency: string;
  /** Told of every error that a client gets to see masked. */
  report: Report;
  /** How clients reach this server. */
  publicUrl: () => URL;
  /** How long an operation may take in milliseconds; without an end when left out. */
  operationTimeoutMs?: number;
  /** Whether every operation shows what it cost, also where its request does not ask for that. */
  showCost?: boolean;
}

/** What the resolvers of an operation can reach, and what the server itself knows of it. */
export interface OperationContext extends Context {
  readonly tenant: Tenant;
  /** How long somebody waits for its answer; other requests may join. */
  readonly lifetime: Lifetime;
  /** What it has cost so far. */
  readonly ledger: Ledger;
}

/** What operations share. */
export interface Shared {
  callers: Callers;
  memory: LoaderMemory;
  /** What has been done under which key. */
  idempotency: Idempotency;
}

/** What the resolvers of one operation can reach; made anew for each, on behalf of `bearer`. */
export function createContext(
  bearer: string,
  { headers, exchange, whenGone }: Asking,
  { callers, memory, idempotency }: Shared,
  options: ContextOptions,
): OperationContext {
  const { api } = options;
  const lifetime = createLifetime(options.operationTimeoutMs);
  whenGone(lifetime.join());
  const caller = callers.of(bearer, lifetime.signal, lifetime.deadline);
  const loaders: Loaders = createLoaders(api, caller, memory);
  return {
    loaders,
    // Not by an accessor, which would keep all that the operation has read until a full collection of garbage.
    writes: createWrites(api, caller, loaders, idempotency),
    currency: options.currency,
    showsCost: options.showCost === true || asksForCost(headers),
    tenant: caller.tenant,
    lifetime,
    ledger: caller.ledger,
    tell: (error) => {
      const told = toClientError(error);
      if (told.code === 'INTERNAL_SERVER_ERROR') options.report(error, exchange?.requestId);
      return told;
    },
    labelUrl: (shipmentName) => labelUrl(options.publicUrl(), shipmentName),
  };
}

function labelUrl(publicUrl: URL, shipmentName: string): string {
  const base = publicUrl.href.replace(/\/$/, '');
  return `${base}/labels/${bareIdentifier('shipments', shipmentName)}.pdf`;
}
