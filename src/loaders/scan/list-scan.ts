import type { Page, PageQuery } from '../../rest/api-types.ts';
import type { CallContext } from '../../rest/client/call-context.ts';
import type { Position } from '../paging/cursor.ts';
import { type Pages, queryKey } from '../paging/page-loader.ts';
import { type Filters, PageWalk, type ReadPage } from '../paging/page-walk.ts';

/** The pages that all scans of an operation may read. */
export const maxScannedPages = 20;

/** `end`: the list has no further page. `no budget`: the operation may read no further page. */
type NextPage<Row> = ReadPage<Row> | 'end' | 'no budget';

/**
 * Reads the page of a list with this number, from 0. Read the pages in their order.
 * @param firstPageRows the rows that page 0 should have. The largest number of all fields counts.
 * @throws InvalidResponseError if the list has no end. Errors of the page loader are passed on.
 */
export type ListScan<Row> = (number: number, firstPageRows: number) => Promise<NextPage<Row>>;

/**
 * Finds the scan with these filters of REST from a position on, by default from the start of the list. Read its first page
 * at once: the fields of a scan go from page to page together.
 * @param keepsRows whether the rows answer ids of the operation, by default not. The same for all its fields.
 */
export type ListScans<Row, Query extends PageQuery> = (
  filters: Filters<Query>,
  start?: Position,
  keepsRows?: boolean,
) => ListScan<Row>;

/**
 * The scans of one operation over one list. Fields with the same REST filters and start share a scan, so that
 * each page is read once. They read no further page after half of the operation's time.
 * @param pages keeps the rows of its pages for ids. `list` only reads a page.
 */
export function createScans<Row extends { name: string }, Query extends PageQuery>(
  pages: Pages<Row, Query>,
  list: (query: Query) => Promise<Page<Row>>,
  { callLog, deadline }: Pick<CallContext, 'callLog' | 'deadline'>,
): ListScans<Row, Query> {
  const halfTimeMs = deadline.remainingMs() / 2;
  // docs/decisions/0043-rows-of-a-scan-kept-for-relations.md
  const pagesOnce: Pages<Row, Query> = { maxPageSize: pages.maxPageSize, load: list, clearAll() {} };
  const scans = new Map<string, ListScan<Row>>();

  return (filters, start, keepsRows = false) => {
    const key = queryKey({ filters: queryKey(filters), ...start });
    const shared = scans.get(key);
    if (shared !== undefined) return shared;
    const walk = new PageWalk(keepsRows ? pages : pagesOnce, filters, start);
    let rowsOfFirstPage = 0;
    let latest: { number: number; page: Promise<NextPage<Row>> } | undefined;

    async function next(before: Promise<NextPage<Row>> | undefined): Promise<NextPage<Row>> {
      // All fields of the operation that start together have asked for their rows after this.
      const last = await before;
      if (typeof last === 'string') return last;
      if (last !== undefined && last.page.nextPageToken === undefined) return 'end';
      if (callLog.scannedPages >= maxScannedPages) return 'no budget';
      // A slow list gets on by one page at least, and the client by one cursor.
      if (last !== undefined && deadline.remainingMs() < halfTimeMs) return 'no budget';
      callLog.scannedPages += 1;
      return walk.next(last === undefined ? rowsOfFirstPage : pages.maxPageSize);
    }

    const scan: ListScan<Row> = (number, firstPageRows) => {
      rowsOfFirstPage = Math.max(rowsOfFirstPage, firstPageRows);
      if (latest?.number !== number) {
        // A field that starts later has a scan of its own.
        if (number > 0 && scans.get(key) === scan) scans.delete(key);
        latest = { number, page: next(latest?.page) };
      }
      return latest.page;
    };
    scans.set(key, scan);
    return scan;
  };
}
