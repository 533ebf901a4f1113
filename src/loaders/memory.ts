import { PerTenant, type Tenant } from '../rest/tenant.ts';
import { type BatchHistory, createBatchHistory } from './batch-history.ts';
import { createDepthGuess } from './depth-guess.ts';
import type { DepthGuess } from './depths.ts';
import {
  createFollowingGuesses,
  createFollowingHistory,
  type FollowingGuesses,
  type FollowingHistory,
} from './following-history.ts';
import { type LoadingObserver, nobody } from './loading-observer.ts';
import { type CachedPages, createPageCache, type PageCache } from './page-cache.ts';
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
  readonly referencePages: CachedPages;
  /** Batches of their ids. */
  readonly orders: BatchHistory;
  readonly shipments: BatchHistory;
  /** What lists of orders were followed by. */
  readonly shipmentsOfOrders: FollowingHistory;
  /** Forgets all of it. */
  forget(): void;
}

/** What the memory of a tenant is made of. */
interface MemorySource {
  pageCache: PageCache;
  /** Of each resource, for all tenants. */
  trust: { orders: RowTrust; shipments: RowTrust };
  /** Where ids are taken to be in their lists at first. */
  guesses: { orders: DepthGuess; shipments: DepthGuess; shipmentsOfOrders: FollowingGuesses };
  now: () => number;
}

/** A class whose parts are made when they are asked for: a thousand tenants are remembered, most of whom have asked for little. */
class KnownOfTenant implements TenantMemory {
  readonly #source: MemorySource;
  #referencePages: CachedPages | undefined;
  #orders: BatchHistory | undefined;
  #shipments: BatchHistory | undefined;
  #shipmentsOfOrders: FollowingHistory | undefined;

  constructor(source: MemorySource) {
    this.#source = source;
  }

  get referencePages(): CachedPages {
    this.#referencePages ??= this.#source.pageCache.newTenant();
    return this.#referencePages;
  }

  get orders(): BatchHistory {
    const { trust, guesses, now } = this.#source;
    this.#orders ??= createBatchHistory(trust.orders, now, guesses.orders);
    return this.#orders;
  }

  get shipments(): BatchHistory {
    const { trust, guesses, now } = this.#source;
    this.#shipments ??= createBatchHistory(trust.shipments, now, guesses.shipments);
    return this.#shipments;
  }

  get shipmentsOfOrders(): FollowingHistory {
    const { guesses, now } = this.#source;
    this.#shipmentsOfOrders ??= createFollowingHistory(now, guesses.shipmentsOfOrders);
    return this.#shipmentsOfOrders;
  }

  forget(): void {
    // An operation that is under way may still have the pages.
    this.#referencePages?.forget();
    this.#orders = undefined;
    this.#shipments = undefined;
    this.#shipmentsOfOrders = undefined;
  }
}

/** What loaders know beyond an operation. One for the whole process; what it knows of a tenant goes with that. */
export interface LoaderMemory {
  readonly options: LoadingOptions;
  readonly observer: LoadingObserver;
  of(tenant: Tenant): TenantMemory;
  /** Forgets all that is known of a tenant. */
  forget(tenant: Tenant): void;
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
  const guesses = {
    orders: createDepthGuess(),
    shipments: createDepthGuess(),
    shipmentsOfOrders: createFollowingGuesses(),
  };
  const pageCache = createPageCache({ ...options, now });
  const source: MemorySource = { pageCache, trust, guesses, now };
  const memories = new PerTenant<TenantMemory>();
  const make = () => new KnownOfTenant(source);
  return {
    options,
    observer,
    of: (tenant) => memories.of(tenant, make),
    forget: (tenant) => memories.known(tenant)?.forget(),
  };
}
