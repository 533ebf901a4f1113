import type { PageQuery } from '../../rest/api-types.ts';
import type { CallLog } from '../../rest/client/call-log.ts';
import type { Position } from '../paging/cursor.ts';
import { type Pages, queryKey } from '../paging/page-loader.ts';
import { type Filters, PageWalk, type ReadPage } from '../paging/page-walk.ts';

/** The pages that all scans of an operation may read. */
export const maxScannedPages = 20;

/** The number of pages that the scans of one operation have read. */
type ScanLog = Pick<CallLog, 'scannedPages'>;

/** `end`: the list has no further page. `no budget`: the operation may read no further page. */
type NextPage<Row> = ReadPage<Row> | 'end' | 'no budget';

/**
 * Reads the pages of a list one after the other. Fields of an operation with the same list, REST filters and start share
 * a scan, so that each page is read once.
 */
export class ListScan<Row extends { name: string }, Query extends PageQuery> {
  readonly #walk: PageWalk<Row, Query>;
  readonly #maxPageSize: number;
  readonly #log: ScanLog;
  readonly #read: Promise<NextPage<Row>>[] = [];
  #firstPageRows = 0;

  constructor(pages: Pages<Row, Query>, filters: Filters<Query>, log: ScanLog, start: Position | undefined) {
    this.#walk = new PageWalk(pages, filters, start);
    this.#maxPageSize = pages.maxPageSize;
    this.#log = log;
  }

  /**
   * Reads the page with this number, from 0. Read the pages in their order.
   * @param firstPageRows the rows that page 0 should have. The largest number of all fields counts.
   * @throws InvalidResponseError if the list has no end. Errors of the page loader are passed on.
   */
  page(index: number, firstPageRows: number): Promise<NextPage<Row>> {
    this.#firstPageRows = Math.max(this.#firstPageRows, firstPageRows);
    const next = this.#read[index] ?? this.#next(this.#read[index - 1]);
    this.#read[index] = next;
    return next;
  }

  async #next(before: Promise<NextPage<Row>> | undefined): Promise<NextPage<Row>> {
    // All fields of the operation that start together have asked for their rows after this.
    const last = await before;
    if (typeof last === 'string') return last;
    if (last !== undefined && last.page.nextPageToken === undefined) return 'end';
    if (this.#log.scannedPages >= maxScannedPages) return 'no budget';
    this.#log.scannedPages += 1;
    return this.#walk.next(last === undefined ? this.#firstPageRows : this.#maxPageSize);
  }
}

/** The scans of one operation over one list. */
export class ListScans<Row extends { name: string }, Query extends PageQuery> {
  readonly #pages: Pages<Row, Query>;
  readonly #log: ScanLog;
  readonly #scans = new Map<string, ListScan<Row, Query>>();

  constructor(pages: Pages<Row, Query>, log: ScanLog) {
    this.#pages = pages;
    this.#log = log;
  }

  /** The scan with these filters of REST from a position on, by default from the start of the list. */
  from(filters: Filters<Query>, start?: Position): ListScan<Row, Query> {
    const key = queryKey({ filters: queryKey(filters), ...start });
    const scan = this.#scans.get(key) ?? new ListScan(this.#pages, filters, this.#log, start);
    this.#scans.set(key, scan);
    return scan;
  }
}
