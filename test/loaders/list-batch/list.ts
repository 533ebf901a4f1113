import { type PageLoader, pageLoader } from '../../../src/loaders/paging/page-loader.ts';
import type { RecordLoader } from '../../../src/loaders/record-loader.ts';
import type { InvalidResponseError } from '../../../src/rest/errors.ts';
import type { Page, PageQuery } from '../../../src/rest/types.ts';

export interface Row {
  name: string;
}

/** A list in memory, paged by key as REST does: a token names the last row given. */
export interface List {
  rows: (Row | InvalidResponseError)[];
  /** The queries that came, in order, each as `20` or `20@token`. */
  queries: string[];
  /** A loader of a new operation, which remembers nothing. */
  pages(): PageLoader<Row, PageQuery>;
}

/** A list of rows named `r1` to `r<count>`. `givenRows` is how many rows it gives when asked for `pageSize`. */
export function createList(count: number, givenRows = (pageSize: number) => pageSize): List {
  const list: List = {
    rows: named(...Array.from({ length: count }, (_, index) => `r${index + 1}`)),
    queries: [],
    pages: () =>
      pageLoader(async ({ pageSize, pageToken }: PageQuery): Promise<Page<Row>> => {
        list.queries.push(pageToken === undefined ? `${pageSize}` : `${pageSize}@${pageToken}`);
        const start = pageToken === undefined ? 0 : list.rows.findIndex((row) => row.name === pageToken) + 1;
        const rows = list.rows.slice(start, start + givenRows(pageSize));
        const isLast = start + rows.length >= list.rows.length;
        return { rows, nextPageToken: isLast ? undefined : (rows.at(-1)?.name ?? pageToken) };
      }),
  };
  return list;
}

export function named(...names: string[]): Row[] {
  return names.map((name) => ({ name }));
}

/** A loader that gives the pages of a script, whatever is asked for, and says how many were asked for. */
export function scripted(pageOf: (token: string | undefined, turn: number) => Page<Row>) {
  let turns = 0;
  const pages = pageLoader(async ({ pageToken }: PageQuery) => {
    turns += 1;
    return pageOf(pageToken, turns);
  });
  return { pages, turns: () => turns };
}

/** What a loader has for each name: the record, null, or the error. */
export function loadAll<Json>(loader: RecordLoader<Json>, names: string[]): Promise<(Json | null | Error)[]> {
  return Promise.all(names.map((name) => loader.load(name).catch((error: Error) => error)));
}
