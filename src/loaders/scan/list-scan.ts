import type { PageQuery } from '../../rest/api-types.ts';
import type { CallLog } from '../../rest/client/call-log.ts';
import type { Position } from '../paging/cursor.ts';
import { type PageLoader, type Pages, queryKey } from '../paging/page-loader.ts';
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

/** Finds the scan with these filters of REST from a position on, by default from the start of the list. */
export type ListScans<Row, Query extends PageQuery> = (
  filters: Filters<Query>,
  start?: Position,
) => ListScan<Row>;

/**
 * Creates the scans of one operation over one list. Fields with the same REST filters and start share a scan, so that
 * each page is read once. `log` counts the pages of all scans.
 */
export function createScans<Row extends { name: string }, Query extends PageQuery>(
  pages: PageLoader<Row, Query>,
  log: Pick<CallLog, 'scannedPages'>,
): ListScans<Row, Query> {
  // Only the rows of the first page answer ids of the operation (docs/decisions/0041-rows-of-a-scan-are-not-kept.md).
  const scannedPages: Pages<Row, Query> = {
    maxPageSize: pages.maxPageSize,
    load: (query) => (query.pageToken === undefined ? pages.load(query) : pages.readOnce(query)),
    clearAll: () => pages.clearAll(),
  };
  const scans = new Map<string, ListScan<Row>>();

  return (filters, start) => {
    const key = queryKey({ filters: queryKey(filters), ...start });
    const walk = new PageWalk(scannedPages, filters, start);
    let rowsOfFirstPage = 0;
    let latest: { number: number; page: Promise<NextPage<Row>> } | undefined;

    async function next(before: Promise<NextPage<Row>> | undefined): Promise<NextPage<Row>> {
      // All fields of the operation that start together have asked for their rows after this.
      const last = await before;
      if (typeof last === 'string') return last;
      if (last !== undefined && last.page.nextPageToken === undefined) return 'end';
      if (log.scannedPages >= maxScannedPages) return 'no budget';
      log.scannedPages += 1;
      return walk.next(last === undefined ? rowsOfFirstPage : pages.maxPageSize);
    }

    const scan: ListScan<Row> = (number, firstPageRows) => {
      rowsOfFirstPage = Math.max(rowsOfFirstPage, firstPageRows);
      if (latest?.number !== number) {
        // The fields of a scan go from page to page together. A later field has a scan of its own.
        if (number > 0) scans.delete(key);
        latest = { number, page: next(latest?.page) };
      }
      return latest.page;
    };
    const shared = scans.get(key) ?? scan;
    scans.set(key, shared);
    return shared;
  };
}
