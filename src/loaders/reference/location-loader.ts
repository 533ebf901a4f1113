import type { LocationQuery } from '../../rest/api-types.ts';
import type { CallContext } from '../../rest/client/call-context.ts';
import { InvalidResponseError, isNotFound, StatusError } from '../../rest/errors.ts';
import { isOfGateway } from '../../rest/gateway-statuses.ts';
import type { LocationJson } from '../../rest/wire-schema.ts';
import { pagesFrom } from '../paging/page-walk.ts';
import { RecordLoader, type RecordResult, settleAll } from '../record-loader.ts';
import type { ReferenceLoader } from './reference-loader.ts';

/**
 * The most list pages to request for a number of names: none below 5 names, 1 from 5, 2 from 10, and 3 from 30 on, then
 * one for 10 names. Names that the pages lack cost a search each, so a name costs at most 1.2 calls.
 */
export function maxListPages(names: number): number {
  return Math.min(Math.max(2, Math.floor(names / 10)), Math.floor(names / 5));
}

/**
 * A loader of locations by name. Locations have no GET endpoint ("Endpoints"). The text filter of the list
 * finds one location. Many locations are looked up in pages of the whole list. Cached pages come first.
 * @param listsForBatches whether pages of the whole list may be requested
 */
export function locationLoader(
  pages: ReferenceLoader<LocationJson, LocationQuery>,
  { callLog }: CallContext,
  listsForBatches: boolean,
): RecordLoader<LocationJson> {
  const firstPage: LocationQuery = { pageSize: pages.maxPageSize };

  /** @returns null for a name that the whole list lacks, and an error that searches would meet too. */
  async function findInList(names: readonly string[]): Promise<Map<string, RecordResult<LocationJson>>> {
    const found = new Map<string, RecordResult<LocationJson>>();
    const missing = new Set(names);
    let callsLeft: number | undefined;
    /** @returns whether the page may be read. A page that costs a call is taken from the budget. */
    const takePage = (query: LocationQuery) => {
      if (pages.isAvailable(query)) return true;
      callsLeft ??= listsForBatches ? maxListPages(missing.size) : 0;
      callsLeft -= 1;
      return callsLeft >= 0;
    };
    if (missing.size === 0 || !takePage(firstPage)) return found;
    try {
      for await (const { rows, nextPageToken: pageToken } of pagesFrom(pages, {})) {
        for (const row of rows) {
          if (row instanceof InvalidResponseError || !missing.delete(row.name)) continue;
          found.set(row.name, row);
          callLog.savedByList += 1;
        }
        if (missing.size === 0) return found;
        if (pageToken !== undefined && !takePage({ ...firstPage, pageToken })) return found;
      }
      // A location may be newer than a cached page, so a name missing there is searched.
      const hadCachedPage = pages.forgetEarlier();
      if (!hadCachedPage) for (const name of missing) found.set(name, null);
    } catch (error) {
      // A large page may fail although a search succeeds. But a search would get the same 4xx status as the page.
      if (error instanceof StatusError && error.status < 500 && !isOfGateway(error.status))
        for (const name of missing) found.set(name, isNotFound(error) ? null : error);
    }
    return found;
  }

  async function search(name: string): Promise<LocationJson | null> {
    const mayBeOld = pages.isCacheUsed;
    // The filter matches substrings, so `locations/1` also finds `locations/10` ("List query parameters").
    for await (const { rows } of pagesFrom(pages, { query: name })) {
      const location = rows.find((row): row is LocationJson => row.name === name);
      if (location !== undefined) return location;
    }
    if (!mayBeOld) return null;
    // The location may be newer than a cached search result. A result that this operation has read costs no call.
    pages.forgetEarlier();
    return search(name);
  }

  return new RecordLoader(async (names) => {
    // A name whose search is cached needs no page of the whole list.
    const found = await findInList(names.filter((name) => !pages.isAvailable({ ...firstPage, query: name })));
    return settleAll(names, (name) => {
      const result = found.get(name);
      return result === undefined ? search(name) : result;
    });
  });
}
