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
  const parts: BatchPart[] = [];
  let rest = names;
  for (const { names: announced, rowsBefore, whereabouts } of announcements) {
    // A name that two lists have named is the first one's.
    const others = rest.filter((name) => !announced.has(name));
    const own = others.length === 0 ? rest : rest.filter((name) => announced.has(name));
    if (own.length > 0) parts.push({ names: own, rowsBefore, whereabouts });
    rest = others;
  }
  if (rest.length > 0) parts.push({ names: rest, rowsBefore: 0, whereabouts: whereaboutsOfRest });
  return parts;
}

/** The share of all names to expect within so many rows for each of them; each part has its own depth. */
export function shareWithin(parts: readonly BatchPart[], rowsPerId: number): number {
  let asked = 0;
  for (const { names } of parts) asked += names.length;
  const rows = rowsPerId * asked;
  let found = 0;
  for (const { names, rowsBefore, whereabouts } of parts) {
    const rowsPerIdOfPart = Math.max(rows - rowsBefore, 0) / names.length;
    found += names.length * whereabouts.shareWithin(rowsPerIdOfPart);
  }
  return found / asked;
}

/** Tells what is known of a part how deep its names were. `isWhole`: the list has shown all that it has of them. */
export function learn(
  { names, rowsBefore, whereabouts }: BatchPart,
  walk: ListWalk<unknown>,
  isWhole: boolean,
): void {
  const indices: number[] = [];
  for (const name of names) {
    const index = walk.indexOf(name);
    if (index !== undefined) indices.push(Math.max(index - rowsBefore, 0));
  }
  const rowsRead = isWhole ? Number.POSITIVE_INFINITY : walk.state.rowsRead - rowsBefore;
  if (rowsRead <= 0 && indices.length === 0) return;
  whereabouts.saw({ asked: names.length, indices, rowsRead: Math.max(rowsRead, 0) });
}
