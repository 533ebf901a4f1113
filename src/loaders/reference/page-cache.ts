import { LRUCache } from 'lru-cache';
import type { Page } from '../../rest/api-types.ts';
import { InvalidResponseError, StatusError } from '../../rest/errors.ts';

export interface PageCacheOptions {
  /** How long a page is fresh, in milliseconds. 0 turns the cache off. */
  referenceMs: number;
  /** How much longer a stale page is served while a refresh runs, in milliseconds. */
  referenceGraceMs?: number;
  /** The budget of all tenants, in bytes of JSON responses. The parsed objects take up to about twice as much memory. */
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

// The assumed size of a page's key and entry, which also counts for a search without results.
const overheadBytes = 1_024;
const mebibyte = 2 ** 20;

/** An LRU cache of reference data pages, shared by all tenants (docs/decisions/0010-reference-data-cache.md). */
export class PageCache {
  readonly pages: LRUCache<string, CachedPage>;
  /** The pages that are being read, by the same keys. */
  readonly pending = new Map<string, Promise<Page<unknown>>>();
  readonly referenceMs: number;
  readonly now: () => number;
  #lastTenantNumber = 0;

  constructor({
    referenceMs,
    referenceGraceMs = 300_000,
    maxBytes = 64 * mebibyte,
    now = () => performance.now(),
  }: PageCacheOptions) {
    this.pages = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ bytes }) => overheadBytes + bytes,
      ttl: referenceMs + referenceGraceMs,
      perf: { now },
      // By default, lru-cache sets a 1 ms timer for each reading of the clock.
      ttlResolution: 0,
    });
    this.referenceMs = referenceMs;
    this.now = now;
  }

  /** A number that no tenant has had. */
  newTenantNumber(): number {
    this.#lastTenantNumber += 1;
    return this.#lastTenantNumber;
  }
}

/** The cached pages of one tenant. Tenants share no pages. */
export class CachedPages {
  readonly #cache: PageCache;
  /** The start of each key. */
  #tenantNumber: number;

  constructor(cache: PageCache) {
    this.#cache = cache;
    this.#tenantNumber = cache.newTenantNumber();
  }

  /** The cached page, and whether it needs a refresh. Undefined if no page can be served. */
  find(key: string): { page: Page<unknown>; isStale: boolean } | undefined {
    const { pages, now, referenceMs } = this.#cache;
    const cached = pages.get(this.#keyOf(key));
    return cached && { page: cached.page, isStale: now() - cached.requestedAtMs >= referenceMs };
  }

  /** Whether a page is cached, or an operation is reading it now. */
  has(key: string): boolean {
    return this.#cache.pages.has(this.#keyOf(key)) || this.pending(key) !== undefined;
  }

  /** The page that an operation is reading now. */
  pending(key: string): Promise<Page<unknown>> | undefined {
    return this.#cache.pending.get(this.#keyOf(key));
  }

  /** Reads a page and caches it. Errors and pages with an invalid row are not cached. */
  async read<Row>(key: string, read: () => Promise<MeasuredPage<Row>>): Promise<Page<Row>> {
    const { pending, referenceMs } = this.#cache;
    if (referenceMs === 0) return (await read()).page;
    const fullKey = this.#keyOf(key);
    const page = this.#readAndStore(fullKey, read);
    pending.set(fullKey, page);
    try {
      return await page;
    } finally {
      if (pending.get(fullKey) === page) pending.delete(fullKey);
    }
  }

  /** Drops all pages, including pages that are still being read. */
  forget(): void {
    // No lookup finds pages under the old number. The LRU order evicts them later.
    this.#tenantNumber = this.#cache.newTenantNumber();
  }

  async #readAndStore<Row>(key: string, read: () => Promise<MeasuredPage<Row>>): Promise<Page<Row>> {
    const { pages, now } = this.#cache;
    const requestedAtMs = now();
    try {
      const measured = await read();
      const isWhole = !measured.page.rows.some((row) => row instanceof InvalidResponseError);
      // The response to an older request may arrive after a newer one.
      const isNewest = (pages.peek(key)?.requestedAtMs ?? requestedAtMs) <= requestedAtMs;
      if (isWhole && isNewest) pages.set(key, { ...measured, requestedAtMs }, { start: requestedAtMs });
      return measured.page;
    } catch (error) {
      if (isAccessLost(error)) pages.delete(key);
      throw error;
    }
  }

  #keyOf(key: string): string {
    return `${this.#tenantNumber} ${key}`;
  }
}

/** Whether the token has lost access to the list, or the list is gone. Then no stale page may be served. */
function isAccessLost(error: unknown): boolean {
  return error instanceof StatusError && [401, 403, 404, 410].includes(error.status);
}
