import { PerTenant, type Tenant } from '../tenancy/tenant.ts';
import { ListState, SharedListState } from './list-batch/list-state.ts';
import { type LoadingObserver, noObserver } from './loading-observer.ts';
import { type CachedPages, createPageCache, type PageCache } from './reference/page-cache.ts';

/** Settings that let loaders save calls. */
export interface LoadingOptions {
  /** How long reference data is fresh, in milliseconds. */
  referenceMs: number;
  /** How much longer stale data is served while a refresh runs, in milliseconds. 5 minutes by default. */
  referenceGraceMs?: number;
  /** Whether list pages may serve batches of ids. */
  listsForBatches: boolean;
}

/** What a tenant's loaders keep from one operation to the next. */
export interface LoaderState {
  /** Cached pages of reference data. */
  readonly referencePages: CachedPages;
  /** What earlier batches of ids have learned about the list of orders. */
  readonly orders: ListState;
  /** The same for the list of shipments. */
  readonly shipments: ListState;
  /** Drops the whole state. */
  forget(): void;
}

/** What the state of each tenant is made from. */
interface LoaderStateSource {
  pageCache: PageCache;
  /** The state of each list that all tenants share. */
  lists: { orders: SharedListState; shipments: SharedListState };
}

/** Creates each part on first access: a thousand tenants are kept, and most of them need few parts. */
class LazyLoaderState implements LoaderState {
  readonly #source: LoaderStateSource;
  #referencePages: CachedPages | undefined;
  #orders: ListState | undefined;
  #shipments: ListState | undefined;

  constructor(source: LoaderStateSource) {
    this.#source = source;
  }

  get referencePages(): CachedPages {
    this.#referencePages ??= this.#source.pageCache.newTenant();
    return this.#referencePages;
  }

  get orders(): ListState {
    this.#orders ??= new ListState(this.#source.lists.orders);
    return this.#orders;
  }

  get shipments(): ListState {
    this.#shipments ??= new ListState(this.#source.lists.shipments);
    return this.#shipments;
  }

  forget(): void {
    // Emptied and not replaced, because a running operation may still use this object.
    this.#referencePages?.forget();
    this.#orders = undefined;
    this.#shipments = undefined;
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

/** Optional dependencies of the loader states. */
export interface LoaderStatesOptions {
  /** A clock in milliseconds with any origin. */
  now?: () => number;
  observer?: LoadingObserver | undefined;
}

/** Creates the loader states of the process. */
export function createLoaderStates(
  options: LoadingOptions,
  { now = () => performance.now(), observer = noObserver }: LoaderStatesOptions = {},
): LoaderStates {
  const pageCache = createPageCache({ ...options, now });
  const lists = { orders: new SharedListState(now), shipments: new SharedListState(now) };
  const source: LoaderStateSource = { pageCache, lists };
  const stateByTenant = new PerTenant<LoaderState>();
  const make = () => new LazyLoaderState(source);
  return {
    options,
    observer,
    of: (tenant) => stateByTenant.of(tenant, make),
    forget: (tenant) => stateByTenant.known(tenant)?.forget(),
  };
}
