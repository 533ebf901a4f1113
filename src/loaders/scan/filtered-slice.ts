import { addMatches, type PageSlice, type PlacedRow } from '../paging/page-slice.ts';
import type { ListScan } from './list-scan.ts';
import { createAgeCheck } from './list-sequence.ts';
import { type FilteredRow, matchesFilter, type RowFilter } from './row-filter.ts';

/**
 * Reads pages until `first` rows match or the list ends. Where the operation may read no further page, the slice ends
 * with the last row that was looked at.
 * @throws InvalidResponseError if the list has no end. Errors of the page loader are passed on.
 */
export function readFilteredSlice<Row extends FilteredRow>(
  scan: ListScan<Row>,
  filter: RowFilter,
  first: number,
): Promise<PageSlice<Row>> {
  const rows: PlacedRow<Row>[] = [];
  const areLaterRowsOlder = createAgeCheck(filter.createdSinceMs);
  // Often one row of five matches, so that one page is enough.
  return scan(Math.max(5 * first, 100), (next) => {
    if ('endPosition' in next) return { rows, hasNextPage: true, ...next };
    const before = rows.length;
    const hasMore = addMatches(rows, first, next, (row) => matchesFilter(row, filter));
    next.prime(rows.slice(before).map(({ row }) => row));
    if (hasMore) return { rows, hasNextPage: true };
    if (areLaterRowsOlder(next.page.rows)) return { rows, hasNextPage: false };
    const hasNextPage = next.page.nextPageToken !== undefined;
    // Of no rows, the first match tells whether there are any.
    const isFull = first > 0 && rows.length === first;
    return isFull || !hasNextPage ? { rows, hasNextPage } : undefined;
  });
}
