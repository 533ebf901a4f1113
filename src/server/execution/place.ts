/** Where a value stands in an answer. One that may not be null blanks what it belongs to, where it can't be given out. */
export interface Place {
  /** Of the object or list that it belongs to; undefined for the fields at the root. */
  readonly parent: Place | undefined;
  /** That object or list itself. */
  readonly holder: Holder;
  readonly key: string | number;
  readonly mayBeNull: boolean;
}

/** An object or a list of an answer. */
export type Holder = Record<string | number, unknown>;

/** The keys that lead to a place, from the root. */
export function pathOf(place: Place): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let at: Place | undefined = place; at !== undefined; at = at.parent) keys.push(at.key);
  return keys.reverse();
}

/**
 * Puts null in a place, or in that of the first thing around it that may be null.
 * @returns whether there was one.
 */
export function blank(place: Place): boolean {
  let at: Place | undefined = place;
  while (at !== undefined && !at.mayBeNull) at = at.parent;
  if (at !== undefined) at.holder[at.key] = null;
  return at !== undefined;
}

/** Whether something around a place has been blanked, so that what it holds is in no answer. */
export function isBelowBlank(place: Place): boolean {
  for (let { holder, parent } = place; parent !== undefined; { holder, parent } = parent) {
    if (parent.holder[parent.key] !== holder) return true;
  }
  return false;
}
