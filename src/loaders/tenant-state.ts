import { PerTenant, type Tenant } from '../concurrency/tenant.ts';
import { createProcessListState, ListState, type ProcessListState } from './list-batch/list-batch-loader.ts';
import { type LoadingObserver, noObserver } from './loading-observer.ts';
import { type CachedPages, createPageCache, type PageCache } from './reference/page-cache.ts';

/** How loaders save calls. */
export interface LoadingOptions {
  /** How long reference data (origins, locations, channels, templates) is taken for what it is, in milliseconds. */
  referenceMs: number;
  /** How much longer it is still answered while it is read anew, in milliseconds; 5 minutes when left out. */
  referenceGraceMs?: number;
  /** Whether a batch of ids may be answered from pages of their list. */
  listsForBatches: boolean;
}

/** What the loaders of a tenant's operations know from earlier ones. */
export interface LoaderState {
  /** Pages of origins, locations, channels and templates. */
  readonly referencePages: CachedPages;
  /** What batches of their ids have shown of their lists. */
  readonly orders: ListState;
  readonly shipments: ListState;
  /** Forgets all of it. */
  forget(): void;
}

/** What the memory of a tenant is made of. */
interface LoaderStateSource {
  pageCache: PageCache;
  /** Of each list, for all tenants. */
  lists: { orders: ProcessListState; shipments: ProcessListState };
  now: () => number;
}

/** A class whose parts are made when they are asked for: a thousand tenants are remembered, most of whom have asked for little. */
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
    const { lists, now } = this.#source;
    this.#orders ??= new ListState(lists.orders, now);
    return this.#orders;
  }

  get shipments(): ListState {
    const { lists, now } = this.#source;
    this.#shipments ??= new ListState(lists.shipments, now);
    return this.#shipments;
  }

  forget(): void {
    // An operation that is under way may still have the pages.
    this.#referencePages?.forget();
    this.#orders = undefined;
    this.#shipments = undefined;
  }
}

/** What loaders know beyond an operation. One for the whole process; what it knows of a tenant goes with that. */
export interface LoaderStates {
  readonly options: LoadingOptions;
  readonly observer: LoadingObserver;
  of(tenant: Tenant): LoaderState;
  /** Forgets all that is known of a tenant. */
  forget(tenant: Tenant): void;
}

export interface LoaderStatesOptions {
  /** Counts milliseconds, from whenever. */
  now?: () => number;
  observer?: LoadingObserver | undefined;
}

export function createLoaderStates(
  options: LoadingOptions,
  { now = () => performance.now(), observer = noObserver }: LoaderStatesOptions = {},
): LoaderStates {
  const pageCache = createPageCache({ ...options, now });
  const lists = { orders: createProcessListState(), shipments: createProcessListState() };
  const source: LoaderStateSource = { pageCache, lists, now };
  const stateByTenant = new PerTenant<LoaderState>();
  const make = () => new LazyLoaderState(source);
  return {
    options,
    observer,
    of: (tenant) => stateByTenant.of(tenant, make),
    forget: (tenant) => stateByTenant.known(tenant)?.forget(),
  };
}
