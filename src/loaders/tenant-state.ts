import { PerTenant, type Tenant } from '../tenancy/tenant.ts';
import { lazyProperties } from './lazy-properties.ts';
import { ListState, SharedListState } from './list-batch/list-state.ts';
import type { LoadingObserver } from './loading-observer.ts';
import { CachedPages, createPageCache, type PageCacheOptions } from './reference/page-cache.ts';
import { KeptCounts } from './scan/count-by-status.ts';

/** Settings that let loaders save calls. */
export interface LoadingOptions extends Pick<PageCacheOptions, 'referenceMs' | 'referenceGraceMs'> {
  /** Whether list pages may serve batches of ids. */
  listsForBatches: boolean;
}

/** What the loaders of all tenants share. */
interface SharedState {
  readonly pages: ReturnType<typeof createPageCache>;
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

export type LoaderStates = ReturnType<typeof createLoaderStates>;

/** The loader states of the process. A tenant's state is dropped with the tenant. */
export function createLoaderStates(options: LoadingOptions, observer?: LoadingObserver) {
  const shared = {
    pages: createPageCache(options),
    orders: new SharedListState(),
    shipments: new SharedListState(),
  };
  const stateByTenant = new PerTenant<LoaderState>();
  return {
    options,
    observer,
    of: (tenant: Tenant): LoaderState => stateByTenant.of(tenant, () => createState(shared)),
    forget(tenant: Tenant): void {
      // A running operation may still use the pages.
      stateByTenant.known(tenant)?.referencePages.forget();
      stateByTenant.drop(tenant);
    },
  };
}
