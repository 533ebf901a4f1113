import { neverAborted } from '../../concurrency/cancellation.ts';
import type { CallContext } from '../../rest/client/call-context.ts';
import { type CallLogEntry, createCallLog } from '../../rest/client/call-log.ts';
import type { Page, PageQuery } from '../../rest/types.ts';
import { type PageLoader, pageLoader, queryKey } from '../paging/page-loader.ts';
import type { CachedPages, MeasuredPage } from './page-cache.ts';

/** Pages of a list that seldom changes. What an earlier operation of the tenant has read needs no call. */
export interface ReferencePageLoader<Row, Query extends PageQuery> extends PageLoader<Row, Query> {
  /** Whether a page costs no call more, as it is cached or this operation has asked for it already. */
  isAvailable(query: Query): boolean;
  /** Whether this operation has read the page itself, so that what the page lacks is not there. */
  isFromRest(query: Query): boolean;
  /**
   * From here on, answers nothing that an earlier operation has read, as that may be outdated. Says whether any such page
   * has been answered before, so that what was made of it is to be forgotten too.
   */
  forgetEarlier(): boolean;
}

/** A loader of an operation over a list that seldom changes; `list` tells its pages apart from those of other lists. */
export function referenceLoader<Row extends { name: string }, Query extends PageQuery>(
  callContext: CallContext,
  cached: CachedPages,
  list: string,
  read: (query: Query, callContext: CallContext) => Promise<Page<Row>>,
): ReferencePageLoader<Row, Query> {
  return new ReferenceLoader(callContext, cached, list, read);
}

/** A page that this operation has asked for. */
interface RequestedPage<Query> {
  readonly query: Query;
  /** Undefined until it is answered. */
  source: 'cache' | 'rest' | undefined;
}

/** A class, as each operation has some. */
class ReferenceLoader<Row extends { name: string }, Query extends PageQuery>
  implements ReferencePageLoader<Row, Query>
{
  readonly #callContext: CallContext;
  readonly #cached: CachedPages;
  readonly #list: string;
  readonly #read: (query: Query, callContext: CallContext) => Promise<Page<Row>>;
  readonly #loader: PageLoader<Row, Query> = pageLoader((query) => this.#readPage(query));
  /** By key. */
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
    if (cachedPage === undefined) {
      const page = await this.#cached.read(key, () => this.#readMeasured(query, callContext));
      if (requested !== undefined) requested.source = 'rest';
      return page;
    }
    if (requested !== undefined) requested.source = 'cache';
    callContext.callLog.cached += 1;
    if (cachedPage.isStale)
      this.#cached.refresh(key, () => this.#readMeasured(query, detachedContext(callContext)));
    // Under the name of a list there are only pages of its own.
    return cachedPage.page as Page<Row>;
  }

  /** Reads a page, and notes how many bytes the response had. */
  async #readMeasured(query: Query, callContext: CallContext): Promise<MeasuredPage<Row>> {
    let bytes = 0;
    const onCallFinished = (entry: CallLogEntry) => {
      bytes = entry.bytes;
      callContext.onCallFinished(entry);
    };
    return { page: await this.#read(query, { ...callContext, onCallFinished }), bytes };
  }
}

/** The caller of a read that later operations gain from: it outlives this one, and costs it nothing but a turn. */
function detachedContext(callContext: CallContext): CallContext {
  return {
    ...callContext,
    signal: neverAborted,
    callLog: createCallLog(),
    useReadBudget: () => {},
    refundRead: () => {},
  };
}
