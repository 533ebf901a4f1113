import { timeMs } from '../../base/date-time.ts';
import { InvalidResponseError } from '../../rest/errors.ts';

/** A record that a filter can match. */
export interface FilteredRow {
  name: string;
  status?: string | null | undefined;
  createTime?: string | null | undefined;
  updateTime?: string | null | undefined;
  courier?: string | null | undefined;
  shipment?: string | null | undefined;
}

/** Filters that REST does not have. Times are in milliseconds since 1970. Both bounds belong to the range. */
export interface RowFilter {
  /** Undefined: all statuses. */
  statuses?: readonly string[] | undefined;
  createdSinceMs?: number | undefined;
  createdUntilMs?: number | undefined;
  updatedSinceMs?: number | undefined;
  updatedUntilMs?: number | undefined;
  /** The resource name of a courier. */
  courier?: string | undefined;
  hasShipment?: boolean | undefined;
}

/** Whether a row matches. A row without a usable status or time matches no filter on it. */
export function matchesFilter<Row extends FilteredRow>(
  row: Row | InvalidResponseError,
  filter: RowFilter,
): row is Row {
  if (row instanceof InvalidResponseError) return false;
  const { statuses, courier, hasShipment } = filter;
  if (statuses !== undefined && !statuses.includes(row.status ?? '')) return false;
  if (courier !== undefined && row.courier !== courier) return false;
  if (hasShipment !== undefined && hasShipment !== Boolean(row.shipment)) return false;
  return (
    isWithin(row.createTime, filter.createdSinceMs, filter.createdUntilMs) &&
    isWithin(row.updateTime, filter.updatedSinceMs, filter.updatedUntilMs)
  );
}

function isWithin(time: string | null | undefined, sinceMs = -Infinity, untilMs = Infinity): boolean {
  if (sinceMs === -Infinity && untilMs === Infinity) return true;
  const ms = timeMs(time);
  return ms !== undefined && ms >= sinceMs && ms <= untilMs;
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
  const latestOfLaterRows = createOrderCheck(minPages);
  return (rows: readonly (FilteredRow | InvalidResponseError)[]): boolean =>
    latestOfLaterRows(rows) < createdSinceMs;
}

/**
 * Makes a function to call with each page of a list. It returns a time in milliseconds since 1970: no later row was created
 * after this time. Infinity if the pages do not show that the list is sorted by the time of creation, newest first.
 * @param minPages how many pages must be in this order
 */
export function createOrderCheck(minPages = 2) {
  let [pageCount, rowCount, isSorted, newestMs, oldestMs] = [0, 0, true, -Infinity, Infinity];
  return (rows: readonly (FilteredRow | InvalidResponseError)[]): number => {
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
    return isInOrder && oldestMs < newestMs ? oldestMs : Infinity;
  };
}
