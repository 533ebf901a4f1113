import type { InvalidResponseError } from '../rest/errors.ts';
import type { Page, PageQuery } from '../rest/types.ts';
import type { Position } from './cursor.ts';
import { createEndOfList, type PageLoader } from './page-loader.ts';

/** A stretch of a list: its rows, each with the place after it. */
export interface Window<Row> {
  rows: { row: Row | InvalidResponseError; after: Position }[];
  hasNextPage: boolean;
}

export interface WindowRequest<Row, Query extends PageQuery> {
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
 */
export async function readWindow<Row extends { name: string }, Query extends PageQuery>(
  request: WindowRequest<Row, Query>,
): Promise<Window<Row>> {
  const { first, belongs = () => true } = request;
  let position = request.after ?? { pageToken: undefined, skip: 0, anchor: undefined };
  const end = createEndOfList(position.pageToken);
  const rows: Window<Row>['rows'] = [];
  while (true) {
    const page = await pageAt(request, position, first - rows.length);
    let index = startOf(page, position) ?? position.skip;
    for (; index < page.rows.length && rows.length < first; index += 1) {
      const row = page.rows[index];
      if (row === undefined || (!(row instanceof Error) && !belongs(row))) continue;
      rows.push({ row, after: placeAfter(page, index, position.pageToken) });
    }
    if (rows.length === first && (index < page.rows.length || page.nextPageToken !== undefined)) {
      return { rows, hasNextPage: true };
    }
    if (page.nextPageToken === undefined) return { rows, hasNextPage: false };
    end.expect(page.nextPageToken);
    position = { pageToken: page.nextPageToken, skip: 0, anchor: undefined };
  }
}

/**
 * The page with this place and `wanted` rows after it. Where so many rows came in above that the place has moved out of
 * it, the largest page there is; what is not even in that is taken to be gone.
 */
async function pageAt<Row extends { name: string }, Query extends PageQuery>(
  { pages, query, maxPageSize }: WindowRequest<Row, Query>,
  position: Position,
  wanted: number,
): Promise<Page<Row>> {
  const { pageToken, skip } = position;
  // The query is the filters and these two fields, which TypeScript can't see through Omit.
  const load = (pageSize: number) => pages.load({ ...query, pageSize, pageToken } as unknown as Query);
  const pageSize = Math.min(Math.max(skip + wanted, 1), maxPageSize);
  const page = await load(pageSize);
  const hasMoved = startOf(page, position) === undefined && page.nextPageToken !== undefined;
  return hasMoved && pageSize < maxPageSize ? load(maxPageSize) : page;
}

/** The index of the row after this place, or undefined where the row before it is not on the page. */
function startOf<Row extends { name: string }>(
  page: Page<Row>,
  { skip, anchor }: Position,
): number | undefined {
  if (anchor === undefined || nameOf(page.rows[skip - 1]) === anchor) return skip;
  const found = page.rows.findIndex((row) => nameOf(row) === anchor);
  return found === -1 ? undefined : found + 1;
}

function placeAfter<Row extends { name: string }>(
  page: Page<Row>,
  index: number,
  pageToken: string | undefined,
): Position {
  const isLast = index === page.rows.length - 1;
  if (isLast && page.nextPageToken !== undefined) {
    return { pageToken: page.nextPageToken, skip: 0, anchor: undefined };
  }
  return { pageToken, skip: index + 1, anchor: nameOf(page.rows[index]) };
}

function nameOf(row: { name: string } | InvalidResponseError | undefined): string | undefined {
  return row instanceof Error ? undefined : row?.name;
}
