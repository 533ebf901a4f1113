import { PerTenant, type Tenant } from '../tenancy/tenant.ts';
import { ListState, SharedListState } from './list-batch/list-state.ts';
import { type LoadingObserver, noObserver } from './loading-observer.ts';
import { CachedPages, createPageCache, type PageCache } from './reference/page-cache.ts';
import { KeptCounts } from './scan/status-counts.ts';

/** Settings that let loaders save calls. */
export interface LoadingOptions {
  /** How long reference data is fresh, in milliseconds. */
  referenceMs: number;
  /** How much longer stale data is served while a refresh runs, in milliseconds. 5 minutes by default. */
  referenceGraceMs?: number | undefined;
  /** Whether list pages may serve batches of ids. */
  listsForBatches: boolean;
}

/** What the loaders of all tenants share. */
interface SharedState {
  readonly pages: PageCache;
  readonly orders: SharedListState;
  readonly shipments: SharedListState;
}

/**
 * What a tenant's loaders keep from one operation to the next. Each part is created on first access: a thousand tenants
 * are kept, and most of them need few parts.
 */
export class LoaderState {
  readonly #shared: SharedState;
  #referencePages: CachedPages | undefined;
  #orders: ListState | undefined;
  #shipments: ListState | undefined;
  #counts: KeptCounts | undefined;

  constructor(shared: SharedState) {
    this.#shared = shared;
  }

  get referencePages(): CachedPages {
    this.#referencePages ??= new CachedPages(this.#shared.pages);
    return this.#referencePages;
  }

  get orders(): ListState {
    this.#orders ??= new ListState(this.#shared.orders);
    return this.#orders;
  }

  get shipments(): ListState {
    this.#shipments ??= new ListState(this.#shared.shipments);
    return this.#shipments;
  }

  get counts(): KeptCounts {
    this.#counts ??= new KeptCounts();
    return this.#counts;
  }

  forget(): void {
    // Emptied and not replaced, because a running operation may still use this object.
    this.#referencePages?.forget();
    this.#orders = undefined;
    this.#shipments = undefined;
    this.#counts = undefined;
  }
}

/** The states of all tenants' loaders: one object per process. A tenant's state is dropped with the tenant. */
export interface LoaderStates {
  readonly options: LoadingOptions;
  readonly observer: LoadingObserver;
  /** The state of a tenant, created on first use. */
  of(tenant: Tenant): LoaderState;
  /** Drops the state of a tenant. */
  forget(tenant: Tenant): void;
}

/** Creates the loader states of the process. */
export function createLoaderStates(
  options: LoadingOptions,
  { observer = noObserver }: { observer?: LoadingObserver | undefined } = {},
): LoaderStates {
  const now = () => performance.now();
  const shared = {
    pages: createPageCache({ ...options, now }),
    orders: new SharedListState(now),
    shipments: new SharedListState(now),
  };
  const stateByTenant = new PerTenant<LoaderState>();
  return {
    options,
    observer,
    of: (tenant) => stateByTenant.of(tenant, () => new LoaderState(shared)),
    forget: (tenant) => stateByTenant.known(tenant)?.forget(),
  };
}
