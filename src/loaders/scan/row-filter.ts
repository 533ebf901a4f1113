import { timeMs } from '../../base/date-time.ts';
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
export function createdAtMs(row: FilteredRow | InvalidResponseError): number | undefined {
  return 'createTime' in row ? timeMs(row.createTime) : undefined;
}

// The order of a list is not documented. After so many rows in an order, the rest of the list has it too.
const minRowsInOrder = 200;

/**
 * Makes a function to call with each page of a list. It returns whether all later rows were created before a time, because
 * the list is sorted by the time of creation, newest first.
 * @param minPages how many pages must be in this order
 */
export function createAgeCheck(createdSinceMs = -Infinity, minPages = 2) {
  let [pageCount, rowCount, isSorted, newestMs, oldestMs] = [0, 0, true, -Infinity, Infinity];
  return (rows: readonly (FilteredRow | InvalidResponseError)[]): boolean => {
    pageCount += 1;
    for (const row of rows) {
      const createdMs = createdAtMs(row);
      if (createdMs === undefined) continue;
      isSorted &&= createdMs <= oldestMs;
      newestMs = Math.max(newestMs, createdMs);
      oldestMs = createdMs;
      rowCount += 1;
    }
    const isInOrder = isSorted && rowCount >= minRowsInOrder && pageCount >= minPages;
    // Rows of one time are in any order.
    return isInOrder && oldestMs < newestMs && oldestMs < createdSinceMs;
  };
}
