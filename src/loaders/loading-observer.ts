/**
 * How a batch of ids was answered: each by its get; with pages of their list, which were tried without being expected to pay
 * (`trial`) or were (`page`); or with a page that had none of them (`in vain`), came too late or failed, and gets.
 */
export type BatchWay = 'gets' | 'page' | 'trial' | 'no rows' | 'timeout' | 'failed';

/** The records that have both a get endpoint and a list. */
export type ListedKind = 'orders' | 'shipments';

/** Is told of what loaders decide, for metrics. Must not throw. */
export interface LoadingObserver {
  /** A batch of so many ids has been answered. */
  batch(kind: ListedKind, size: number, way: BatchWay): void;
  /** A page was asked for before it was known what is wanted of it, or a batch has made use of one. */
  prefetchedPage(kind: ListedKind, event: 'asked' | 'used'): void;
}

export const noObserver: LoadingObserver = { batch: () => {}, prefetchedPage: () => {} };
