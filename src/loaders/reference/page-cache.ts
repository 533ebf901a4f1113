import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Page } from '../../rest/api-types.ts';
import { InvalidResponseError, StatusError } from '../../rest/errors.ts';

export interface PageCacheOptions {
  /** How long reference data is fresh, in milliseconds. */
  referenceMs: number;
  /** How much longer stale data is served while a refresh runs, in milliseconds. 5 minutes by default. */
  referenceGraceMs?: number | undefined;
  /** The budget of all tenants, in characters of JSON. The objects take up to about twice as many bytes. */
  maxCharacters?: number;
}

// The assumed size of a page's key and entry, which also counts for a search without results.
const overheadCharacters = 1_024;

/** An LRU cache of reference data pages, shared by all tenants (docs/design/how-reference-data-is-cached.md). */
export function createPageCache({ referenceMs, ...options }: PageCacheOptions) {
  const { referenceGraceMs = 300_000, maxCharacters = 64 * 2 ** 20 } = options;
  // The rows of a page may be as old as its request.
  const pages = new LRUCache<string, { page: Page<unknown>; requestedAtMs: number }>({
    maxSize: maxCharacters,
    sizeCalculation: ({ page }) => overheadCharacters + JSON.stringify(page).length,
    ttl: referenceMs + referenceGraceMs,
    // By default, lru-cache sets a 1 ms timer for each reading of the clock.
    ttlResolution: 0,
  });
  /** The pages that are being read, by the same keys. */
  const pending = new Map<string, Promise<Page<unknown>>>();
  return { pages, pending, referenceMs };
}

type PageCache = ReturnType<typeof createPageCache>;

/** The cached pages of one tenant. Tenants share no pages. */
export class CachedPages {
  readonly #cache: PageCache;
  #keyPrefix = randomUUID();

  constructor(cache: PageCache) {
    this.#cache = cache;
  }

  /** A cached page, or one that is being read now. `renew` reads a stale page again, for later operations. */
  find(key: string, renew: () => Promise<Page<unknown>>): Page<unknown> | Promise<Page<unknown>> | undefined {
    const { pages, pending, referenceMs } = this.#cache;
    const cached = pages.get(this.#fullKey(key));
    const reading = pending.get(this.#fullKey(key));
    const isStale = cached !== undefined && performance.now() - cached.requestedAtMs >= referenceMs;
    // After a failure, the next operation refreshes the page.
    if (isStale && reading === undefined) this.read(key, renew).catch(() => {});
    return cached?.page ?? reading;
  }

  /** Whether a page is cached, or an operation is reading it now. */
  has(key: string): boolean {
    const { pages, pending } = this.#cache;
    return pages.has(this.#fullKey(key)) || pending.has(this.#fullKey(key));
  }

  /** Reads a page and caches it. Errors and pages with an invalid row are not cached. */
  async read<Row>(key: string, read: () => Promise<Page<Row>>): Promise<Page<Row>> {
    const { pages, pending, referenceMs } = this.#cache;
    if (referenceMs === 0) return read();
    const fullKey = this.#fullKey(key);
    const requestedAtMs = performance.now();
    const reading = read();
    pending.set(fullKey, reading);
    try {
      const page = await reading;
      const isWhole = !page.rows.some((row) => row instanceof InvalidResponseError);
      // The response to an older request may arrive after a newer one.
      const isNewest = (pages.peek(fullKey)?.requestedAtMs ?? requestedAtMs) <= requestedAtMs;
      if (isWhole && isNewest) pages.set(fullKey, { page, requestedAtMs }, { start: requestedAtMs });
      return page;
    } catch (error) {
      // The token has lost access to the list, or the list is gone. Then no stale page may be served.
      if (error instanceof StatusError && [401, 403, 404, 410].includes(error.status)) pages.delete(fullKey);
      throw error;
    } finally {
      if (pending.get(fullKey) === reading) pending.delete(fullKey);
    }
  }

  /** Drops all pages, including pages that are still being read. */
  forget(): void {
    // No lookup finds pages under the old prefix. The LRU order evicts them later.
    this.#keyPrefix = randomUUID();
  }

  #fullKey(key: string): string {
    return `${this.#keyPrefix} ${key}`;
  }
}
