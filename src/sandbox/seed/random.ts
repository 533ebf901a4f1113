/** A stream of random choices. The same seed gives the same stream on every machine. */
export interface Random {
  /** A number from 0 up to, but not including, 1. */
  fraction(): number;
  /** A whole number from `min` to `max`, both included. */
  integer(min: number, max: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  /** One of the items, all equally likely. */
  pick<Item>(items: readonly Item[]): Item;
  /** One of the entries. The second element of an entry is its weight. */
  weighted<Item>(entries: readonly (readonly [Item, number])[]): Item;
  /** The index of one of the items, weighted by `share`. */
  byShare(items: readonly { share: number }[]): number;
}

/** Creates a Mulberry32 generator. @param seed a 32-bit integer */
export function createRandom(seed: number): Random {
  let state = seed;
  const fraction = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (min: number, max: number) => min + Math.floor(fraction() * (max - min + 1));
  return {
    fraction,
    integer,
    chance: (probability) => fraction() < probability,
    pick: (items) => itemAt(items, integer(0, items.length - 1)),
    weighted: (entries) =>
      itemAt(
        entries,
        indexByShare(entries, ([, weight]) => weight, fraction()),
      )[0],
    byShare: (items) => indexByShare(items, ({ share }) => share, fraction()),
  };
}

function indexByShare<Item>(
  items: readonly Item[],
  shareOf: (item: Item) => number,
  fraction: number,
): number {
  let remaining = 0;
  for (let index = 0; index < items.length; index++) remaining += shareOf(itemAt(items, index));
  remaining *= fraction;
  for (let index = 0; index < items.length; index++) {
    remaining -= shareOf(itemAt(items, index));
    if (remaining < 0) return index;
  }
  return items.length - 1;
}

function itemAt<Item>(items: readonly Item[], index: number): Item {
  if (index < 0 || index >= items.length) throw new RangeError('There is nothing to choose from');
  // The index is in range. The cast is needed because Item may include undefined.
  return items[index] as Item;
}
