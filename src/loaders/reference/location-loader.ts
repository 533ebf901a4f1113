import type { CallContext } from '../../rest/client/call-context.ts';
import { InvalidResponseError, StatusError } from '../../rest/errors.ts';
import type { LocationQuery, Page } from '../../rest/types.ts';
import type { LocationJson } from '../../rest/wire-schema.ts';
import type { FieldPathLog } from '../field-path-log.ts';
import { createEndlessListGuard, firstRecord } from '../paging/page-loader.ts';
import { batchLoader, type RecordLoader } from '../record-loader.ts';
import type { RecordResult } from '../result.ts';
import { settleAll } from '../result.ts';
import type { ReferencePageLoader } from './reference-loader.ts';

export interface LocationLoaderOptions {
  pages: ReferencePageLoader<LocationJson, LocationQuery>;
  callContext: CallContext;
  /** The largest page that REST gives, in rows. */
  maxPageSize: number;
  /** Whether the list may be called for. */
  listsForBatches: boolean;
}

/**
 * Locations by name, which have no get endpoint. The text filter of their list finds one; many at once are looked up in
 * the list itself. Pages and searches that are known already come first.
 */
export function locationLoader(options: LocationLoaderOptions): RecordLoader<LocationJson> {
  const locations = new Locations(options);
  return batchLoader((names, fieldPaths) => locations.loadBatch(names, fieldPaths));
}

/**
 * How many pages of the list may be called for by so many names, each of which a search would find with one call. A page of
 * 1,000 rows is more to read than a search, and may hold none of the names. One page for each ten names, and two for fewer,
 * are the most, but never more than one for each five: 1.2 calls a name in the worst case.
 */
export function maxListPages(names: number): number {
  return Math.min(Math.max(2, Math.floor(names / 10)), Math.floor(names / 5));
}

interface ListLookup {
  /** Those found, and null for those that the whole list does not hold. */
  found: Map<string, LocationJson | null>;
  /** What the list answered where no search would be answered otherwise. */
  httpError?: StatusError;
}

class Locations {
  readonly #options: LocationLoaderOptions;

  constructor(options: LocationLoaderOptions) {
    this.#options = options;
  }

  async loadBatch(names: readonly string[], fieldPaths: FieldPathLog): Promise<RecordResult<LocationJson>[]> {
    const { pages, callContext } = this.#options;
    const unsearched = names.filter((name) => !pages.isAvailable(this.#searchQuery(name)));
    const { found, httpError } = await fieldPaths.runForKeys(unsearched, () => this.#findInList(unsearched));
    for (const location of found.values()) if (location !== null) callContext.callLog.savedByList += 1;
    if (names.every((name) => found.has(name))) return names.map((name) => found.get(name) ?? null);
    return settleAll(names, (name) =>
      fieldPaths.runForKey(name, async () => {
        const location = found.get(name);
        if (location !== undefined) return location;
        if (httpError !== undefined && unsearched.includes(name)) throw httpError;
        return this.#searchCacheThenRest(name);
      }),
    );
  }

  /** Looks names up in the pages of the list that are known, and in those that are worth a call. */
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
          // What a page of an earlier operation lacks may have come since, and is searched for.
          if (isAllFromRest) for (const name of missing) found.set(name, null);
          break;
        }
        guard.check(page.nextPageToken);
        query = { pageSize: maxPageSize, pageToken: page.nextPageToken };
      }
      return { found };
    } catch (error) {
      // A large page may fail where a search does not; a refusal of the one would be one of the other.
      return error instanceof StatusError && error.status < 500 ? { found, httpError: error } : { found };
    }
  }

  async #searchCacheThenRest(name: string): Promise<LocationJson | null> {
    const { pages } = this.#options;
    const location = await this.#search(name);
    if (location !== null || pages.isFromRest(this.#searchQuery(name))) return location;
    // It may be younger than what an earlier operation has read.
    pages.forgetEarlier();
    return this.#search(name);
  }

  /** The filter matches substrings, so that `locations/1` also finds `locations/10`. */
  #search(name: string): Promise<LocationJson | null> {
    return firstRecord(this.#options.pages, this.#searchQuery(name), (location) => location.name === name);
  }

  #searchQuery(name: string): LocationQuery {
    return { query: name, pageSize: this.#options.maxPageSize };
  }
}

/** Moves the names that are rows of a page from those that are missing to those that are found. */
function moveFound(page: Page<LocationJson>, missing: Set<string>, found: ListLookup['found']): void {
  const rowsByName = indexOf(page);
  for (const name of missing) {
    const row = rowsByName.get(name);
    if (row === undefined) continue;
    found.set(name, row);
    missing.delete(name);
  }
}

// As long as the page itself is kept: a cached page is looked through again and again.
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
