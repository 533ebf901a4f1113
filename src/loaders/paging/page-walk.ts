import type { Page, PageQuery } from '../../rest/api-types.ts';
import { InvalidResponseError } from '../../rest/errors.ts';
import { pageTokenIgnored } from '../../rest/watch/parameter-watch.ts';
import { type Position, startOfList } from './cursor.ts';
import type { Pages } from './page-loader.ts';

/** The filters of a list that REST knows. */
export type Filters<Query extends PageQuery> = Omit<Query, keyof PageQuery>;

/** A page and the position at which it was read. */
export interface ReadPage<Row> {
  page: Page<Row>;
  position: Position;
}

/** A page with more rows to skip is a scanned page. A page of unfiltered rows for a client has no more rows. */
const maxFreeSkip = 100;

/** Reads the pages of a list one after the other, from a position on. */
export class PageWalk<Row extends { name: string }, Query extends PageQuery> {
  readonly #pages: Pages<Row, Query>;
  readonly #filters: Filters<Query>;
  readonly #tokens = new Set<string | undefined>();
  /** The position after the latest page. */
  position: Position;

  constructor(pages: Pages<Row, Query>, filters: Filters<Query>, start = startOfList) {
    this.#pages = pages;
    this.#filters = filters;
    this.position = start;
  }

  /**
   * Reads the next page, with `rowsNeeded` rows after its position. Call it only while the last page has a token.
   * @param isSearch whether the number of pages is unknown. Then each page after the first one is a scanned page.
   * @throws InvalidResponseError if REST ignores or repeats page tokens, and ScanBudgetExceededError
   */
  async next(rowsNeeded: number, isSearch = false): Promise<ReadPage<Row>> {
    const position = this.position;
    const isFurther = isSearch && this.#tokens.size > 0;
    this.#tokens.add(position.pageToken);
    const page = await this.#read(position, rowsNeeded, isFurther);
    // Checked before any row is returned: with a repeated token, a client would never reach the end.
    const { nextPageToken } = page;
    if (nextPageToken !== undefined && this.#tokens.has(nextPageToken))
      throw pageTokenIgnored(
        page.tokenWatch,
        'The REST service repeated a page token, so the list has no end.',
      );
    this.position = positionAfter(page, page.rows.length - 1, position);
    return { page, position };
  }

  /**
   * New rows above may have moved the position off the page. Then the largest page is read. If that page lacks the rows
   * around the position too, these rows count as gone. It counts as a scanned page.
   */
  async #read(position: Position, rowsNeeded: number, isFurther: boolean): Promise<Page<Row>> {
    const { maxPageSize } = this.#pages;
    const { pageToken, rowsBefore, skip, firstBefore } = position;
    const pageSize = Math.min(Math.max(skip + rowsNeeded, 1), maxPageSize);
    // A cursor of a filtered list, or one that a client has made up. Its document counts only the rows to return.
    const isLarge = skip > maxFreeSkip;
    const page = await (isFurther || isLarge
      ? this.#pages.loadFurther(this.#query({ pageSize, pageToken }), rowsBefore)
      : this.#pages.load(this.#query({ pageSize, pageToken }), rowsBefore));
    const firstRow = rowKey(page.rows[0]);
    // `firstBefore` is the first row of the page before: a page that begins with it may be that page again.
    if (firstBefore !== undefined && firstRow === firstBefore)
      await this.#checkFirstPage(firstBefore, page, { pageSize, pageToken });
    else if (firstBefore !== undefined && firstRow !== undefined) page.tokenWatch?.followed();
    const mayHaveMoved = page.nextPageToken !== undefined && pageSize < maxPageSize;
    if (!mayHaveMoved || indexAfter(page, position) !== undefined) return page;
    return this.#pages.loadFurther(this.#query({ pageSize: maxPageSize, pageToken }), rowsBefore);
  }

  /**
   * Checks a page that begins with the first row of the page before. New rows above may have moved that row, or the list
   * has it twice. REST has ignored the page token only if both of these hold:
   * - The list begins with that row now, and has more rows than this one.
   * - This page and the first page of the list have the same next token. A service may give each response a new token.
   *   Then the rows of both pages are compared instead, read as the largest pages.
   * A client can make up a cursor that needs this check, so each read is a scanned page.
   * @throws InvalidResponseError if REST has ignored the page token, and ScanBudgetExceededError
   */
  async #checkFirstPage(
    firstRow: string,
    { nextPageToken: tokenAfterPage, tokenWatch }: Page<Row>,
    query: PageQuery,
  ): Promise<void> {
    const readFirstPage = (pageSize = query.pageSize) => {
      this.#pages.clearAll();
      return this.#pages.loadFurther(this.#query({ pageSize }));
    };
    const { rows, nextPageToken: tokenAfterFirst } = await readFirstPage();
    if (rowKey(rows[0]) !== firstRow || (tokenAfterFirst === undefined && rows.length === 1)) return;
    if (tokenAfterFirst !== tokenAfterPage) {
      // Where the first page has an equal token twice, different tokens are those of different pages.
      if ((await readFirstPage()).nextPageToken === tokenAfterFirst) return;
      const pageSize = this.#pages.maxPageSize;
      const firstKeys = rowKeys(await readFirstPage(pageSize));
      const laterKeys = rowKeys(await this.#pages.loadFurther(this.#query({ ...query, pageSize })));
      if (firstKeys !== laterKeys) return;
    }
    const detail = 'For a page token, the REST service returned the first page of the list again.';
    throw pageTokenIgnored(tokenWatch, detail);
  }

  #query(page: PageQuery): Query {
    // Both together are a Query, which TypeScript cannot infer through Omit.
    return { ...this.#filters, ...page } as unknown as Query;
  }
}

/**
 * Yields the pages of a list, as large as possible. Each page after the first one is a scanned page.
 * @param firstPageRows the rows of the first page, which costs only the points of its field
 * @throws the errors of `PageWalk.next`: without its last page, nobody knows what a list lacks
 */
export async function* pagesFrom<Row extends { name: string }, Query extends PageQuery>(
  pages: Pages<Row, Query>,
  filters: Filters<Query>,
  firstPageRows = pages.maxPageSize,
): AsyncGenerator<Page<Row>> {
  const walk = new PageWalk(pages, filters);
  let { page } = await walk.next(firstPageRows, true);
  yield page;
  while (page.nextPageToken !== undefined) {
    ({ page } = await walk.next(pages.maxPageSize, true));
    yield page;
  }
}

/** All valid records of a list. @throws the errors of `PageWalk.next` */
export async function allRecords<Row extends { name: string }, Query extends PageQuery>(
  pages: Pages<Row, Query>,
  filters: Filters<Query>,
  firstPageRows?: number,
): Promise<Row[]> {
  const rows = await Array.fromAsync(pagesFrom(pages, filters, firstPageRows), (page) => page.rows);
  return rows.flat().filter((row): row is Row => !(row instanceof InvalidResponseError));
}

/**
 * The index of the first row after the position (docs/design/how-lists-are-read.md#cursors). Undefined if the page
 * lacks both rows around the position.
 */
export function indexAfter({ rows }: Page<{ name: string }>, { skip, anchor, next }: Position) {
  if (anchor === undefined && next === undefined) return skip;
  if (anchor !== undefined && rowKey(rows[skip - 1]) === anchor) return skip;
  const indexOf = (key: string | undefined) =>
    key === undefined ? -1 : rows.findIndex((row) => rowKey(row) === key);
  // Clients change the rows that they have, so the next row has seldom moved.
  const nextIndex = indexOf(next);
  if (nextIndex !== -1) return nextIndex;
  const anchorIndex = indexOf(anchor);
  return anchorIndex === -1 ? undefined : anchorIndex + 1;
}

/** The position after the row with this index in a page. */
export function positionAfter(
  { rows, nextPageToken }: Page<{ name: string }>,
  index: number,
  { pageToken, rowsBefore, firstBefore }: Position,
): Position {
  const [anchor, next] = [rowKey(rows[index]), rowKey(rows[index + 1])];
  if (index < rows.length - 1 || nextPageToken === undefined)
    return { pageToken, rowsBefore, skip: index + 1, anchor, firstBefore, next };
  const start = { ...startOfList, pageToken: nextPageToken, rowsBefore: rowsBefore + rows.length };
  return { ...start, firstBefore: rowKey(rows[0]) };
}

/**
 * What tells a row from the other rows of its list: its resource name. A template has a plain name, with a row for each
 * language ("Template"). Undefined for an invalid row, whose `name` is the name of its error class.
 */
function rowKey(row: { name: string; language?: unknown } | InvalidResponseError | undefined) {
  if (row === undefined || row instanceof InvalidResponseError) return undefined;
  return typeof row.language === 'string' ? `${row.language} ${row.name}` : row.name;
}

/** Equal for pages of the same rows. */
function rowKeys({ rows }: Page<{ name: string }>): string {
  return JSON.stringify(rows.map((row) => rowKey(row)));
}
