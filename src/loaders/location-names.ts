import { InvalidResponseError } from '../rest/errors.ts';
import type { LocationJson, Page } from '../rest/types.ts';

type LocationPage = Page<LocationJson>;

/** Locations by name, and null for those that are known not to be there. */
export type FoundLocations = Map<string, LocationJson | null>;

/** Moves the names that are rows of a page from those that are missing to those that are found. */
export function moveListed({ rows }: LocationPage, missing: Set<string>, found: FoundLocations): void {
  for (const row of rows) {
    if (!(row instanceof InvalidResponseError) && missing.delete(row.name)) found.set(row.name, row);
  }
}

/** The same for a page of an earlier operation: it will be looked through again, so that an index of it pays. */
export function moveKnown(page: LocationPage, missing: Set<string>, found: FoundLocations): void {
  const index = namesIn(page);
  for (const name of missing) {
    const row = index.get(name);
    if (row === undefined) continue;
    found.set(name, row);
    missing.delete(name);
  }
}

// As long as the page itself is kept.
const indexes = new WeakMap<LocationPage, ReadonlyMap<string, LocationJson>>();

function namesIn(page: LocationPage): ReadonlyMap<string, LocationJson> {
  const known = indexes.get(page);
  if (known !== undefined) return known;
  const index = new Map<string, LocationJson>();
  for (const row of page.rows) {
    if (!(row instanceof InvalidResponseError) && !index.has(row.name)) index.set(row.name, row);
  }
  indexes.set(page, index);
  return index;
}
