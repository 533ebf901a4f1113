import DataLoader from 'dataloader';
import type { Page, PageQuery } from '../../rest/api-types.ts';
import { InvalidResponseError } from '../../rest/errors.ts';
import type { RecordLoader } from '../record-loader.ts';

/** Loads pages of one list. Equal queries of an operation share one call. */
export interface PageLoader<Row, Query extends PageQuery> {
  /** @param rowsBefore The number of list rows before the page, if known. */
  load(query: Query, rowsBefore?: number): Promise<Page<Row>>;
  /** Forgets a page, so that the next load reads it again. */
  clear(query: Query): void;
  /** Forgets all pages. */
  clearAll(): void;
}

// More pages than any list needs at its largest page size. A list without an end must not hold a request forever.
const maxPages = 100;

/** Creates a loader over a list endpoint. The rows prime `byName`, so that their records need no GET. */
export function pageLoader<Row extends { name: string }, Query extends PageQuery>(
  list: (query: Query) => Promise<Page<Row>>,
  byName?: RecordLoader<Row>,
): PageLoader<Row, Query> {
  return new ListLoader(list, byName);
}

class ListLoader<Row extends { name: string }, Query extends PageQuery> implements PageLoader<Row, Query> {
  readonly #list: (query: Query) => Promise<Page<Row>>;
  readonly #byName: RecordLoader<Row> | undefined;
  readonly #loader = new DataLoader<KeyedQuery<Query>, Page<Row>, string>(
    (queries) => this.#loadBatch(queries),
    { cacheKeyFn: keyOf },
  );
  // Counts invalidations. A page requested before a write must not prime records after the write.
  #generation = 0;

  constructor(list: (query: Query) => Promise<Page<Row>>, byName: RecordLoader<Row> | undefined) {
    this.#list = list;
    this.#byName = byName;
  }

  load(query: Query): Promise<Page<Row>> {
    return this.#loader.load({ key: queryKey(query), query });
  }

  clear(query: Query): void {
    this.#loader.clear({ key: queryKey(query), query });
  }

  clearAll(): void {
    this.#generation += 1;
    this.#loader.clearAll();
  }

  #loadBatch(queries: readonly KeyedQuery<Query>[]): Promise<(Page<Row> | Error)[]> {
    const pages = queries.map(({ query }) => this.#readPage(query).catch((error: Error) => error));
    return Promise.all(pages);
  }

  async #readPage(query: Query): Promise<Page<Row>> {
    const generation = this.#generation;
    const page = await this.#list(query);
    if (this.#generation === generation) this.#byName?.prime(page.rows);
    return page;
  }
}

interface KeyedQuery<Query> {
  key: string;
  query: Query;
}

function keyOf({ key }: KeyedQuery<unknown>): string {
  return key;
}

/** Yields the pages of a list from `query` on. @throws InvalidResponseError if the list has no end. */
export async function* pagesFrom<Row, Query extends PageQuery>(
  loader: Pick<PageLoader<Row, Query>, 'load'>,
  query: Query,
): AsyncGenerator<Page<Row>> {
  const guard = createEndlessListGuard(query.pageToken);
  let next = query;
  while (true) {
    const page = await loader.load(next);
    yield page;
    if (page.nextPageToken === undefined) return;
    guard.check(page.nextPageToken);
    next = { ...next, pageToken: page.nextPageToken };
  }
}

/** All valid records of a list from `query` on. @throws InvalidResponseError if the list has no end. */
export async function allRecords<Row, Query extends PageQuery>(
  loader: PageLoader<Row, Query>,
  query: Query,
): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const page of pagesFrom(loader, query)) rows.push(...records(page));
  return rows;
}

/** The first record from `query` on that matches, or null. Reads no page after the first match. */
export async function firstRecord<Row, Query extends PageQuery>(
  loader: PageLoader<Row, Query>,
  query: Query,
  matches: (row: Row) => boolean,
): Promise<Row | null> {
  for await (const page of pagesFrom(loader, query)) {
    const row = records(page).find(matches);
    if (row !== undefined) return row;
  }
  return null;
}

/** Creates a guard against a list without an end. `startToken` is the token of the first page read. */
export function createEndlessListGuard(startToken: string | undefined) {
  const seen = new Set([startToken]);
  return {
    /** @throws InvalidResponseError if a token repeats, or after 100 pages. */
    check(nextToken: string): void {
      if (seen.has(nextToken))
        throw new InvalidResponseError('A list repeats a page token, so it has no end');
      if (seen.size >= maxPages)
        throw new InvalidResponseError(`A list has not ended after ${maxPages} pages`);
      seen.add(nextToken);
    },
  };
}

/** The rows of a page without the invalid ones. */
function records<Row>(page: Page<Row>): Row[] {
  return page.rows.filter((row): row is Row => !(row instanceof InvalidResponseError));
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
