import { untilAborted } from '../../concurrency/cancellation.ts';
import type { Page, PageQuery } from '../../rest/api-types.ts';
import type { CallContext } from '../../rest/client/call-context.ts';
import { abortedError, isOfOneOperation } from '../../rest/errors.ts';
import { PageLoader, queryKey } from '../paging/page-loader.ts';
import type { CachedPages } from './page-cache.ts';

type List<Row, Query> = (query: Query, callContext: CallContext) => Promise<Page<Row>>;

/**
 * Loads pages of reference data. A page that an earlier operation of the tenant has read needs no call. Operations that
 * read a page at the same time share one call.
 */
export class ReferenceLoader<Row, Query extends PageQuery> extends PageLoader<Row, Query> {
  readonly #cached: CachedPages;
  readonly #name: string;
  /** The keys of the pages that other operations have read. */
  readonly #earlier = new Set<string>();
  /** Whether pages that other operations have read are used. */
  isCacheUsed = true;

  /** @param name The name of the list in cache keys. */
  constructor(
    callContext: CallContext,
    cached: CachedPages,
    name: string,
    list: List<Row, Query>,
    maxPageSize: number,
  ) {
    super((query) => this.#read(query, callContext, list), maxPageSize, callContext.scanBudget);
    this.#cached = cached;
    this.#name = name;
  }

  override clearAll(): void {
    this.forgetEarlier();
    super.clearAll();
  }

  override isAvailable(query: Query): boolean {
    const isCached = () => this.isCacheUsed && this.#cached.has(`${this.#name} ${queryKey(query)}`);
    return super.isAvailable(query) || isCached();
  }

  /**
   * Stops the use of pages that other operations have read, because they may be outdated.
   * @returns whether this operation has used such a page. Then the caller must drop values derived from the page.
   */
  forgetEarlier(): boolean {
    const wasUsed = this.#earlier.size > 0;
    this.isCacheUsed = false;
    for (const key of this.#earlier) this.pages.delete(key);
    this.#earlier.clear();
    return wasUsed;
  }

  async #read(query: Query, callContext: CallContext, list: List<Row, Query>): Promise<Page<Row>> {
    const { signal } = callContext;
    const key = queryKey(query);
    const cacheKey = `${this.#name} ${key}`;
    while (this.isCacheUsed) {
      const found = this.#cached.find(cacheKey, () => list(query, callContext.detach()));
      if (found === undefined) break;
      const page = found instanceof Promise ? await untilAborted(found.catch(nullIfEnded), signal) : found;
      if (page === undefined) throw abortedError({ method: 'GET', path: `/v1/${this.#name}` }, signal);
      if (page === null) continue;
      this.#earlier.add(key);
      callContext.callLog.cached += 1;
      // Each cache key starts with the list name, so the page has rows of this list.
      return page as Page<Row>;
    }
    return this.#cached.read(cacheKey, () => list(query, callContext));
  }
}

/** Null if the operation that was reading a page has ended. Then another one may read the page. */
function nullIfEnded(error: unknown): null {
  if (isOfOneOperation(error)) return null;
  throw error;
}
