import type { InvalidResponseError } from '../../rest/errors.ts';
import { createdAtMs, type FilteredRow } from './row-filter.ts';

// How a list is sorted is not documented. After so many rows that are sorted, the rest of the list counts as sorted too.
const minSortedRows = 200;

/**
 * For a list that may be sorted by the time of creation, newest first. The returned function is called with each page. It
 * returns whether all later rows were created before `createdSinceMs`, so that nobody needs to read them.
 * @param minPages how many pages must be sorted; by default two, so that the list is sorted across a page's end too
 */
export function createAgeCheck(createdSinceMs = -Infinity, minPages = 2) {
  const boundLaterRows = createLaterRowsBound(minPages);
  return (rows: readonly (FilteredRow | InvalidResponseError)[]): boolean =>
    boundLaterRows(rows) < createdSinceMs;
}

/**
 * Like `createAgeCheck`, but the returned function returns the bound: a time in milliseconds since 1970, after which no
 * later row was created. It is Infinity if the pages do not show that the list is sorted newest first.
 */
export function createLaterRowsBound(minPages = 2) {
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
    const isEnough = rowCount >= minSortedRows && pageCount >= minPages;
    // Rows that all have the same time show no direction.
    return isSorted && isEnough && oldestMs < newestMs ? oldestMs : Infinity;
  };
}
