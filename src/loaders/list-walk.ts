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

  const walk = {
    state: { asked: names.length, missing: missing.size, rowsRead: 0, pages: 0 },
    found,
    rows,
    // Not known before the first page.
    nextPageToken: undefined as string | undefined,
    isAtEnd: false,
    ask() {
      walk.state = { ...walk.state, pages: walk.state.pages + 1 };
    },
    take({ rows: pageRows, nextPageToken }: Page<Row>) {
      const foundBefore = found.size;
      let { rowsRead } = walk.state;
      for (const row of pageRows) {
        const index = rowsRead;
        rowsRead += 1;
        // A broken row is no record: what it should have been is asked for by id.
        if (row instanceof InvalidResponseError) continue;
        if (missing.delete(row.name)) found.set(row.name, { row, index });
        rows.push(row);
      }
      walk.state = { ...walk.state, missing: missing.size, rowsRead };
      walk.nextPageToken = nextPageToken;
      walk.isAtEnd = nextPageToken === undefined || tokens.has(nextPageToken);
      if (nextPageToken !== undefined) tokens.add(nextPageToken);
      return found.size - foundBefore;
    },
  };
  return walk;
}
