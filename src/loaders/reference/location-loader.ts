import type { LocationQuery, Page } from '../../rest/api-types.ts';
import type { CallContext } from '../../rest/client/call-context.ts';
import { InvalidResponseError, StatusError } from '../../rest/errors.ts';
import type { LocationJson } from '../../rest/wire-schema.ts';
import { createEndlessListGuard, firstRecord } from '../paging/page-loader.ts';
import { batchLoader, type RecordLoader, type RecordResult, settleAll } from '../record-loader.ts';
import type { ReferencePageLoader } from './reference-loader.ts';

/** The list of locations, and how a location loader may use it. */
export interface LocationLoaderOptions {
  pages: ReferencePageLoader<LocationJson, LocationQuery>;
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
  const locations = new Locations(options);
  return batchLoader((names) => locations.loadBatch(names));
}

/**
 * The most list pages to request for a number of names. A search finds one name with one call. A page of 1,000 rows
 * is larger, and may hold none of the names. The limit is one page per ten names and at least two pages, but
 * never more than one page per five names. So each name costs at most 1.2 calls.
 */
export function maxListPages(names: number): number {
  return Math.min(Math.max(2, Math.floor(names / 10)), Math.floor(names / 5));
}

/** The result of looking up names in the list. */
interface ListLookup {
  /** Locations by name. Null for a name that the whole list lacks. */
  found: Map<string, LocationJson | null>;
  /** The HTTP error of the list, if searches would fail with the same error. */
  httpError?: StatusError;
}

class Locations {
  readonly #options: LocationLoaderOptions;

  constructor(options: LocationLoaderOptions) {
    this.#options = options;
  }

  async loadBatch(names: readonly string[]): Promise<RecordResult<LocationJson>[]> {
    const { pages, callContext } = this.#options;
    const unsearched = names.filter((name) => !pages.isAvailable(this.#searchQuery(name)));
    const { found, httpError } = await this.#findInList(unsearched);
    for (const location of found.values()) if (location !== null) callContext.callLog.savedByList += 1;
    if (names.every((name) => found.has(name))) return names.map((name) => found.get(name) ?? null);
    return settleAll(names, async (name) => {
      const location = found.get(name);
      if (location !== undefined) return location;
      if (httpError !== undefined && unsearched.includes(name)) throw httpError;
      return this.#searchCacheThenRest(name);
    });
  }

  /** Looks names up in cached pages of the list, and in at most `maxListPages` more pages. */
  async #findInList(names: readonly string[]): Promise<ListLookup> {
    const { pages, maxPageSize, listsForBatches } = this.#options;
    const found = new Map<string, LocationJson | null>();
    const missing = new Set(names);
    const guard = createEndlessListGuard(undefined);
    let query: LocationQuery = { pageSize: maxPageSize };
    let callsLeft: number | undefined;
    let isAllFromRest = true;
    try {
      while (missing.size > 0) {
        if (!pages.isAvailable(query)) {
          callsLeft ??= listsForBatches ? maxListPages(missing.size) : 0;
          if (callsLeft === 0) break;
          callsLeft -= 1;
        }
        const page = await pages.load(query);
        isAllFromRest &&= pages.isFromRest(query);
        moveFound(page, missing, found);
        if (page.nextPageToken === undefined) {
          // A location may be newer than a cached page, so a name missing there is searched.
          if (isAllFromRest) for (const name of missing) found.set(name, null);
          break;
        }
        guard.check(page.nextPageToken);
        query = { pageSize: maxPageSize, pageToken: page.nextPageToken };
      }
      return { found };
    } catch (error) {
      // A large page may fail although a search succeeds. But a search would get the same 4xx status as the page.
      return error instanceof StatusError && error.status < 500 ? { found, httpError: error } : { found };
    }
  }

  async #searchCacheThenRest(name: string): Promise<LocationJson | null> {
    const { pages } = this.#options;
    const location = await this.#search(name);
    if (location !== null || pages.isFromRest(this.#searchQuery(name))) return location;
    // The location may be newer than the cached search result.
    pages.forgetEarlier();
    return this.#search(name);
  }

  /** The filter matches substrings, so `locations/1` also finds `locations/10` ("List query parameters"). */
  #search(name: string): Promise<LocationJson | null> {
    return firstRecord(this.#options.pages, this.#searchQuery(name), (location) => location.name === name);
  }

  #searchQuery(name: string): LocationQuery {
    return { query: name, pageSize: this.#options.maxPageSize };
  }
}

/** Moves the names that a page holds from `missing` to `found`. */
function moveFound(page: Page<LocationJson>, missing: Set<string>, found: ListLookup['found']): void {
  const rowsByName = indexOf(page);
  for (const name of missing) {
    const row = rowsByName.get(name);
    if (row === undefined) continue;
    found.set(name, row);
    missing.delete(name);
  }
}

// An index lives as long as its page, because many operations search a cached page.
const indexByPage = new WeakMap<Page<LocationJson>, ReadonlyMap<string, LocationJson>>();

function indexOf(page: Page<LocationJson>): ReadonlyMap<string, LocationJson> {
  const existing = indexByPage.get(page);
  if (existing !== undefined) return existing;
  const index = new Map<string, LocationJson>();
  for (const row of page.rows) {
    if (!(row instanceof InvalidResponseError) && !index.has(row.name)) index.set(row.name, row);
  }
  indexByPage.set(page, index);
  return index;
}
