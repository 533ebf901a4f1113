import type { Page, PageQuery } from '../../rest/api-types.ts';
import { type Position, startOfList } from '../paging/cursor.ts';
import { endlessListGuard, type PageLoader, queryKey } from '../paging/page-loader.ts';
import { pageAt, positionAfter } from '../paging/page-slice.ts';

/** The pages that all scans of an operation may read. */
export const maxScannedPages = 20;

/** The pages that the scans of one operation have left. */
export interface ScanBudget {
  pagesLeft: number;
  /** Called for each page. */
  onPage(): void;
}

/** A page of a scan, and the position at which it was read. */
export interface ScannedPage<Row> {
  page: Page<Row>;
  position: Position;
}

/** `end`: the list has no further page. `no budget`: the operation may read no further page. */
type NextPage<Row> = ScannedPage<Row> | 'end' | 'no budget';

/**
 * Reads the pages of a list one after the other. Fields of an operation with the same list, REST filters and start share
 * a scan, so that each page is read once.
 */
export class ListScan<Row extends { name: string }, Query extends PageQuery> {
  readonly #pages: PageLoader<Row, Query>;
  readonly #query: Omit<Query, keyof PageQuery>;
  readonly #maxPageSize: number;
  readonly #start: Position;
  readonly #budget: ScanBudget;
  readonly #checkToken: (token: string) => void;
  readonly #read: Promise<NextPage<Row>>[] = [];
  #firstPageRows = 0;

  constructor(
    { pages, maxPageSize, budget }: ScanSource<Row, Query>,
    query: Omit<Query, keyof PageQuery>,
    start: Position,
  ) {
    this.#pages = pages;
    this.#query = query;
    this.#maxPageSize = maxPageSize;
    this.#start = start;
    this.#budget = budget;
    this.#checkToken = endlessListGuard(start.pageToken);
  }

  /**
   * Reads the page with this number, from 0. Read the pages in their order.
   * @param firstPageRows the rows that page 0 should have. The largest number of all fields counts.
   * @throws InvalidResponseError if the list has no end. Errors of the page loader are passed on.
   */
  page(index: number, firstPageRows: number): Promise<NextPage<Row>> {
    this.#firstPageRows = Math.max(this.#firstPageRows, firstPageRows);
    let next = this.#read[index];
    if (next === undefined) {
      next = this.#next(this.#read[index - 1]);
      this.#read[index] = next;
    }
    return next;
  }

  async #next(before: Promise<NextPage<Row>> | undefined): Promise<NextPage<Row>> {
    // All fields of the operation that start together have asked for their rows after this.
    const last = await before;
    if (last === undefined) return this.#load(this.#start, this.#firstPageRows);
    if (typeof last === 'string') return last;
    const { page, position } = last;
    if (page.nextPageToken === undefined) return 'end';
    this.#checkToken(page.nextPageToken);
    return this.#load(positionAfter(page, page.rows.length - 1, position), this.#maxPageSize);
  }

  async #load(position: Position, rows: number): Promise<NextPage<Row>> {
    if (this.#budget.pagesLeft === 0) return 'no budget';
    this.#budget.pagesLeft -= 1;
    this.#budget.onPage();
    const request = { pages: this.#pages, query: this.#query, maxPageSize: this.#maxPageSize };
    return { page: await pageAt(request, position, rows), position };
  }
}

export interface ScanSource<Row, Query extends PageQuery> {
  pages: PageLoader<Row, Query>;
  /** The most rows of one page ("List query parameters"). */
  maxPageSize: number;
  budget: ScanBudget;
}

/** The scans of one operation over one list. */
export class ListScans<Row extends { name: string }, Query extends PageQuery> {
  readonly #source: ScanSource<Row, Query>;
  readonly #scans = new Map<string, ListScan<Row, Query>>();

  constructor(source: ScanSource<Row, Query>) {
    this.#source = source;
  }

  /** The scan with these filters of REST from a position on, by default from the start of the list. */
  from(query: Omit<Query, keyof PageQuery>, start: Position = startOfList): ListScan<Row, Query> {
    const key = queryKey({ query: queryKey(query), ...start });
    let scan = this.#scans.get(key);
    if (scan === undefined) {
      scan = new ListScan(this.#source, query, start);
      this.#scans.set(key, scan);
    }
    return scan;
  }
}
