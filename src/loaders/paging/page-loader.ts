import DataLoader from 'dataloader';
import { InvalidResponseError } from '../../rest/errors.ts';
import type { Page, PageQuery } from '../../rest/types.ts';
import { createFieldPathLog } from '../field-path-log.ts';
import type { RecordLoader } from '../record-loader.ts';

/** Pages of one list: the same query within an operation is one call. */
export interface PageLoader<Row, Query extends PageQuery> {
  /** `rowsBefore` says how many rows of the list come before the page, where that is known. */
  load(query: Query, rowsBefore?: number): Promise<Page<Row>>;
  /** Forgets a page, so that it is asked for anew. */
  clear(query: Query): void;
  /** Forgets every page, so that it is asked for anew. */
  clearAll(): void;
}

// More than any list needs at its largest page size; a list without end must not hold a request for ever.
const maxPages = 100;

/** A loader over a list endpoint. Rows that have a get endpoint too are handed to `byName`, which then asks no more. */
export function pageLoader<Row extends { name: string }, Query extends PageQuery>(
  list: (query: Query) => Promise<Page<Row>>,
  byName?: RecordLoader<Row>,
): PageLoader<Row, Query> {
  return new ListLoader(list, byName);
}

class ListLoader<Row extends { name: string }, Query extends PageQuery> implements PageLoader<Row, Query> {
  readonly #list: (query: Query) => Promise<Page<Row>>;
  readonly #byName: RecordLoader<Row> | undefined;
  readonly #fieldPaths = createFieldPathLog();
  readonly #loader = new DataLoader<KeyedQuery<Query>, Page<Row>, string>(
    (queries) => this.#loadBatch(queries),
    { cacheKeyFn: keyOf },
  );
  // What was asked for before a write may be answered as it was before it, and must not be remembered after it.
  #generation = 0;

  constructor(list: (query: Query) => Promise<Page<Row>>, byName: RecordLoader<Row> | undefined) {
    this.#list = list;
    this.#byName = byName;
  }

  load(query: Query): Promise<Page<Row>> {
    const key = queryKey(query);
    this.#fieldPaths.note(key);
    return this.#loader.load({ key, query });
  }

  clear(query: Query): void {
    const key = queryKey(query);
    this.#fieldPaths.forget(key);
    this.#loader.clear({ key, query });
  }

  clearAll(): void {
    this.#generation += 1;
    this.#fieldPaths.forget();
    this.#loader.clearAll();
  }

  #loadBatch(queries: readonly KeyedQuery<Query>[]): Promise<(Page<Row> | Error)[]> {
    const pages = queries.map(({ key, query }) =>
      this.#fieldPaths.runForKeys([key], () => this.#readPage(query)).catch((error: Error) => error),
    );
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

/** The pages of a list from `query` on, one after the other. @throws InvalidResponseError when they don't end. */
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

/** Every record of a list from `query` on. */
export async function allRecords<Row, Query extends PageQuery>(
  loader: PageLoader<Row, Query>,
  query: Query,
): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const page of pagesFrom(loader, query)) rows.push(...records(page));
  return rows;
}

/** The first record from `query` on that fits, or null. Reads no page beyond the one that holds it. */
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

/** Watches one walk through a list, from the page token that it starts with. */
export function createEndlessListGuard(startToken: string | undefined) {
  const seen = new Set([startToken]);
  return {
    /** @throws InvalidResponseError when a token comes again, or the walk is longer than any list should be. */
    check(nextToken: string): void {
      if (seen.has(nextToken))
        throw new InvalidResponseError('A list repeats a page token, so it has no end');
      if (seen.size >= maxPages)
        throw new InvalidResponseError(`A list has not ended after ${maxPages} pages`);
      seen.add(nextToken);
    },
  };
}

/** A page's rows without the broken ones. */
function records<Row>(page: Page<Row>): Row[] {
  return page.rows.filter((row): row is Row => !(row instanceof InvalidResponseError));
}

/** The same text for the same query, whatever the order of its fields: a JSON list of their names and values. */
export function queryKey(query: object): string {
  let fields = '';
  for (const name of Object.keys(query).sort()) {
    const value: unknown = Reflect.get(query, name);
    if (value !== undefined) fields += `${fields === '' ? '' : ','}["${name}",${JSON.stringify(value)}]`;
  }
  return `[${fields}]`;
}
