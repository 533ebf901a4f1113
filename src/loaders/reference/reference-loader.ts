import { untilAborted } from '../../concurrency/cancellation.ts';
import type { Page, PageQuery } from '../../rest/api-types.ts';
import type { CallContext } from '../../rest/client/call-context.ts';
import { abortedError, isOfOneOperation } from '../../rest/errors.ts';
import { type PageLoader, queryKey } from '../paging/page-loader.ts';
import type { CachedPages } from './page-cache.ts';

/**
 * Loads pages of reference data. A page that an earlier operation of the tenant has read needs no call. Operations that
 * read a page at the same time share one call.
 */
export class ReferenceLoader<Row, Query extends PageQuery> implements PageLoader<Row, Query> {
  readonly #callContext: CallContext;
  readonly #cached: CachedPages;
  readonly #list: string;
  readonly #read: (query: Query, callContext: CallContext) => Promise<Page<Row>>;
  readonly #pages = new Map<string, Promise<Page<Row>>>();
  /** The keys of the pages that other operations have read. */
  readonly #earlier = new Set<string>();
  #isCacheUsed = true;

  /** @param list The name of the list in cache keys. */
  constructor(
    callContext: CallContext,
    cached: CachedPages,
    list: string,
    read: (query: Query, callContext: CallContext) => Promise<Page<Row>>,
  ) {
    this.#callContext = callContext;
    this.#cached = cached;
    this.#list = list;
    this.#read = read;
  }

  load(query: Query): Promise<Page<Row>> {
    const key = this.#keyOf(query);
    const page = this.#pages.get(key) ?? this.#readPage(key, query);
    this.#pages.set(key, page);
    return page;
  }

  clearAll(): void {
    this.#pages.clear();
    this.#earlier.clear();
    this.#isCacheUsed = false;
  }

  /** Whether loading a page needs no further call. */
  isAvailable(query: Query): boolean {
    const key = this.#keyOf(query);
    return this.#pages.has(key) || (this.#isCacheUsed && this.#cached.has(key));
  }

  /**
   * Stops the use of pages that other operations have read, because they may be outdated.
   * @returns whether this operation has used such a page. Then the caller must drop values derived from the page.
   */
  forgetEarlier(): boolean {
    this.#isCacheUsed = false;
    const wasUsed = this.#earlier.size > 0;
    for (const key of this.#earlier) this.#pages.delete(key);
    this.#earlier.clear();
    return wasUsed;
  }

  #keyOf(query: Query): string {
    return `${this.#list} ${queryKey(query)}`;
  }

  async #readPage(key: string, query: Query): Promise<Page<Row>> {
    const callContext = this.#callContext;
    const { signal } = callContext;
    while (this.#isCacheUsed) {
      const found = this.#cached.find(key, () => this.#read(query, callContext.detach()));
      if (found === undefined) break;
      const page = found instanceof Promise ? await untilAborted(found.catch(nullIfEnded), signal) : found;
      if (page === undefined) throw abortedError({ method: 'GET', path: `/v1/${this.#list}` }, signal);
      if (page === null) continue;
      this.#earlier.add(key);
      callContext.callLog.cached += 1;
      // Each cache key starts with the list name, so the page has rows of this list.
      return page as Page<Row>;
    }
    return this.#cached.read(key, () => this.#read(query, callContext));
  }
}

/** Null if the operation that was reading a page has ended. Then another one may read the page. */
function nullIfEnded(error: unknown): null {
  if (isOfOneOperation(error)) return null;
  throw error;
}
