import { untilAborted } from '../../concurrency/cancellation.ts';
import type { Page, PageQuery } from '../../rest/api-types.ts';
import type { CallContext } from '../../rest/client/call-context.ts';
import { AbortedError, BudgetExceededError } from '../../rest/errors.ts';
import { type PageLoader, pageLoader, queryKey } from '../paging/page-loader.ts';
import type { CachedPages, MeasuredPage } from './page-cache.ts';

/** Loads pages of reference data. A page that an earlier operation of the tenant has read needs no call. */
export interface ReferencePageLoader<Row, Query extends PageQuery> extends PageLoader<Row, Query> {
  /** Whether loading a page needs no further call: the page is cached, or this operation has already requested it. */
  isAvailable(query: Query): boolean;
  /** Whether this operation has read the page from REST. Then a record missing on the page does not exist. */
  isFromRest(query: Query): boolean;
  /**
   * Stops the use of pages that earlier operations have read, because they may be outdated.
   * @returns whether this operation has used such a page. Then the caller must drop values derived from the page.
   */
  forgetEarlier(): boolean;
}

/** Creates an operation's loader of reference data pages. `list` is the name of the list in cache keys. */
export function referenceLoader<Row extends { name: string }, Query extends PageQuery>(
  callContext: CallContext,
  cached: CachedPages,
  list: string,
  read: (query: Query, callContext: CallContext) => Promise<Page<Row>>,
): ReferencePageLoader<Row, Query> {
  return new ReferenceLoader(callContext, cached, list, read);
}

/** A page that this operation has requested. */
interface RequestedPage<Query> {
  readonly query: Query;
  /** Undefined while the request is pending. */
  source: 'cache' | 'rest' | undefined;
}

/** A class, not closures: each operation creates several (docs/decisions/0004-long-lived-closures.md). */
class ReferenceLoader<Row extends { name: string }, Query extends PageQuery>
  implements ReferencePageLoader<Row, Query>
{
  readonly #callContext: CallContext;
  readonly #cached: CachedPages;
  readonly #list: string;
  readonly #read: (query: Query, callContext: CallContext) => Promise<Page<Row>>;
  readonly #loader: PageLoader<Row, Query> = pageLoader((query) => this.#readPage(query));
  /** The requested pages by cache key. */
  readonly #requested = new Map<string, RequestedPage<Query>>();
  #isCacheUsed = true;

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
    if (!this.#requested.has(key)) this.#requested.set(key, { query, source: undefined });
    return this.#loader.load(query);
  }

  clear(query: Query): void {
    this.#requested.delete(this.#keyOf(query));
    this.#loader.clear(query);
  }

  clearAll(): void {
    this.#requested.clear();
    this.#loader.clearAll();
  }

  isAvailable(query: Query): boolean {
    const key = this.#keyOf(query);
    return this.#requested.has(key) || (this.#isCacheUsed && this.#cached.has(key));
  }

  isFromRest(query: Query): boolean {
    return this.#requested.get(this.#keyOf(query))?.source === 'rest';
  }

  forgetEarlier(): boolean {
    this.#isCacheUsed = false;
    const fromCache = [...this.#requested.values()].filter(({ source }) => source === 'cache');
    for (const { query } of fromCache) this.clear(query);
    return fromCache.length > 0;
  }

  #keyOf(query: Query): string {
    return `${this.#list} ${queryKey(query)}`;
  }

  async #readPage(query: Query): Promise<Page<Row>> {
    const callContext = this.#callContext;
    const key = this.#keyOf(query);
    const cachedPage = this.#isCacheUsed ? this.#cached.find(key) : undefined;
    const requested = this.#requested.get(key);
    const page = cachedPage?.page ?? (await this.#joinPending(key));
    if (page === undefined) {
      const newPage = await this.#cached.read(key, () => this.#readMeasured(query, callContext));
      if (requested !== undefined) requested.source = 'rest';
      return newPage;
    }
    if (requested !== undefined) requested.source = 'cache';
    callContext.callLog.cached += 1;
    if (cachedPage?.isStale === true)
      this.#cached.refresh(key, () => this.#readMeasured(query, callContext.detach()));
    // Each cache key starts with the list name, so the page has rows of this list.
    return page as Page<Row>;
  }

  /** Waits for the page that another operation reads now. @returns undefined if this operation has to read the page. */
  async #joinPending(key: string): Promise<Page<unknown> | undefined> {
    const { signal } = this.#callContext;
    while (this.#isCacheUsed) {
      const pending = this.#cached.findPending(key);
      if (pending === undefined) return undefined;
      try {
        return await untilAborted(pending, signal);
      } catch (error) {
        // The other operation has ended, or has used its read budget. Both say nothing about this operation.
        const isOfOther = error instanceof AbortedError || error instanceof BudgetExceededError;
        if (!isOfOther || signal.aborted) throw error;
      }
    }
    return undefined;
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
