import { LRUCache } from 'lru-cache';
import type { Page } from '../../rest/api-types.ts';
import { InvalidResponseError, StatusError } from '../../rest/errors.ts';

/** Lifetimes and budget of the page cache. */
export interface PageCacheOptions {
  /** How long a page is fresh, in milliseconds. 0 turns the cache off. */
  referenceMs: number;
  /** How much longer a stale page is served while a refresh runs, in milliseconds. 5 minutes by default. */
  referenceGraceMs?: number;
  /**
   * The cache budget of all tenants, in bytes of JSON responses. 64 MiB by default. The parsed objects take up to
   * about twice as much memory.
   */
  maxBytes?: number;
  /** A clock in milliseconds with any origin. */
  now?: () => number;
}

/** A page, and the size of its JSON response in bytes. */
export interface MeasuredPage<Row> {
  page: Page<Row>;
  bytes: number;
}

interface CachedPage extends MeasuredPage<unknown> {
  /** When the page was requested. The rows may be as old as that. */
  requestedAtMs: number;
}

/**
 * An LRU cache of reference data pages, shared by all tenants (docs/decisions/0010-reference-data-cache.md).
 * Mutations drop no page: no mutation changes reference data.
 */
export interface PageCache {
  /** Creates the empty page cache of one tenant. Tenants share no pages. */
  newTenant(): CachedPages;
}

// The assumed size of a page's key and entry, which also counts for a search without results.
const overheadBytes = 1_024;

const mebibyte = 2 ** 20;

/** Creates the page cache of the process. */
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
      // By default, lru-cache sets a 1 ms timer for each reading of the clock.
      ttlResolution: 0,
    }),
    pending: new Map(),
    lastTenantNumber: 0,
    referenceMs,
    now,
  };
  return { newTenant: () => new CachedPages(shared) };
}

/** The part of the cache that all tenants share. */
interface SharedCache {
  readonly pages: LRUCache<string, CachedPage>;
  /** The pages that are being read, by key. */
  readonly pending: Map<string, Promise<Page<unknown>>>;
  /** The last number given to a tenant. */
  lastTenantNumber: number;
  readonly referenceMs: number;
  readonly now: () => number;
}

/** The cached pages of one tenant. */
export class CachedPages {
  readonly #shared: SharedCache;
  /** The prefix of each key. No number is used twice. */
  #tenantNumber: number;

  constructor(shared: SharedCache) {
    this.#shared = shared;
    this.#tenantNumber = nextTenantNumber(shared);
  }

  /** Whether a page can be served without a call. */
  has(key: string): boolean {
    return this.#shared.pages.has(this.#keyOf(key));
  }

  /** The cached page, and whether it needs a refresh. Undefined if no page can be served. */
  find(key: string): { page: Page<unknown>; isStale: boolean } | undefined {
    const { pages, now, referenceMs } = this.#shared;
    const cached = pages.get(this.#keyOf(key));
    return cached && { page: cached.page, isStale: now() - cached.requestedAtMs >= referenceMs };
  }

  /** The page that an operation reads now. Undefined without such a read, or if the cache is off. */
  findPending(key: string): Promise<Page<unknown>> | undefined {
    return this.#shared.referenceMs > 0 ? this.#shared.pending.get(this.#keyOf(key)) : undefined;
  }

  /** Reads a page and caches it. Errors and pages with an invalid row are not cached. */
  read<Row>(key: string, read: () => Promise<MeasuredPage<Row>>): Promise<Page<Row>> {
    const { pending } = this.#shared;
    const fullKey = this.#keyOf(key);
    const page = readAndCache(this.#shared, fullKey, read).finally(() => {
      // A mutation may have started a newer read of the page.
      if (pending.get(fullKey) === page) pending.delete(fullKey);
    });
    pending.set(fullKey, page);
    return page;
  }

  /** Refreshes a stale page for later operations, one call at a time. After a failure, the next operation retries. */
  refresh(key: string, read: () => Promise<MeasuredPage<unknown>>): void {
    const { pages, pending } = this.#shared;
    const fullKey = this.#keyOf(key);
    if (pending.has(fullKey)) return;
    this.read(key, read).catch((error: unknown) => {
      if (isAccessLost(error)) pages.delete(fullKey);
    });
  }

  /** Drops all pages, including pages that are still being read. */
  forget(): void {
    // No lookup finds pages under the old number. The LRU order evicts them later.
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
  const requestedAtMs = now();
  const measuredPage = await read();
  const isWhole = !measuredPage.page.rows.some((row) => row instanceof InvalidResponseError);
  // The response to an older request may arrive after a newer one.
  const isNewest = (pages.peek(key)?.requestedAtMs ?? requestedAtMs) <= requestedAtMs;
  if (referenceMs > 0 && isWhole && isNewest)
    pages.set(key, { ...measuredPage, requestedAtMs }, { start: requestedAtMs });
  return measuredPage.page;
}

/** Whether the token has lost access to the list, or the list is gone. Then no stale page may be served. */
function isAccessLost(error: unknown): boolean {
  return error instanceof StatusError && [401, 403, 404, 410].includes(error.status);
}
