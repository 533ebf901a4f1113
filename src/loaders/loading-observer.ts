/** How a batch of ids was loaded: one GET per id, or list pages. The pages had hits, had none, or the last one failed. */
export type BatchWay = 'gets' | 'page' | 'no rows' | 'failed';

/** The records that have both a GET endpoint and a list endpoint. */
export type ListedKind = 'orders' | 'shipments';

/** Receives the decisions of loaders, for metrics. The methods must not throw. */
export interface LoadingObserver {
  /** A batch of `size` ids was loaded. */
  batch(kind: ListedKind, size: number, way: BatchWay): void;
  /** A page was prefetched (`asked`), or a batch used a prefetched page (`used`). */
  prefetchedPage(kind: ListedKind, event: 'asked' | 'used'): void;
}
