import type { InvalidResponseError } from '../../rest/errors.ts';
import { createdAtMs, type FilteredRow } from './row-filter.ts';

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
