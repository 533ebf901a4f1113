import { type Position, startOfList } from '../paging/cursor.ts';
import { addMatches, type PageSlice, type PlacedRow } from '../paging/page-slice.ts';
import { positionAfter } from '../paging/page-walk.ts';
import type { ListScan } from './list-scan.ts';
import { type FilteredRow, matchesFilter, NewestFirst, type RowFilter } from './row-filter.ts';

// Often one row of five matches, so that one page is enough.
const rowsPerMatch = 5;
const minFirstPageRows = 100;

/**
 * Reads pages until `first` rows match or the list ends. Where the operation may read no further page, the slice ends
 * with the last row that was looked at. `after` is the start of the scan.
 * @throws InvalidResponseError if the list has no end. Errors of the page loader are passed on.
 */
export async function readFilteredSlice<Row extends FilteredRow>(
  scan: ListScan<Row>,
  filter: RowFilter,
  first: number,
  after: Position | undefined,
): Promise<PageSlice<Row>> {
  const rows: PlacedRow<Row>[] = [];
  const newestFirst = new NewestFirst();
  // The first match tells whether there are any.
  const needed = Math.max(first, 1);
  const firstPageRows = Math.max(rowsPerMatch * needed, minFirstPageRows);
  let endPosition = after ?? startOfList;
  for (let number = 0; ; number += 1) {
    const next = await scan(number, firstPageRows);
    if (next === 'end') return { rows, hasNextPage: false };
    if (next === 'no budget') return { rows, hasNextPage: true, endPosition };
    const { page, position } = next;
    if (addMatches(rows, first, next, (row) => matchesFilter(row, filter)))
      return { rows, hasNextPage: true };
    newestFirst.add(page.rows);
    if (newestFirst.isPast(filter.createdSinceMs)) return { rows, hasNextPage: false };
    if (rows.length >= needed) return { rows, hasNextPage: page.nextPageToken !== undefined };
    endPosition = positionAfter(page, page.rows.length - 1, position);
  }
}
