import type { Page, PageQuery } from '../../rest/api-types.ts';
import { ScanBudget } from '../../rest/client/scan-budget.ts';
import type { RecordLoader } from '../record-loader.ts';

/**
 * Loads pages of one list. Equal queries of an operation share one call.
 * @example new PageLoader((query) => api.listMessages(query, callContext), maxPageSize.messages)
 */
export class PageLoader<Row, Query extends PageQuery> {
  /** The most rows of one page ("List query parameters"). */
  readonly maxPageSize: number;
  protected readonly pages = new Map<string, Promise<Page<Row>>>();
  readonly #list: (query: Query) => Promise<Page<Row>>;
  readonly #scanBudget: ScanBudget;

  /** @param scanBudget the operation's. By default, a new one. */
  constructor(
    list: (query: Query) => Promise<Page<Row>>,
    maxPageSize: number,
    scanBudget = new ScanBudget(),
  ) {
    this.#list = list;
    this.maxPageSize = maxPageSize;
    this.#scanBudget = scanBudget;
  }

  /**
   * Loads a page.
   * @param _rowsBefore the number of list rows before the page, if known. Only `ordersWithShipments` uses it, to expect the page
   * of shipments.
   */
  load(query: Query, _rowsBefore?: number): Promise<Page<Row>> {
    const key = queryKey(query);
    const page = this.pages.get(key) ?? this.#list(query);
    this.pages.set(key, page);
    return page;
  }

  /** Whether loading a page needs no further call. */
  isAvailable(query: Query): boolean {
    return this.pages.has(queryKey(query));
  }

  /**
   * Loads a page of a search after its first one. Without a call, the page is free. Else it takes a page of the operation's
   * budget.
   * @throws ScanBudgetExceededError if no page is left.
   */
  loadFurther(query: Query, rowsBefore?: number): Promise<Page<Row>> {
    if (this.isAvailable(query)) return this.load(query, rowsBefore);
    const page = this.#scanBudget.readInTurn(() => this.#list(query));
    // At once, so that an equal search finds the page already asked for.
    this.pages.set(queryKey(query), page);
    return page;
  }

  clearAll(): void {
    this.pages.clear();
  }
}

export type Pages<Row, Query extends PageQuery> = Pick<
  PageLoader<Row, Query>,
  'load' | 'loadFurther' | 'clearAll' | 'maxPageSize'
>;

/** Pages that a scan loads: each once, without this cache, as the scan takes them from the budget itself. */
export function uncountedPages<Row, Query extends PageQuery>(
  load: (query: Query) => Promise<Page<Row>>,
  maxPageSize: number,
): Pages<Row, Query> {
  return { load, maxPageSize, loadFurther: load, clearAll() {} };
}

/**
 * A loader whose rows prime `byName`, so that their records need no GET.
 * @example primingPageLoader((query) => api.listOrders(query, callContext), maxPageSize.orders, orderById)
 */
export function primingPageLoader<Row extends { name: string }, Query extends PageQuery>(
  list: (query: Query) => Promise<Page<Row>>,
  maxPageSize: number,
  byName: RecordLoader<Row>,
  scanBudget?: ScanBudget,
): PageLoader<Row, Query> {
  return new PageLoader(
    async (query) => {
      const { generation } = byName;
      const page = await list(query);
      byName.prime(page.rows, generation);
      return page;
    },
    maxPageSize,
    scanBudget,
  );
}

/** Equal queries in any field order have an equal key. Cursors of clients hold its digest: keep its form. */
export function queryKey(query: object): string {
  const fields = Object.entries(query).filter(([, value]) => value !== undefined);
  return JSON.stringify(fields.sort(([a], [b]) => (a < b ? -1 : 1)));
}
