import { hash } from 'node:crypto';
import type { Page, PageQuery } from '../../rest/api-types.ts';
import { InvalidResponseError } from '../../rest/errors.ts';
import { pageTokenIgnored } from '../../rest/watch/list-watch.ts';
import { type Position, startOfList } from './cursor.ts';
import { endlessListGuard, type PageLoader } from './page-loader.ts';

/** Consecutive rows of a list, each with the position after it. */
export interface PageSlice<Row> {
  readonly rows: readonly { readonly row: Row | InvalidResponseError; readonly after: Position }[];
  readonly hasNextPage: boolean;
  /** The position behind the last row that was looked at, if later pages may have more rows of the list. */
  readonly endPosition?: Position | undefined;
}

export interface PageSliceRequest<Row, Query extends PageQuery> {
  pages: PageLoader<Row, Query>;
  query: Omit<Query, keyof PageQuery>;
  first: number;
  after: Position | undefined;
  maxPageSize: number;
  /** Selects the rows of the list, if REST cannot filter them. */
  isInList?: (row: Row) => boolean;
}

/**
 * Reads `first` rows with the fewest calls. One page has exactly the rows to skip and the rows to return. More
 * pages are read only if REST returns fewer rows. REST is assumed to accept a new page size for each page.
 * @throws InvalidResponseError if the list has no end. Errors of `pages` are passed on.
 */
export async function readPageSlice<Row extends { name: string }, Query extends PageQuery>(
  request: PageSliceRequest<Row, Query>,
): Promise<PageSlice<Row>> {
  const { first, maxPageSize, isInList } = request;
  let position = request.after ?? startOfList;
  let rowsNeeded = first;
  const checkToken = endlessListGuard(position.pageToken);
  // An invalid row may belong to the list.
  const isOfList = (row: Row | InvalidResponseError) =>
    row instanceof InvalidResponseError || isInList === undefined || isInList(row);
  const rows: { row: Row | InvalidResponseError; after: Position }[] = [];
  while (true) {
    const page = await pageAt(request, position, rowsNeeded);
    // Checked before any row is returned: with a repeated token, a client would never reach the end.
    if (page.nextPageToken !== undefined) checkToken(page.nextPageToken);
    for (let index = startIndex(page, position); index < page.rows.length; index += 1) {
      const row = page.rows[index];
      if (row === undefined || !isOfList(row)) continue;
      if (rows.length === first) return { rows, hasNextPage: true };
      rows.push({ row, after: positionAfter(page, index, position) });
    }
    if (page.nextPageToken === undefined || rows.length === first)
      return { rows, hasNextPage: page.nextPageToken !== undefined };
    position = positionAfter(page, page.rows.length - 1, position);
    // If REST cannot filter the rows, the number of pages needed is unknown, so the largest pages are read.
    rowsNeeded = isInList === undefined ? first - rows.length : maxPageSize;
  }
}

/**
 * Reads the page with this position and `rowsNeeded` rows after it. New rows above may have moved the position off
 * the page. Then the largest page is read. If that page lacks the anchor too, the anchor row counts as gone.
 */
export async function pageAt<Row extends { name: string }, Query extends PageQuery>(
  { pages, query, maxPageSize }: Pick<PageSliceRequest<Row, Query>, 'pages' | 'query' | 'maxPageSize'>,
  position: Position,
  rowsNeeded: number,
): Promise<Page<Row>> {
  const { pageToken, rowsBefore, skip, firstBefore } = position;
  // The filters and these two fields make a Query, which TypeScript cannot infer through Omit.
  const load = (pageSize: number) =>
    pages.load({ ...query, pageSize, pageToken } as unknown as Query, rowsBefore);
  const pageSize = Math.min(Math.max(skip + rowsNeeded, 1), maxPageSize);
  const page = await load(pageSize);
  if (firstBefore !== undefined && digestOf(page.rows[0]) === firstBefore)
    await checkFirstPage(page, () => {
      pages.clearAll();
      return pages.load({ ...query, pageSize } as unknown as Query);
    });
  const hasMoved = indexAfterAnchor(page, position) === undefined && page.nextPageToken !== undefined;
  return hasMoved && pageSize < maxPageSize ? load(maxPageSize) : page;
}

/**
 * Checks a page that begins with the first row of the page before. New rows above may have moved that row. But where the
 * first page of the list begins with the same row, REST has ignored the page token. Unless the row has moved up again:
 * then the next tokens differ, although REST gives the first page the same one each time, or the list has one row left.
 */
async function checkFirstPage<Row extends { name: string }>(
  page: Page<Row>,
  readFirstPage: () => Promise<Page<Row>>,
): Promise<void> {
  const firstPage = await readFirstPage();
  if (nameOf(firstPage.rows[0]) !== nameOf(page.rows[0])) return;
  const { nextPageToken } = firstPage;
  if (nextPageToken === undefined && firstPage.rows.length === 1) return;
  const differs = nextPageToken !== page.nextPageToken;
  if (differs && (await readFirstPage()).nextPageToken === nextPageToken) return;
  throw pageTokenIgnored('REST returned the first page of a list again for a page token.');
}

/** The index of the first row after the position. */
export function startIndex<Row extends { name: string }>(page: Page<Row>, position: Position): number {
  // If the anchor row has left the list, later rows moved up. A repeated row is better than a lost row.
  return indexAfterAnchor(page, position) ?? Math.max(0, position.skip - 1);
}

/** The index of the row after the anchor row, or undefined if the page lacks the anchor row. */
function indexAfterAnchor<Row extends { name: string }>(
  page: Page<Row>,
  { skip, anchor }: Position,
): number | undefined {
  if (anchor === undefined || nameOf(page.rows[skip - 1]) === anchor) return skip;
  const found = page.rows.findIndex((row) => nameOf(row) === anchor);
  return found === -1 ? undefined : found + 1;
}

export function positionAfter<Row extends { name: string }>(
  page: Page<Row>,
  index: number,
  { pageToken, rowsBefore, firstBefore }: Position,
): Position {
  const isLast = index === page.rows.length - 1;
  if (isLast && page.nextPageToken !== undefined) {
    const rowsBeforeNext = rowsBefore + page.rows.length;
    const nextPage = {
      pageToken: page.nextPageToken,
      rowsBefore: rowsBeforeNext,
      skip: 0,
      anchor: undefined,
    };
    return { ...nextPage, firstBefore: digestOf(page.rows[0]) };
  }
  return { pageToken, rowsBefore, skip: index + 1, anchor: nameOf(page.rows[index]), firstBefore };
}

/** The resource name of a row. Undefined for an invalid row, whose `name` is the name of its error class. */
function nameOf<Row extends { name: string }>(
  row: Row | InvalidResponseError | undefined,
): string | undefined {
  return row instanceof InvalidResponseError ? undefined : row?.name;
}

/** Short, because each cursor holds one. */
function digestOf<Row extends { name: string }>(
  row: Row | InvalidResponseError | undefined,
): string | undefined {
  const name = nameOf(row);
  return name === undefined ? undefined : hash('sha256', name, 'base64url').slice(0, 8);
}
