import { PageLoader } from '../../../src/loaders/paging/page-loader.ts';
import type { RecordLoader } from '../../../src/loaders/record-loader.ts';
import type { Page, PageQuery } from '../../../src/rest/api-types.ts';
import type { InvalidResponseError } from '../../../src/rest/errors.ts';

export interface Row {
  name: string;
}

/** A list in memory, paged by key as REST does: a token names the last row given. */
export interface List {
  rows: (Row | InvalidResponseError)[];
  /** The queries that came, in order, each as `20` or `20@token`. */
  queries: string[];
  /** Creates the loader of a new operation. By default, a page has at most ten rows. */
  pages(maxPageSize?: number): PageLoader<Row, PageQuery>;
}

/** A list of rows named `r1` to `r<count>`. For a query of `pageSize` rows, it returns `givenRows(pageSize)` rows. */
export function createList(count: number, givenRows = (pageSize: number) => pageSize): List {
  const list: List = {
    rows: named(...Array.from({ length: count }, (_, index) => `r${index + 1}`)),
    queries: [],
    pages: (maxPageSize = 10) =>
      new PageLoader(async ({ pageSize, pageToken }: PageQuery): Promise<Page<Row>> => {
        list.queries.push(pageToken === undefined ? `${pageSize}` : `${pageSize}@${pageToken}`);
        const start = pageToken === undefined ? 0 : list.rows.findIndex((row) => row.name === pageToken) + 1;
        const rows = list.rows.slice(start, start + givenRows(pageSize));
        const isLast = start + rows.length >= list.rows.length;
        return { rows, nextPageToken: isLast ? undefined : (rows.at(-1)?.name ?? pageToken) };
      }, maxPageSize),
  };
  return list;
}

export function named(...names: string[]): Row[] {
  return names.map((name) => ({ name }));
}

/** A loader that returns scripted pages for any query, and counts its calls. */
export function scripted(pageOf: (token: string | undefined, call: number) => Page<Row>) {
  let calls = 0;
  const pages = new PageLoader(async ({ pageToken }: PageQuery) => {
    calls += 1;
    return pageOf(pageToken, calls);
  }, 10);
  return { pages, calls: () => calls };
}

/** What a loader has for each name: the record, null, or the error. */
export function loadAll<Json>(loader: RecordLoader<Json>, names: string[]): Promise<(Json | null | Error)[]> {
  return Promise.all(names.map((name) => loader.load(name).catch((error: Error) => error)));
}
