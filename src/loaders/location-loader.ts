import type { Caller } from '../rest/caller.ts';
import { StatusError } from '../rest/errors.ts';
import type { LocationJson, LocationQuery } from '../rest/types.ts';
import type { Askers } from './askers.ts';
import { type FoundLocations, moveKnown, moveListed } from './location-names.ts';
import { firstRecord, pagesFrom } from './page-loader.ts';
import { batchLoader, type RecordLoader } from './record-loader.ts';
import type { ReferencePageLoader } from './reference-loader.ts';
import { type Settled, settledAll } from './settling.ts';

/** What is known of the length of the list of all locations, in pages of the largest size. */
export interface ListLength {
  pages: number;
  /** Whether the list has been read to its end; if not, it may be longer. */
  isKnown: boolean;
}

/** Where nothing is known yet. A country has some thousand municipalities, and a page has 1,000 rows. */
export const guessedLength: ListLength = { pages: 2, isKnown: false };

export interface Reading {
  /** How many names can't be answered without a call. */
  asked: number;
  /** How many of them have not been found so far. */
  missing: number;
  /** How many pages have been called for. */
  called: number;
  /** How many pages have been looked through, those included that needed no call. */
  passed: number;
  length: ListLength;
}

/**
 * Whether the list's next page is to be called for, rather than a search for each name that is missing.
 *
 * A page and a search are one call each. A page is more to read, so that one or two names are searched. Beyond that, the
 * list is begun where fewer pages are left than names, and gone on with where at most as many are: with its last page it
 * answers every name, later ones too. Where its length is known, that can't cost more calls than searches.
 *
 * Where it is guessed, the pages may have been read in vain: of these, one for each ten names asked for are read at most,
 * or two, but never more than one for each five. Together with the searches that is 1.2 calls a name in the worst case.
 */
export function isPageWorthIt({ asked, missing, called, passed, length }: Reading): boolean {
  if (asked < 3) return false;
  const left = Math.max(length.pages - passed, 1);
  if (called === 0 ? missing <= left : missing < left) return false;
  const mostInVain = Math.min(Math.max(2, Math.floor(asked / 10)), Math.floor(asked / 5));
  return called < mostInVain || (length.isKnown && passed < length.pages);
}

export interface LocationLoaderOptions {
  pages: ReferencePageLoader<LocationJson, LocationQuery>;
  caller: Caller;
  /** The largest page that REST gives, in rows. */
  maxPageSize: number;
  /** Whether the list may be called for. */
  listsForBatches: boolean;
  /** What operations of the tenant know of the list; written as it is learned. */
  list: { length: ListLength };
}

/**
 * Locations by name, which have no get endpoint. The text filter of their list finds one; many at once are looked up in
 * the list itself. Pages and searches that are known already come first.
 */
export function locationLoader(options: LocationLoaderOptions): RecordLoader<LocationJson> {
  const locations = new Locations(options);
  return batchLoader((names, askers) => locations.answer(names, askers));
}

class Locations {
  readonly #options: LocationLoaderOptions;

  constructor(options: LocationLoaderOptions) {
    this.#options = options;
  }

  async answer(names: readonly string[], askers: Askers): Promise<Settled<LocationJson>[]> {
    const { pages, caller } = this.#options;
    const unsearched = names.filter((name) => !pages.knows(this.#searchOf(name)));
    const { found, refusal } = await askers.onBehalf(unsearched, () => lookUp(unsearched, this.#options));
    for (const location of found.values()) if (location !== null) caller.ledger.savedByList += 1;
    if (names.every((name) => found.has(name))) return names.map((name) => found.get(name) ?? null);
    return settledAll(names, (name) =>
      askers.onBehalfOf(name, async () => {
        const location = found.get(name);
        if (location !== undefined) return location;
        if (refusal !== undefined && unsearched.includes(name)) throw refusal;
        return this.#searchThrough(name);
      }),
    );
  }

  async #searchThrough(name: string): Promise<LocationJson | null> {
    const { pages } = this.#options;
    const known = await this.#search(name);
    if (known !== null || pages.isOwn(this.#searchOf(name))) return known;
    // It may be younger than what an earlier operation has read.
    pages.forgetEarlier();
    return this.#search(name);
  }

  /** The filter matches substrings, so that `locations/1` also finds `locations/10`. */
  #search(name: string): Promise<LocationJson | null> {
    return firstRecord(this.#options.pages, this.#searchOf(name), (location) => location.name === name);
  }

  #searchOf(name: string): LocationQuery {
    return { query: name, pageSize: this.#options.maxPageSize };
  }
}

interface LookedUp {
  /** Those found, and null for those that the whole list does not hold. */
  found: FoundLocations;
  /** What the list answered where no search would be answered otherwise. */
  refusal?: StatusError;
}

/** Looks names up in the pages of the list that are known, and in those that are worth a call. */
async function lookUp(
  names: readonly string[],
  { pages, maxPageSize, listsForBatches, list }: LocationLoaderOptions,
): Promise<LookedUp> {
  const found: FoundLocations = new Map();
  const missing = new Set(names);
  let asked = 0;
  let called = 0;
  let passed = 0;

  function isNext(query: LocationQuery): boolean {
    if (missing.size === 0) return false;
    if (pages.knows(query)) return true;
    if (!listsForBatches) return false;
    if (called === 0) asked = missing.size;
    const isWorthIt = isPageWorthIt({ asked, missing: missing.size, called, passed, length: list.length });
    if (isWorthIt) called += 1;
    return isWorthIt;
  }

  const first: LocationQuery = { pageSize: maxPageSize };
  let query = first;
  let isAllOwn = true;
  if (!isNext(first)) return { found };
  try {
    for await (const page of pagesFrom(pages, first)) {
      const { nextPageToken } = page;
      passed += 1;
      const isOwn = pages.isOwn(query);
      isAllOwn &&= isOwn;
      query = { ...first, ...(nextPageToken !== undefined && { pageToken: nextPageToken }) };
      if (isOwn) moveListed(page, missing, found);
      else moveKnown(page, missing, found);
      list.length = lengthAfter(passed, nextPageToken, list.length);
      if (nextPageToken === undefined) {
        // What a page of an earlier operation lacks may have come since, and is searched for.
        if (isAllOwn) for (const name of missing) found.set(name, null);
      } else if (!isNext({ ...first, pageToken: nextPageToken })) break;
    }
    return { found };
  } catch (error) {
    // A large page may fail where a search does not; a refusal of the one would be one of the other.
    return error instanceof StatusError && error.status < 500 ? { found, refusal: error } : { found };
  }
}

function lengthAfter(passed: number, nextPageToken: string | undefined, known: ListLength): ListLength {
  if (nextPageToken === undefined) return { pages: passed, isKnown: true };
  return passed < known.pages ? known : { pages: passed + 1, isKnown: false };
}
