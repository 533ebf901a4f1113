import { InvalidResponseError } from '../../rest/errors.ts';

/** A record that a filter can match. */
export interface FilteredRow {
  name: string;
  status?: string | null | undefined;
  createTime?: string | null | undefined;
}

/** Filters that REST does not have. Times are in milliseconds since 1970. Both bounds belong to the range. */
export interface RowFilter {
  /** Undefined: all statuses. */
  statuses?: readonly string[] | undefined;
  createdSinceMs?: number | undefined;
  createdUntilMs?: number | undefined;
}

/** Whether a row matches. A row without a usable status or time matches no filter on it. */
export function matchesFilter<Row extends FilteredRow>(
  row: Row | InvalidResponseError,
  { statuses, createdSinceMs = -Infinity, createdUntilMs = Infinity }: RowFilter,
): row is Row {
  if (row instanceof InvalidResponseError) return false;
  if (statuses !== undefined && !statuses.includes(row.status ?? '')) return false;
  if (createdSinceMs === -Infinity && createdUntilMs === Infinity) return true;
  const createdMs = createdAtMs(row);
  return createdMs !== undefined && createdMs >= createdSinceMs && createdMs <= createdUntilMs;
}

/** When a row was created. Undefined without a usable time. */
export function createdAtMs({ createTime }: FilteredRow): number | undefined {
  const ms = typeof createTime === 'string' ? Date.parse(createTime) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

// The order of a list is not documented. After so many rows in an order, the rest of the list has it too.
const minRowsInOrder = 200;

/** Finds out when no row of a list can match any more, because the list is sorted by the time of creation, newest first. */
export class NewestFirst {
  #rows = 0;
  #pages = 0;
  #newestMs: number | undefined;
  #oldestMs = Number.POSITIVE_INFINITY;
  #isSorted = true;

  /** Looks at the next page of the list. */
  add(rows: readonly (FilteredRow | InvalidResponseError)[]): void {
    this.#pages += 1;
    for (const row of rows) {
      const createdMs = row instanceof InvalidResponseError ? undefined : createdAtMs(row);
      if (createdMs === undefined) continue;
      this.#isSorted &&= createdMs <= this.#oldestMs;
      this.#newestMs ??= createdMs;
      this.#oldestMs = createdMs;
      this.#rows += 1;
    }
  }

  /** Whether all later rows were created before a time. `minPages`: how many pages must be in this order. */
  isPast(createdSinceMs: number | undefined, minPages = 2): boolean {
    return (
      createdSinceMs !== undefined &&
      this.#isSorted &&
      this.#rows >= minRowsInOrder &&
      this.#pages >= minPages &&
      // Rows of one time are in any order.
      this.#oldestMs !== this.#newestMs &&
      this.#oldestMs < createdSinceMs
    );
  }
}
