import { InvalidResponseError } from '../rest/errors.ts';
import type { Page } from '../rest/types.ts';
import type { BatchState } from './batch-plan.ts';

/** A walk through a list, from its newest row on, in search of some of its records. */
export interface ListWalk<Row> {
  readonly state: BatchState;
  readonly found: ReadonlyMap<string, { row: Row; index: number }>;
  /** Those found, and those that came along. */
  readonly rows: readonly Row[];
  readonly nextPageToken: string | undefined;
  /** Whether nothing follows, or nothing that has not been there already. */
  readonly isAtEnd: boolean;
  /** Counts a page that is asked for, whatever comes of it. */
  ask(): void;
  /** Looks through a page, and says how many of the names it has found. */
  take(page: Page<Row>): number;
}

export function createListWalk<Row extends { name: string }>(names: readonly string[]): ListWalk<Row> {
  const missing = new Set(names);
  const found = new Map<string, { row: Row; index: number }>();
  const rows: Row[] = [];
  const tokens = new Set<string>();
  let rowsRead = 0;
  let pages = 0;
  let nextPageToken: string | undefined;
  let isAtEnd = false;

  return {
    get state() {
      return { asked: names.length, missing: missing.size, rowsRead, pages };
    },
    found,
    rows,
    get nextPageToken() {
      return nextPageToken;
    },
    get isAtEnd() {
      return isAtEnd;
    },
    ask() {
      pages += 1;
    },
    take(page) {
      const before = found.size;
      for (const row of page.rows) {
        const index = rowsRead;
        rowsRead += 1;
        // A broken row is no record: what it should have been is asked for by id.
        if (row instanceof InvalidResponseError) continue;
        if (missing.delete(row.name)) found.set(row.name, { row, index });
        rows.push(row);
      }
      nextPageToken = page.nextPageToken;
      isAtEnd = nextPageToken === undefined || tokens.has(nextPageToken);
      if (nextPageToken !== undefined) tokens.add(nextPageToken);
      return found.size - before;
    },
  };
}
