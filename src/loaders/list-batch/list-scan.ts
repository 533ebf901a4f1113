import { isJsonObject } from '../../base/json-object.ts';
import type { Page } from '../../rest/api-types.ts';
import { InvalidResponseError } from '../../rest/errors.ts';

/** The rows read for one batch, and which of them are records of the batch: the hits. */
export class ListScan<Row extends { name: string }> {
  /** All rows read so far in list order, including invalid rows. */
  rows: Page<Row>['rows'] = [];
  /** The indexes of the hits in `rows`. */
  readonly hits: number[] = [];
  nextPageToken: string | undefined;
  isAtEnd = false;
  readonly #names: readonly string[];
  readonly #isRowComplete: (row: Row) => boolean;
  /** The hit of each name of the batch, or null if there is none yet. */
  readonly #hitByName = new Map<string, Row | null>();

  /** @param isRowComplete Whether a row can stand for its record. */
  constructor(names: readonly string[], isRowComplete: (row: Row) => boolean) {
    this.#names = names;
    this.#isRowComplete = isRowComplete;
    for (const name of names) this.#hitByName.set(name, null);
  }

  /** The row of a name, or undefined if no complete row with this name was read. */
  rowOf(name: string): Row | undefined {
    return this.#hitByName.get(name) ?? undefined;
  }

  get idCount(): number {
    return this.#names.length;
  }

  get missingCount(): number {
    return this.#names.length - this.hits.length;
  }

  /** The names without a hit so far. */
  missingNames(): readonly string[] {
    if (this.hits.length === 0) return this.#names;
    if (this.missingCount === 0) return [];
    return this.#names.filter((name) => this.#hitByName.get(name) === null);
  }

  /** Adds the rows of a page. @returns the number of hits in the page. */
  add({ rows, nextPageToken }: Page<Row>): number {
    const hitsBefore = this.hits.length;
    let index = this.rows.length;
    for (const row of rows) {
      const isMissing = !(row instanceof InvalidResponseError) && this.#hitByName.get(row.name) === null;
      if (isMissing && this.#isRowComplete(row)) {
        this.#hitByName.set(row.name, row);
        this.hits.push(index);
      }
      index += 1;
    }
    this.rows = this.rows.length === 0 ? rows : this.rows.concat(rows);
    this.nextPageToken = nextPageToken;
    this.isAtEnd = nextPageToken === undefined;
    return this.hits.length - hitsBefore;
  }
}

/** Whether a field is set in a record and empty in its row, unless the record changed between the two reads. */
export function lacksFields(row: object, record: object): boolean {
  const times = [row, record].map((each) => Reflect.get(each, 'updateTime') ?? undefined);
  const hasChanged = !times.includes(undefined) && times[0] !== times[1];
  return !hasChanged && lacks(row, record);
}

/** Arrays in a record are not compared, because their lengths differ. */
function lacks(row: object, record: object): boolean {
  const rowFields: Record<string, unknown> = { ...row };
  return Object.entries(record).some(([field, value]) => {
    if (value === null || value === undefined) return false;
    const rowValue = rowFields[field];
    if (rowValue === null || rowValue === undefined) return true;
    return isJsonObject(value) && isJsonObject(rowValue) && lacks(rowValue, value);
  });
}
