import type { Context } from '../graph/context.ts';
import { createLoaders } from '../loaders/loaders.ts';
import type { LoaderMemory } from '../loaders/memory.ts';
import type { RestApi } from '../rest/api.ts';
import type { Callers } from '../rest/caller.ts';
import { MissingBearerError } from '../rest/errors.ts';
import type { Ledger } from '../rest/ledger.ts';
import { createLifetime, type Lifetime } from '../rest/lifetime.ts';
import { bareIdentifier } from '../rest/resource-name.ts';
import type { Tenant } from '../rest/tenant.ts';
import type { Idempotency } from '../writes/idempotency.ts';
import { createWrites } from '../writes/writes.ts';
import { bearerOf } from './bearer.ts';
import { toClientError } from './client-error.ts';
import type { Report } from './log/faults.ts';
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

/** What the resolvers can reach, and what the server itself knows of the operation. */
export interface CallerContext extends Context {
  readonly tenant: Tenant;
  /** How long somebody waits for its answer; other requests may join. */
  readonly lifetime: Lifetime;
  /** What it has cost so far. */
  readonly ledger: Ledger;
}

/** What Yoga carries for an operation: the resolvers' context, or the error of a request without an access token. */
export type OperationContext = CallerContext | { missingBearer: MissingBearerError };

/** What operations share. */
export interface Shared {
  callers: Callers;
  memory: LoaderMemory;
  /** What has been done under which key. */
  idempotency: Idempotency;
}

/** What the resolvers of one operation can reach; made anew for each. */
export function createContext(
  request: Request,
  { callers, memory, idempotency }: Shared,
  options: ContextOptions,
  requestId?: string,
): OperationContext {
  const bearer = bearerOf(request.headers);
  if (bearer instanceof MissingBearerError) return { missingBearer: bearer };
  const lifetime = createLifetime(options.operationTimeoutMs);
  waitFor(lifetime, request.signal);
  const caller = callers.of(bearer, lifetime.signal, lifetime.deadline);
  const loaders = createLoaders(options.api, caller, memory);
  return {
    loaders,
    writes: createWrites(options.api, caller, loaders, idempotency),
    currency: options.currency,
    showsCost: options.showCost === true || asksForCost(request.headers),
    tenant: caller.tenant,
    lifetime,
    ledger: caller.ledger,
    tell: (error) => {
      const told = toClientError(error);
      if (told.code === 'INTERNAL_SERVER_ERROR') options.report(error, requestId);
      return told;
    },
    labelUrl: (shipmentName) => labelUrl(options.publicUrl(), shipmentName),
  };
}

/** A request waits for the operation until its client has gone. */
export function waitFor(lifetime: Lifetime, request: AbortSignal): void {
  const giveUp = lifetime.join();
  if (request.aborted) giveUp(request.reason);
  else request.addEventListener('abort', () => giveUp(request.reason), { once: true });
}

function labelUrl(publicUrl: URL, shipmentName: string): string {
  const base = publicUrl.href.replace(/\/$/, '');
  return `${base}/labels/${bareIdentifier('shipments', shipmentName)}.pdf`;
}
