import { InvalidResponseError } from '../rest/errors.ts';
import type { Page } from '../rest/types.ts';
import type { BatchState } from './batch-plan.ts';

/** A walk through a list, from its newest row on, in search of some of its records. */
export interface ListWalk<Row> {
  readonly state: BatchState;
  /** All rows that have come, the broken ones among them. */
  readonly rows: Page<Row>['rows'];
  readonly nextPageToken: string | undefined;
  /** Whether nothing follows, or nothing that has not been there already. */
  readonly isAtEnd: boolean;
  /** The row of one of the names; undefined as long as it is not found. */
  rowOf(name: string): Row | undefined;
  /** Which row of the list that is, counted from 0. */
  indexOf(name: string): number | undefined;
  /** The rows of all names that are found, in the order of the list. */
  found(): Map<string, Row>;
  /** Those of the names that have not been found. */
  missing(): readonly string[];
  /** Counts a page that is asked for, whatever comes of it. */
  ask(): void;
  /** Looks through a page, and says how many of the names it has found. */
  take(page: Page<Row>): number;
}

export function createListWalk<Row extends { name: string }>(names: readonly string[]): ListWalk<Row> {
  return new Walk(names);
}

const notFound = -1;

class Walk<Row extends { name: string }> implements ListWalk<Row> {
  state: BatchState;
  rows: Page<Row>['rows'] = [];
  // Not known before the first page.
  nextPageToken: string | undefined;
  isAtEnd = false;
  readonly #names: readonly string[];
  /** Where each name is in the list: numbers, as an object for each would cost more than the rest of the walk. */
  readonly #indices = new Map<string, number>();
  #tokens: Set<string> | undefined;

  constructor(names: readonly string[]) {
    this.#names = names;
    for (const name of names) this.#indices.set(name, notFound);
    this.state = { asked: names.length, missing: this.#indices.size, rowsRead: 0, pages: 0 };
  }

  rowOf(name: string): Row | undefined {
    const index = this.indexOf(name);
    // Only rows that are records are found.
    return index === undefined ? undefined : (this.rows[index] as Row);
  }

  indexOf(name: string): number | undefined {
    const index = this.#indices.get(name);
    return index === notFound ? undefined : index;
  }

  found(): Map<string, Row> {
    const found = new Map<string, Row>();
    for (const [index, row] of this.rows.entries()) {
      if (!(row instanceof InvalidResponseError) && this.#indices.get(row.name) === index)
        found.set(row.name, row);
    }
    return found;
  }

  missing(): readonly string[] {
    const { missing, asked } = this.state;
    if (missing === 0) return [];
    return missing === asked
      ? this.#names
      : this.#names.filter((name) => this.#indices.get(name) === notFound);
  }

  ask(): void {
    this.state = { ...this.state, pages: this.state.pages + 1 };
  }

  take({ rows, nextPageToken }: Page<Row>): number {
    let { missing, rowsRead } = this.state;
    const missingBefore = missing;
    for (const row of rows) {
      // A broken row is no record: what it should have been is asked for by id.
      if (!(row instanceof InvalidResponseError) && this.#indices.get(row.name) === notFound) {
        this.#indices.set(row.name, rowsRead);
        missing -= 1;
      }
      rowsRead += 1;
    }
    this.rows = this.rows.length === 0 ? rows : this.rows.concat(rows);
    this.state = { ...this.state, missing, rowsRead };
    this.nextPageToken = nextPageToken;
    this.isAtEnd = nextPageToken === undefined || this.#tokens?.has(nextPageToken) === true;
    if (!this.isAtEnd && nextPageToken !== undefined) {
      this.#tokens ??= new Set();
      this.#tokens.add(nextPageToken);
    }
    return missingBefore - missing;
  }
}
