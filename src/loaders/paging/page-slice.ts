import { InvalidResponseError } from '../../rest/errors.ts';
import type { Page, PageQuery } from '../../rest/types.ts';
import type { Position } from './cursor.ts';
import { createEndlessListGuard, type PageLoader } from './page-loader.ts';

/** A stretch of a list. */
export interface PageSlice<Row> {
  readonly rows: readonly (Row | InvalidResponseError)[];
  readonly hasNextPage: boolean;
  /** The place after the row of this index, worked out when it is asked for. */
  placeAfter(index: number): Position;
}

export interface PageSliceRequest<Row, Query extends PageQuery> {
  pages: PageLoader<Row, Query>;
  /** The list's filters. */
  query: Omit<Query, keyof PageQuery>;
  /** How many rows are wanted, at least 0. */
  first: number;
  /** Where to go on; undefined for the start of the list. */
  after: Position | undefined;
  /** The most rows that REST gives in one page. */
  maxPageSize: number;
  /** Which of the rows belong to the list, where REST can't be asked for just those. */
  belongs?: (row: Row) => boolean;
}

/**
 * Reads `first` rows with the fewest calls: one page of just the rows wanted and those to skip, and more pages only
 * where REST gives fewer. Rests on REST letting the page size change from one page to the next.
 * @throws InvalidResponseError when the list has no end, and what `pages` throws.
 */
export async function readPageSlice<Row extends { name: string }, Query extends PageQuery>(
  request: PageSliceRequest<Row, Query>,
): Promise<PageSlice<Row>> {
  const { first, maxPageSize, belongs } = request;
  let position = request.after ?? { pageToken: undefined, rowsBefore: 0, skip: 0, anchor: undefined };
  const guard = createEndlessListGuard(position.pageToken);
  const slice = new LoadedSlice<Row>();
  const { rows } = slice;
  // A broken row may be one of the list's.
  const isOfList = (row: Row | InvalidResponseError) =>
    row instanceof InvalidResponseError || belongs === undefined || belongs(row);
  let rowsNeeded = first;
  while (true) {
    const page = await pageAt(request, position, rowsNeeded);
    // Before anything is given out: with a token that leads nowhere, a client would go in circles.
    if (page.nextPageToken !== undefined) guard.check(page.nextPageToken);
    let hasNextPage = page.nextPageToken !== undefined;
    for (let index = startIndex(page, position); index < page.rows.length; index += 1) {
      const row = page.rows[index];
      if (row === undefined || !isOfList(row)) continue;
      if (rows.length === first) {
        hasNextPage = true;
        break;
      }
      slice.push(row, index);
    }
    slice.endPage(page, position);
    if (rows.length === first && hasNextPage) {
      slice.hasNextPage = true;
      return slice;
    }
    if (page.nextPageToken === undefined) return slice;
    position = positionAfter(page, page.rows.length - 1, position);
    // Where REST can't be asked for the list's rows alone, nobody knows how many pages hold enough of them.
    rowsNeeded = belongs === undefined ? first - rows.length : maxPageSize;
  }
}

/** A class that notes numbers, as few lists are asked for the places of their rows. */
class LoadedSlice<Row extends { name: string }> implements PageSlice<Row> {
  readonly rows: (Row | InvalidResponseError)[] = [];
  hasNextPage = false;
  /** Which row of its page each row is. */
  readonly #indices: number[] = [];
  /** `end`: how many rows there were with it. */
  readonly #pages: { page: Page<Row>; position: Position; end: number }[] = [];

  push(row: Row | InvalidResponseError, index: number): void {
    this.rows.push(row);
    this.#indices.push(index);
  }

  /** The rows since the last page were those of this one, which was read at `position`. */
  endPage(page: Page<Row>, position: Position): void {
    this.#pages.push({ page, position, end: this.rows.length });
  }

  placeAfter(index: number): Position {
    const pageRead = this.#pages.find(({ end }) => index < end);
    const indexInPage = this.#indices[index];
    if (pageRead === undefined || indexInPage === undefined) throw new RangeError(`no row ${index}`);
    return positionAfter(pageRead.page, indexInPage, pageRead.position);
  }
}

/**
 * The page with this place and `wantedRows` rows after it. Where so many rows came in above that the place has moved out
 * of it, the largest page there is; what is not even in that is taken to be gone.
 */
async function pageAt<Row extends { name: string }, Query extends PageQuery>(
  { pages, query, maxPageSize }: PageSliceRequest<Row, Query>,
  position: Position,
  rowsNeeded: number,
): Promise<Page<Row>> {
  const { pageToken, rowsBefore, skip } = position;
  // The query is the filters and these two fields, which TypeScript can't see through Omit.
  const load = (pageSize: number) =>
    pages.load({ ...query, pageSize, pageToken } as unknown as Query, rowsBefore);
  const pageSize = Math.min(Math.max(skip + rowsNeeded, 1), maxPageSize);
  const page = await load(pageSize);
  const hasMoved = indexAfterAnchor(page, position) === undefined && page.nextPageToken !== undefined;
  return hasMoved && pageSize < maxPageSize ? load(maxPageSize) : page;
}

/** The index at which to go on. */
function startIndex<Row extends { name: string }>(page: Page<Row>, position: Position): number {
  // Once the anchor has left the list, those after it have moved up: better that a row comes twice than not at all.
  return indexAfterAnchor(page, position) ?? Math.max(0, position.skip - 1);
}

/** The index of the row after this place, or undefined where the row before it is not on the page. */
function indexAfterAnchor<Row extends { name: string }>(
  page: Page<Row>,
  { skip, anchor }: Position,
): number | undefined {
  if (anchor === undefined || nameOf(page.rows[skip - 1]) === anchor) return skip;
  const found = page.rows.findIndex((row) => nameOf(row) === anchor);
  return found === -1 ? undefined : found + 1;
}

function positionAfter<Row extends { name: string }>(
  page: Page<Row>,
  index: number,
  { pageToken, rowsBefore }: Position,
): Position {
  const isLast = index === page.rows.length - 1;
  if (isLast && page.nextPageToken !== undefined) {
    const rowsBeforeNext = rowsBefore + page.rows.length;
    return { pageToken: page.nextPageToken, rowsBefore: rowsBeforeNext, skip: 0, anchor: undefined };
  }
  return { pageToken, rowsBefore, skip: index + 1, anchor: nameOf(page.rows[index]) };
}

/** A broken row has no name; as an error it has one of another sort. */
function nameOf<Row extends { name: string }>(
  row: Row | InvalidResponseError | undefined,
): string | undefined {
  return row instanceof InvalidResponseError ? undefined : row?.name;
}
