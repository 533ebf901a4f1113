import type { Page, PageQuery } from '../../rest/api-types.ts';
import type { RecordLoader } from '../record-loader.ts';

/** Loads pages of one list. Equal queries of an operation share one call. */
export class PageLoader<Row, Query extends PageQuery> {
  /** The most rows of one page ("List query parameters"). */
  readonly maxPageSize: number;
  protected readonly pages = new Map<string, Promise<Page<Row>>>();
  readonly #list: (query: Query) => Promise<Page<Row>>;

  constructor(list: (query: Query) => Promise<Page<Row>>, maxPageSize: number) {
    this.#list = list;
    this.maxPageSize = maxPageSize;
  }

  /** @param _rowsBefore The number of list rows before the page, if known. */
  load(query: Query, _rowsBefore?: number): Promise<Page<Row>> {
    const key = queryKey(query);
    const page = this.pages.get(key) ?? this.#list(query);
    this.pages.set(key, page);
    return page;
  }

  clearAll(): void {
    this.pages.clear();
  }
}

export type Pages<Row, Query extends PageQuery> = Pick<
  PageLoader<Row, Query>,
  'load' | 'clearAll' | 'maxPageSize'
>;

/** A loader whose rows prime `byName`, so that their records need no GET. */
export function primingPageLoader<Row extends { name: string }, Query extends PageQuery>(
  list: (query: Query) => Promise<Page<Row>>,
  maxPageSize: number,
  byName: RecordLoader<Row>,
): PageLoader<Row, Query> {
  return new PageLoader(async (query) => {
    const { generation } = byName;
    const page = await list(query);
    byName.prime(page.rows, generation);
    return page;
  }, maxPageSize);
}

/** Equal queries in any field order have an equal key. Cursors of clients hold its digest: keep its form. */
export function queryKey(query: object): string {
  const fields = Object.entries(query).filter(([, value]) => value !== undefined);
  return JSON.stringify(fields.sort(([a], [b]) => (a < b ? -1 : 1)));
}
