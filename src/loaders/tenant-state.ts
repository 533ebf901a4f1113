import { PerTenant, type Tenant } from '../tenancy/tenant.ts';
import { lazyProperties } from './lazy-properties.ts';
import { ListState, SharedListState } from './list-batch/list-state.ts';
import { type LoadingObserver, noObserver } from './loading-observer.ts';
import { CachedPages, createPageCache, type PageCache } from './reference/page-cache.ts';
import { KeptCounts } from './scan/status-counts.ts';

/** Settings that let loaders save calls. */
export interface LoadingOptions {
  /** How long reference data is fresh, in milliseconds. */
  referenceMs: number;
  /** How much longer stale data is served while a refresh runs, in milliseconds. 5 minutes by default. */
  referenceGraceMs?: number;
  /** Whether list pages may serve batches of ids. */
  listsForBatches: boolean;
}

/** What the loaders of all tenants share. */
interface SharedState {
  readonly pages: PageCache;
  readonly orders: SharedListState;
  readonly shipments: SharedListState;
}

/** What a tenant's loaders keep from one operation to the next. */
export interface LoaderState {
  readonly referencePages: CachedPages;
  readonly orders: ListState;
  readonly shipments: ListState;
  readonly counts: KeptCounts;
}

// A thousand tenants are kept, and most of them need few parts.
const createState = lazyProperties<SharedState, LoaderState>({
  referencePages: ({ pages }) => new CachedPages(pages),
  orders: ({ orders }) => new ListState(orders),
  shipments: ({ shipments }) => new ListState(shipments),
  counts: () => new KeptCounts(),
});

/** The states of all tenants' loaders: one object per process. A tenant's state is dropped with the tenant. */
export interface LoaderStates {
  readonly options: LoadingOptions;
  readonly observer: LoadingObserver;
  /** The state of a tenant, created on first use. */
  of(tenant: Tenant): LoaderState;
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
    of: (tenant) => stateByTenant.of(tenant, () => createState(shared)),
    forget(tenant) {
      // A running operation may still use the pages.
      stateByTenant.known(tenant)?.referencePages.forget();
      stateByTenant.drop(tenant);
    },
  };
}
