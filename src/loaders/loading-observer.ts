/** The records that have both a GET endpoint and a list endpoint. */
export type ListedKind = 'orders' | 'shipments';

/** Receives the decisions of loaders, for metrics. The methods must not throw. */
export interface LoadingObserver {
  /** A batch of ids was loaded, by one GET per id or by list pages. `no rows`: the pages had none of the ids. */
  batch(kind: ListedKind, size: number, way: 'gets' | 'page' | 'no rows' | 'failed'): void;
  /** A page was prefetched (`asked`), or a batch used a prefetched page (`used`). */
  prefetchedPage(kind: ListedKind, event: 'asked' | 'used'): void;
}
