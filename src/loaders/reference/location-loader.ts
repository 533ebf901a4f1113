import type { LocationQuery } from '../../rest/api-types.ts';
import type { CallContext } from '../../rest/client/call-context.ts';
import { InvalidResponseError, isNotFound, StatusError } from '../../rest/errors.ts';
import type { LocationJson } from '../../rest/wire-schema.ts';
import { firstRecord, pagesFrom } from '../paging/page-loader.ts';
import { BatchLoader, type RecordLoader, type RecordResult, settleAll } from '../record-loader.ts';
import type { ReferenceLoader } from './reference-loader.ts';

export interface LocationLoaderOptions {
  pages: ReferenceLoader<LocationJson, LocationQuery>;
  callContext: CallContext;
  /** The most rows of one page ("List query parameters"). */
  maxPageSize: number;
  /** Whether pages of the whole list may be requested. */
  listsForBatches: boolean;
}

/**
 * Creates a loader of locations by name. Locations have no GET endpoint ("Endpoints"). The text filter of the list
 * finds one location. Many locations are looked up in pages of the whole list. Cached pages come first.
 */
export function locationLoader(options: LocationLoaderOptions): RecordLoader<LocationJson> {
  return new BatchLoader((names) => loadLocations(names, options));
}

/**
 * The most list pages to request for a number of names. A search finds one name with one call. A page of 1,000 rows
 * is larger, and may hold none of the names. The limit is one page per ten names and at least two pages, but
 * never more than one page per five names. So each name costs at most 1.2 calls.
 */
export function maxListPages(names: number): number {
  return Math.min(Math.max(2, Math.floor(names / 10)), Math.floor(names / 5));
}

async function loadLocations(
  names: readonly string[],
  options: LocationLoaderOptions,
): Promise<RecordResult<LocationJson>[]> {
  const { pages, callContext, maxPageSize } = options;
  const search = (name: string): LocationQuery => ({ query: name, pageSize: maxPageSize });
  const unsearched = names.filter((name) => !pages.isAvailable(search(name)));
  const found = new Map<string, RecordResult<LocationJson>>();
  await findInList(unsearched, found, options);
  for (const result of found.values()) {
    if (result !== null && !(result instanceof Error)) callContext.callLog.savedByList += 1;
  }
  return settleAll(names, (name) => {
    const result = found.get(name);
    return result === undefined ? searchCacheThenRest(name, search(name), pages) : result;
  });
}

/**
 * Looks names up in cached pages of the list, and in at most `maxListPages` more pages. Adds what it finds to `found`:
 * null for a name that the whole list lacks, and an error that searches would meet too.
 */
async function findInList(
  names: readonly string[],
  found: Map<string, RecordResult<LocationJson>>,
  { pages, maxPageSize, listsForBatches }: LocationLoaderOptions,
): Promise<void> {
  const missing = new Set(names);
  const settleMissing = (result: null | Error) => {
    for (const name of missing) found.set(name, result);
  };
  const firstPage: LocationQuery = { pageSize: maxPageSize };
  let callsLeft: number | undefined;
  const mayRead = (query: LocationQuery) => {
    if (pages.isAvailable(query)) return true;
    callsLeft ??= listsForBatches ? maxListPages(missing.size) : 0;
    callsLeft -= 1;
    return callsLeft >= 0;
  };
  if (missing.size === 0 || !mayRead(firstPage)) return;
  let query = firstPage;
  let isAllFromRest = true;
  try {
    for await (const { rows, nextPageToken } of pagesFrom(pages, firstPage)) {
      isAllFromRest &&= pages.isFromRest(query);
      for (const row of rows) {
        if (!(row instanceof InvalidResponseError) && missing.delete(row.name)) found.set(row.name, row);
      }
      // A location may be newer than a cached page, so a name missing there is searched.
      if (nextPageToken === undefined && isAllFromRest) settleMissing(null);
      query = { ...firstPage, pageToken: nextPageToken };
      if (missing.size === 0 || nextPageToken === undefined || !mayRead(query)) return;
    }
  } catch (error) {
    // A large page may fail although a search succeeds. But a search would get the same 4xx status as the page.
    if (error instanceof StatusError && error.status < 500) settleMissing(isNotFound(error) ? null : error);
  }
}

/** The filter matches substrings, so `locations/1` also finds `locations/10` ("List query parameters"). */
async function searchCacheThenRest(
  name: string,
  query: LocationQuery,
  pages: LocationLoaderOptions['pages'],
): Promise<LocationJson | null> {
  const search = () => firstRecord(pages, query, (location) => location.name === name);
  const location = await search();
  if (location !== null || pages.isFromRest(query)) return location;
  // The location may be newer than the cached search result.
  pages.forgetEarlier();
  return search();
}
