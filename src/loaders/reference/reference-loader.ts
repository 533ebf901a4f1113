import { untilAborted } from '../../concurrency/cancellation.ts';
import type { Page, PageQuery } from '../../rest/api-types.ts';
import type { CallContext } from '../../rest/client/call-context.ts';
import { abortedError, isOfOneOperation } from '../../rest/errors.ts';
import { type PageLoader, queryKey } from '../paging/page-loader.ts';
import type { CachedPages, MeasuredPage } from './page-cache.ts';

/**
 * Loads pages of reference data. A page that an earlier operation of the tenant has read needs no call. Operations that
 * read a page at the same time share one call.
 */
export class ReferenceLoader<Row, Query extends PageQuery> implements PageLoader<Row, Query> {
  readonly #callContext: CallContext;
  readonly #cached: CachedPages;
  readonly #list: string;
  readonly #read: (query: Query, callContext: CallContext) => Promise<Page<Row>>;
  /** The requested pages by cache key, and where the pages that have arrived came from. */
  readonly #pages = new Map<string, Promise<Page<Row>>>();
  readonly #sources = new Map<string, 'cache' | 'rest'>();
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
    this.#sources.clear();
  }

  /** Whether loading a page needs no further call. */
  isAvailable(query: Query): boolean {
    const key = this.#keyOf(query);
    return this.#pages.has(key) || (this.#isCacheUsed && this.#cached.has(key));
  }

  /** Whether this operation has read the page from REST. Then a record missing on the page does not exist. */
  isFromRest(query: Query): boolean {
    return this.#sources.get(this.#keyOf(query)) === 'rest';
  }

  /**
   * Stops the use of pages that other operations have read, because they may be outdated.
   * @returns whether this operation has used such a page. Then the caller must drop values derived from the page.
   */
  forgetEarlier(): boolean {
    this.#isCacheUsed = false;
    const fromCache = [...this.#sources.keys()].filter((key) => this.#sources.get(key) === 'cache');
    for (const key of fromCache) {
      this.#pages.delete(key);
      this.#sources.delete(key);
    }
    return fromCache.length > 0;
  }

  #keyOf(query: Query): string {
    return `${this.#list} ${queryKey(query)}`;
  }

  async #readPage(key: string, query: Query): Promise<Page<Row>> {
    const callContext = this.#callContext;
    while (this.#isCacheUsed) {
      const found = this.#findPage(key, query);
      const page = found instanceof Promise ? await this.#join(found) : found;
      if (found === undefined) break;
      if (page === undefined) continue;
      this.#sources.set(key, 'cache');
      callContext.callLog.cached += 1;
      // Each cache key starts with the list name, so the page has rows of this list.
      return page as Page<Row>;
    }
    const page = await this.#cached.read(key, () => this.#readMeasured(query, callContext));
    this.#sources.set(key, 'rest');
    return page;
  }

  /** The cached page, or the page that another operation is reading. */
  #findPage(key: string, query: Query): Page<unknown> | Promise<Page<unknown>> | undefined {
    const cachedPage = this.#cached.find(key);
    const pending = this.#cached.pending(key);
    if (cachedPage?.isStale === true && pending === undefined) this.#refresh(key, query);
    return cachedPage?.page ?? pending;
  }

  /** Waits for a page that another operation is reading. @returns undefined if that operation ended before. */
  async #join(pending: Promise<Page<unknown>>): Promise<Page<unknown> | undefined> {
    const { signal } = this.#callContext;
    try {
      const page = await untilAborted(pending, signal);
      if (!signal.aborted) return page;
    } catch (error) {
      if (!isOfOneOperation(error)) throw error;
    }
    if (signal.aborted) throw abortedError({ method: 'GET', path: `/v1/${this.#list}` }, signal);
    return undefined;
  }

  /** Reads a stale page again, for later operations. After a failure, the next operation does so. */
  #refresh(key: string, query: Query): void {
    const callContext = this.#callContext.detach();
    this.#cached.read(key, () => this.#readMeasured(query, callContext)).catch(() => {});
  }

  /** Reads a page and the size of its response in bytes. */
  async #readMeasured(query: Query, callContext: CallContext): Promise<MeasuredPage<Row>> {
    let size = 0;
    const observed = callContext.observe(({ bytes }) => {
      size = bytes;
    });
    return { page: await this.#read(query, observed), bytes: size };
  }
}
