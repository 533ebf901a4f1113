import type { ListWalk } from './list-walk.ts';
import type { Whereabouts } from './whereabouts.ts';

/** Names that are about to be asked for, as a list has named them. */
export interface Announcement {
  names: ReadonlySet<string>;
  /** How many rows of their own list come before them, as far as one can tell. */
  rowsBefore: number;
  /** Where such names have been, counted from there. */
  whereabouts: Whereabouts;
}

/** The names of a batch that were asked for for the same reason. */
export interface BatchPart {
  names: readonly string[];
  rowsBefore: number;
  whereabouts: Whereabouts;
}

/** The parts of a batch: what each announcement has named, and the rest. */
export function partsOf(
  names: readonly string[],
  announcements: readonly Announcement[],
  whereaboutsOfRest: Whereabouts,
): BatchPart[] {
  const rest = new Set(names);
  const announced = announcements.map(({ names, ...where }) => ({
    ...where,
    // A name that two lists have named is the first one's.
    names: [...rest].filter((name) => names.has(name) && rest.delete(name)),
  }));
  const parts = [...announced, { names: [...rest], rowsBefore: 0, whereabouts: whereaboutsOfRest }];
  return parts.filter((part) => part.names.length > 0);
}

/** The share of all names to expect within so many rows for each of them; each part has its own depth. */
export function shareWithin(parts: readonly BatchPart[], rowsPerId: number): number {
  const asked = parts.reduce((total, { names }) => total + names.length, 0);
  const rows = rowsPerId * asked;
  const found = parts.reduce((total, { names, rowsBefore, whereabouts }) => {
    const rowsPerIdOfPart = Math.max(rows - rowsBefore, 0) / names.length;
    return total + names.length * whereabouts.shareWithin(rowsPerIdOfPart);
  }, 0);
  return found / asked;
}

/** Tells what is known of a part how deep its names were. `isWhole`: the list has shown all that it has of them. */
export function learn(
  { names, rowsBefore, whereabouts }: BatchPart,
  { found, state }: ListWalk<unknown>,
  isWhole: boolean,
): void {
  const indices = names.flatMap((name) => found.get(name)?.index ?? []);
  const rowsRead = isWhole ? Number.POSITIVE_INFINITY : state.rowsRead - rowsBefore;
  if (rowsRead <= 0 && indices.length === 0) return;
  whereabouts.saw({
    asked: names.length,
    indices: indices.map((index) => Math.max(index - rowsBefore, 0)),
    rowsRead: Math.max(rowsRead, 0),
  });
}
