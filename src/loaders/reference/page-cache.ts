import { LRUCache } from 'lru-cache';
import { InvalidResponseError, StatusError } from '../../rest/errors.ts';
import type { Page } from '../../rest/types.ts';

export interface PageCacheOptions {
  /** How long a page counts as fresh, in milliseconds; 0 caches none. */
  referenceMs: number;
  /** How much longer a stale page is still answered while it is read again, in milliseconds; 5 minutes when left out. */
  referenceGraceMs?: number;
  /** Of JSON as it was read, over all tenants; 64 MiB when left out. The objects of it take up to about twice that. */
  maxBytes?: number;
  /** Counts milliseconds, from whenever. */
  now?: () => number;
}

/** A page, and how many bytes of JSON it was. */
export interface MeasuredPage<Row> {
  page: Page<Row>;
  bytes: number;
}

interface CachedPage extends MeasuredPage<unknown> {
  /** When the page was asked for. Its rows may be as old as that. */
  requestedAt: number;
}

/**
 * Pages of lists that seldom change, for all tenants of the process. The page that was used longest ago goes first,
 * whichever tenant it belongs to. Writes drop nothing: none of the six changes origins, locations, channels or templates.
 */
export interface PageCache {
  /** No pages yet, for a tenant that shares none with another. */
  newTenant(): CachedPages;
}

// Beside its rows, a page takes room for its key and the like. Searches without a result have no rows at all.
const overheadBytes = 1_024;

const mebibyte = 2 ** 20;

export function createPageCache({
  referenceMs,
  referenceGraceMs = 300_000,
  maxBytes = 64 * mebibyte,
  now = () => performance.now(),
}: PageCacheOptions): PageCache {
  const shared: SharedCache = {
    pages: new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ bytes }) => overheadBytes + bytes,
      ttl: referenceMs + referenceGraceMs,
      perf: { now },
      // The library would set a timer of 1 ms for each look at the clock.
      ttlResolution: 0,
    }),
    refreshing: new Set(),
    lastTenantNumber: 0,
    referenceMs,
    now,
  };
  return { newTenant: () => new CachedPages(shared) };
}

/** What the pages of all tenants share. */
interface SharedCache {
  readonly pages: LRUCache<string, CachedPage>;
  /** The keys of pages that are being read again. */
  readonly refreshing: Set<string>;
  /** How many numbers have been given to tenants. */
  lastTenantNumber: number;
  readonly referenceMs: number;
  readonly now: () => number;
}

/** The pages of one tenant. */
export class CachedPages {
  readonly #shared: SharedCache;
  /** The start of each key. No two tenants ever have the same number. */
  #tenantNumber: number;

  constructor(shared: SharedCache) {
    this.#shared = shared;
    this.#tenantNumber = nextTenantNumber(shared);
  }

  /** Whether a page can be answered without a call. */
  has(key: string): boolean {
    return this.#shared.pages.has(this.#keyOf(key));
  }

  /** The page, and whether it is to be read again; undefined where none may be answered. */
  find(key: string): { page: Page<unknown>; isStale: boolean } | undefined {
    const { pages, now, referenceMs } = this.#shared;
    const cached = pages.get(this.#keyOf(key));
    return cached && { page: cached.page, isStale: now() - cached.requestedAt >= referenceMs };
  }

  /** Reads a page and caches it. An error is not cached, and neither is a page with a broken row. */
  read<Row>(key: string, read: () => Promise<MeasuredPage<Row>>): Promise<Page<Row>> {
    return readAndCache(this.#shared, this.#keyOf(key), read);
  }

  /** Reads a stale page again for later operations, one call at a time. When it fails, the next operation tries again. */
  refresh(key: string, read: () => Promise<MeasuredPage<unknown>>): void {
    const { pages, refreshing } = this.#shared;
    const fullKey = this.#keyOf(key);
    if (refreshing.has(fullKey)) return;
    refreshing.add(fullKey);
    readAndCache(this.#shared, fullKey, read)
      .catch((error: unknown) => {
        if (isAccessLost(error)) pages.delete(fullKey);
      })
      .finally(() => refreshing.delete(fullKey));
  }

  /** Forgets all pages, those of calls under way included. */
  forget(): void {
    // Pages under the former number are never found again, and leave as those that were used longest ago.
    this.#tenantNumber = nextTenantNumber(this.#shared);
  }

  #keyOf(key: string): string {
    return `${this.#tenantNumber} ${key}`;
  }
}

function nextTenantNumber(shared: SharedCache): number {
  shared.lastTenantNumber += 1;
  return shared.lastTenantNumber;
}

async function readAndCache<Row>(
  { pages, now, referenceMs }: SharedCache,
  key: string,
  read: () => Promise<MeasuredPage<Row>>,
): Promise<Page<Row>> {
  const requestedAt = now();
  const measuredPage = await read();
  const isWhole = !measuredPage.page.rows.some((row) => row instanceof InvalidResponseError);
  // An older answer may come after a newer one.
  const isNewest = (pages.peek(key)?.requestedAt ?? requestedAt) <= requestedAt;
  if (referenceMs > 0 && isWhole && isNewest)
    pages.set(key, { ...measuredPage, requestedAt }, { start: requestedAt });
  return measuredPage.page;
}

/** Whether REST says that this bearer has no such list, or no longer: no failure that a stale page could bridge. */
function isAccessLost(error: unknown): boolean {
  return error instanceof StatusError && [401, 403, 404, 410].includes(error.status);
}
