import type { PageQuery } from '../../rest/api-types.ts';
import { InvalidResponseError } from '../../rest/errors.ts';
import type { Position } from './cursor.ts';
import type { Pages } from './page-loader.ts';
import { type Filters, indexAfter, PageWalk, positionAfter, type ReadPage } from './page-walk.ts';

/** Consecutive rows of a list, each with the position after it. */
export interface PageSlice<Row> {
  readonly rows: readonly PlacedRow<Row>[];
  readonly hasNextPage: boolean;
  /** The position behind the last row that was looked at, if later pages may have more rows of the list. */
  readonly endPosition?: Position | undefined;
}

export interface PlacedRow<Row> {
  /** An error where the row is invalid, or where its place in a filtered list can't be found out. */
  readonly row: Row | Error;
  readonly after: Position;
}

/**
 * Reads `first` rows with the fewest calls. One page has exactly the rows to skip and the rows to return. More
 * pages are read only if REST returns fewer rows. REST is assumed to accept a new page size for each page.
 * @param isInList selects the rows of the list, if REST cannot filter them
 * @throws InvalidResponseError if the list has no end, and ScanBudgetExceededError if `isInList` selects too few rows.
 * Errors of `pages` are passed on.
 */
export async function readPageSlice<Row extends { name: string }, Query extends PageQuery>(
  pages: Pages<Row, Query>,
  filters: Filters<Query>,
  first: number,
  after: Position | undefined,
  isInList?: (row: Row) => boolean,
): Promise<PageSlice<Row>> {
  const walk = new PageWalk(pages, filters, after);
  // An invalid row may belong to the list.
  const isOfList = (row: Row | InvalidResponseError) =>
    row instanceof InvalidResponseError || isInList === undefined || isInList(row);
  const rows: PlacedRow<Row>[] = [];
  let rowsNeeded = first;
  while (true) {
    const read = await walk.next(rowsNeeded, isInList !== undefined);
    if (addMatches(rows, first, read, isOfList)) return { rows, hasNextPage: true };
    const isAtEnd = read.page.nextPageToken === undefined;
    if (isAtEnd || rows.length === first) return { rows, hasNextPage: !isAtEnd };
    // If REST cannot filter the rows, the number of pages needed is unknown, so the largest pages are read. Two rows with
    // another status than requested show that REST does not know the filter.
    rowsNeeded = isInList === undefined ? Math.max(first - rows.length, 2) : pages.maxPageSize;
  }
}

/** Adds the matching rows of a page until there are `first`. @returns whether the page has a further one. */
export function addMatches<Row extends { name: string }>(
  rows: PlacedRow<Row>[],
  first: number,
  { page, position }: ReadPage<Row>,
  matches: (row: Row | InvalidResponseError) => boolean,
): boolean {
  // Without the rows around the position, all rows before may have left too. A repeated row is better than a lost row.
  for (let index = indexAfter(page, position) ?? 0; index < page.rows.length; index += 1) {
    const row = page.rows[index];
    if (row === undefined || !matches(row)) continue;
    if (rows.length === first) return true;
    rows.push({ row, after: positionAfter(page, index, position) });
  }
  return false;
}
