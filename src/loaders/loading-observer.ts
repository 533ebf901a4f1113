/**
 * How a batch of ids was loaded. `gets`: one GET per id. `page`: from list pages. `trial`: from list pages although
 * no saving was expected. Otherwise by GETs after a page had no hits (`no rows`), timed out, or failed.
 */
export type BatchWay = 'gets' | 'page' | 'trial' | 'no rows' | 'timeout' | 'failed';

/** The records that have both a GET endpoint and a list endpoint. */
export type ListedKind = 'orders' | 'shipments';

/** Receives the decisions of loaders, for metrics. The methods must not throw. */
export interface LoadingObserver {
  /** A batch of `size` ids was loaded. */
  batch(kind: ListedKind, size: number, way: BatchWay): void;
  /** A page was prefetched (`asked`), or a batch used a prefetched page (`used`). */
  prefetchedPage(kind: ListedKind, event: 'asked' | 'used'): void;
}

/** An observer that does nothing. */
export const noObserver: LoadingObserver = { batch: () => {}, prefetchedPage: () => {} };
