import type { PageQuery } from '../../rest/api-types.ts';
import type { CallLog } from '../../rest/client/call-log.ts';
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
  pages: Pages<Row, Query>,
  log: Pick<CallLog, 'scannedPages'>,
): ListScans<Row, Query> {
  function createScan(walk: PageWalk<Row, Query>): ListScan<Row> {
    const read: Promise<NextPage<Row>>[] = [];
    let rowsOfFirstPage = 0;

    async function next(before: Promise<NextPage<Row>> | undefined): Promise<NextPage<Row>> {
      // All fields of the operation that start together have asked for their rows after this.
      const last = await before;
      if (typeof last === 'string') return last;
      if (last !== undefined && last.page.nextPageToken === undefined) return 'end';
      if (log.scannedPages >= maxScannedPages) return 'no budget';
      log.scannedPages += 1;
      return walk.next(last === undefined ? rowsOfFirstPage : pages.maxPageSize);
    }

    return (number, firstPageRows) => {
      rowsOfFirstPage = Math.max(rowsOfFirstPage, firstPageRows);
      read[number] ??= next(read[number - 1]);
      return read[number];
    };
  }

  const scans = new Map<string, ListScan<Row>>();
  return (filters, start) => {
    const key = queryKey({ filters: queryKey(filters), ...start });
    const scan = scans.get(key) ?? createScan(new PageWalk(pages, filters, start));
    scans.set(key, scan);
    return scan;
  };
}
