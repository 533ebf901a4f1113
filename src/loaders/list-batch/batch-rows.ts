import type { Page } from '../../rest/api-types.ts';
import { InvalidResponseError } from '../../rest/errors.ts';

/** The rows that were read for one batch, and which of them are its records: the hits. */
export class BatchRows<Row extends { name: string }> {
  /** In list order, including invalid rows. */
  rows: Page<Row>['rows'] = [];
  /** The indexes of the hits in `rows`, ascending. */
  readonly hits: number[] = [];
  readonly rowByName = new Map<string, Row>();
  readonly missing: Set<string>;
  readonly idCount: number;
  nextPageToken: string | undefined;
  readonly #isRowComplete: (row: Row) => boolean;

  constructor(names: readonly string[], isRowComplete: (row: Row) => boolean) {
    this.idCount = names.length;
    this.missing = new Set(names);
    this.#isRowComplete = isRowComplete;
  }

  add({ rows, nextPageToken }: Page<Row>): void {
    for (const [index, row] of rows.entries()) {
      if (row instanceof InvalidResponseError) continue;
      if (!this.missing.has(row.name) || !this.#isRowComplete(row)) continue;
      this.missing.delete(row.name);
      this.rowByName.set(row.name, row);
      this.hits.push(this.rows.length + index);
    }
    this.rows = this.rows.length === 0 ? rows : this.rows.concat(rows);
    this.nextPageToken = nextPageToken;
  }
}
