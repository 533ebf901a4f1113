import type { Page } from '../../rest/api-types.ts';
import { InvalidResponseError } from '../../rest/errors.ts';

/** The rows read for one batch, and which of them are records of the batch: the hits. */
export class ListScan<Row extends { name: string }> {
  /** All rows read so far in list order, including invalid rows. */
  rows: Page<Row>['rows'] = [];
  /** The indexes of the hits in `rows`. */
  readonly hits: number[] = [];
  readonly idCount: number;
  nextPageToken: string | undefined;
  isAtEnd = false;
  readonly #isRowComplete: (row: Row) => boolean;
  /** The hit of each name of the batch, or undefined if there is none yet. */
  readonly #hitByName: Map<string, Row | undefined>;

  /** @param isRowComplete Whether a row can stand for its record. */
  constructor(names: readonly string[], isRowComplete: (row: Row) => boolean) {
    this.idCount = names.length;
    this.#isRowComplete = isRowComplete;
    this.#hitByName = new Map(names.map((name) => [name, undefined]));
  }

  /** The row of a name, or undefined if no complete row with this name was read. */
  rowOf(name: string): Row | undefined {
    return this.#hitByName.get(name);
  }

  get missingCount(): number {
    return this.idCount - this.hits.length;
  }

  add({ rows, nextPageToken }: Page<Row>): void {
    for (const [index, row] of rows.entries()) {
      if (row instanceof InvalidResponseError || !this.#isMissing(row.name)) continue;
      if (!this.#isRowComplete(row)) continue;
      this.#hitByName.set(row.name, row);
      this.hits.push(this.rows.length + index);
    }
    this.rows = this.rows.length === 0 ? rows : this.rows.concat(rows);
    this.nextPageToken = nextPageToken;
    this.isAtEnd = nextPageToken === undefined;
  }

  #isMissing(name: string): boolean {
    return this.#hitByName.has(name) && this.#hitByName.get(name) === undefined;
  }
}
