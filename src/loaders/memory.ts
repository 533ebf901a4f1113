import { PerTenant, type Tenant } from '../rest/tenant.ts';
import { type BatchHistory, createBatchHistory } from './batch-history.ts';
import { createFollowingHistory, type FollowingHistory } from './following-history.ts';
import { lazily } from './lazily.ts';
import { type LoadingObserver, nobody } from './loading-observer.ts';
import { guessedLength, type ListLength } from './location-loader.ts';
import { createReferencePages, type ReferencePages } from './reference-pages.ts';
import type { RowTrust } from './row-check.ts';

/** How loaders save calls. */
export interface LoadingOptions {
  /** How long reference data (origins, locations, channels, templates) is taken for what it is, in milliseconds. */
  referenceMs: number;
  /** How much longer it is still answered while it is read anew, in milliseconds. */
  referenceGraceMs: number;
  /** Whether a batch of ids may be answered from pages of their list. */
  listsForBatches: boolean;
  /** Whether a page may be asked for before it is known which of its records are wanted. */
  aheadOfAsk: boolean;
}

export const standardLoading: LoadingOptions = {
  referenceMs: 60_000,
  referenceGraceMs: 300_000,
  listsForBatches: true,
  aheadOfAsk: true,
};

/** What the loaders of a tenant's operations know from earlier ones. */
export interface TenantMemory {
  /** Pages of origins, locations, channels and templates. */
  readonly referencePages: ReferencePages;
  readonly locationList: { length: ListLength };
  /** Batches of their ids. */
  readonly orders: BatchHistory;
  readonly shipments: BatchHistory;
  /** What lists of orders were followed by. */
  readonly shipmentsOfOrders: FollowingHistory;
}

/** What the memory of a tenant is made of. */
interface MemorySource {
  options: LoadingOptions;
  /** Of each resource, for all tenants. */
  trust: { orders: RowTrust; shipments: RowTrust };
  now: () => number;
}

// A thousand tenants are remembered, most of which have asked for little.
const memoryOf = lazily<MemorySource, TenantMemory>({
  referencePages: ({ options, now }) => createReferencePages(options, now),
  locationList: () => ({ length: guessedLength }),
  orders: ({ trust, now }) => createBatchHistory(trust.orders, now),
  shipments: ({ trust, now }) => createBatchHistory(trust.shipments, now),
  shipmentsOfOrders: ({ now }) => createFollowingHistory(now),
});

/** What loaders know beyond an operation. One for the whole process; what it knows of a tenant goes with that. */
export interface LoaderMemory {
  readonly options: LoadingOptions;
  readonly observer: LoadingObserver;
  of(tenant: Tenant): TenantMemory;
}

export interface LoaderMemoryOptions {
  /** Counts milliseconds, from whenever. */
  now?: () => number;
  observer?: LoadingObserver | undefined;
}

export function createLoaderMemory(
  options: LoadingOptions = standardLoading,
  { now = () => performance.now(), observer = nobody }: LoaderMemoryOptions = {},
): LoaderMemory {
  const trust = { orders: { areWhole: false }, shipments: { areWhole: false } };
  const source: MemorySource = { options, trust, now };
  const memories = new PerTenant<TenantMemory>();
  const make = () => memoryOf(source);
  return { options, observer, of: (tenant) => memories.of(tenant, make) };
}
