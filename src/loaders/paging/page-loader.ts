import DataLoader from 'dataloader';
import type { Page, PageQuery } from '../../rest/api-types.ts';
import { InvalidResponseError } from '../../rest/errors.ts';
import { pageTokenIgnored } from '../../rest/watch/list-watch.ts';
import type { RecordLoader } from '../record-loader.ts';

/** Loads pages of one list. Equal queries of an operation share one call. */
export interface PageLoader<Row, Query extends PageQuery> {
  /** @param rowsBefore The number of list rows before the page, if known. */
  load(query: Query, rowsBefore?: number): Promise<Page<Row>>;
  /** Forgets all pages, so that the next load reads them again. */
  clearAll(): void;
}

// More pages than any list needs at its largest page size. A list without an end must not hold a request forever.
const maxPages = 100;

/** Creates a loader over a list endpoint. The rows prime `byName`, so that their records need no GET. */
export function pageLoader<Row extends { name: string }, Query extends PageQuery>(
  list: (query: Query) => Promise<Page<Row>>,
  byName?: RecordLoader<Row>,
): PageLoader<Row, Query> {
  async function readPage(query: Query): Promise<Page<Row>> {
    const generation = byName?.generation ?? 0;
    const page = await list(query);
    byName?.prime(page.rows, generation);
    return page;
  }

  return new DataLoader<Query, Page<Row>, string>(
    (queries) => Promise.all(queries.map((query) => readPage(query).catch((error: Error) => error))),
    { cacheKeyFn: queryKey },
  );
}

/** Yields the pages of a list from `query` on. @throws InvalidResponseError if the list has no end. */
export async function* pagesFrom<Row, Query extends PageQuery>(
  loader: Pick<PageLoader<Row, Query>, 'load'>,
  query: Query,
): AsyncGenerator<Page<Row>> {
  const checkToken = endlessListGuard(query.pageToken);
  let next = query;
  while (true) {
    const page = await loader.load(next);
    yield page;
    if (page.nextPageToken === undefined) return;
    checkToken(page.nextPageToken);
    next = { ...next, pageToken: page.nextPageToken };
  }
}

/** All valid records of a list from `query` on. @throws InvalidResponseError if the list has no end. */
export async function allRecords<Row, Query extends PageQuery>(
  loader: PageLoader<Row, Query>,
  query: Query,
): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const page of pagesFrom(loader, query)) {
    rows.push(...page.rows.filter((row): row is Row => !(row instanceof InvalidResponseError)));
  }
  return rows;
}

/**
 * Creates a check of the next page's token, from the token of the first page on. The check throws an InvalidResponseError
 * if a token repeats, or after 100 pages.
 */
export function endlessListGuard(startToken: string | undefined): (nextToken: string) => void {
  const seen = new Set([startToken]);
  return (nextToken) => {
    if (seen.has(nextToken)) throw pageTokenIgnored('A list repeats a page token, so it has no end.');
    if (seen.size >= maxPages) throw new InvalidResponseError(`A list has not ended after ${maxPages} pages`);
    seen.add(nextToken);
  };
}

/** A key that is equal for equal queries in any field order: a JSON array of names and values. */
export function queryKey(query: object): string {
  let fields = '';
  for (const name of Object.keys(query).sort()) {
    const value: unknown = Reflect.get(query, name);
    if (value !== undefined) fields += `${fields === '' ? '' : ','}["${name}",${JSON.stringify(value)}]`;
  }
  return `[${fields}]`;
}
