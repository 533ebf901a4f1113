import { createLifetimes, type Lifetime } from '../../concurrency/operation-scope.ts';
import type { Tenant } from '../../concurrency/tenant.ts';
import type { Context } from '../../graph/context.ts';
import { createLoaders, type Loaders } from '../../loaders/loaders.ts';
import type { LoaderMemory } from '../../loaders/tenant-state.ts';
import type { RestApi } from '../../rest/api.ts';
import type { Caller, Callers } from '../../rest/client/call-context.ts';
import type { Ledger } from '../../rest/client/call-log.ts';
import { bareIdentifier } from '../../rest/resource-name.ts';
import type { Report } from '../../telemetry/error-report.ts';
import type { Idempotency } from '../../writes/idempotency.ts';
import { createWrites, type Writes } from '../../writes/writes.ts';
import { toClientError } from '../http/client-error.ts';
import { asksForCost } from './cost-report.ts';
import type { Asking } from './operation-request.ts';

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

/** Makes what the resolvers of one operation can reach, anew for each, on behalf of `bearer`. */
export type MakeContext = (bearer: string, asking: Asking) => OperationContext;

export function createContexts(shared: Shared, options: ContextOptions): MakeContext {
  const { callers, memory } = shared;
  const newLifetime = createLifetimes(options.operationTimeoutMs);
  const parts: Parts = { shared, options, labelUrl: (name) => labelUrl(options.publicUrl(), name) };
  return (bearer, asking) => {
    const { headers, exchange } = asking;
    const lifetime = newLifetime();
    asking.whenGone(lifetime.join());
    const caller = callers.of(bearer, lifetime.signal, lifetime.deadline);
    const loaders = createLoaders(options.api, caller, memory);
    return new OwnContext(parts, caller, lifetime, loaders, asksForCost(headers), exchange?.requestId);
  };
}

/** What is the same for all operations. */
interface Parts {
  shared: Shared;
  options: ContextOptions;
  labelUrl: Context['labelUrl'];
}

/** A class, as an accessor of an object literal keeps all that it can reach until a full collection of garbage. */
class OwnContext implements OperationContext {
  readonly loaders: Loaders;
  readonly lifetime: Lifetime;
  readonly showsCost: boolean;
  readonly labelUrl: Context['labelUrl'];
  readonly #requestId: string | undefined;
  readonly #caller: Caller;
  readonly #parts: Parts;
  #writes: Writes | undefined;

  constructor(
    parts: Parts,
    caller: Caller,
    lifetime: Lifetime,
    loaders: Loaders,
    isCostAskedFor: boolean,
    requestId: string | undefined,
  ) {
    this.#parts = parts;
    this.#caller = caller;
    this.lifetime = lifetime;
    this.loaders = loaders;
    this.labelUrl = parts.labelUrl;
    this.showsCost = isCostAskedFor || parts.options.showCost === true;
    this.#requestId = requestId;
  }

  /** Made where it is asked for, as most operations write nothing, and by itself, as bulk writes take it out. */
  get tell(): Context['tell'] {
    return (error) => {
      const told = toClientError(error);
      if (told.code === 'INTERNAL_SERVER_ERROR') this.#parts.options.report(error, this.#requestId);
      return told;
    };
  }

  get currency(): string {
    return this.#parts.options.currency;
  }

  get tenant(): Tenant {
    return this.#caller.tenant;
  }

  get ledger(): Ledger {
    return this.#caller.ledger;
  }

  /** Most operations write nothing. */
  get writes(): Writes {
    const { shared, options } = this.#parts;
    this.#writes ??= createWrites(options.api, this.#caller, this.loaders, shared.idempotency);
    return this.#writes;
  }
}

function labelUrl(publicUrl: URL, shipmentName: string): string {
  const base = publicUrl.href.replace(/\/$/, '');
  return `${base}/labels/${encodeURIComponent(bareIdentifier('shipments', shipmentName))}.pdf`;
}
