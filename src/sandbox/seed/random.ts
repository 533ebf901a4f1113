/** A stream of choices that is the same for the same seed, on every machine. */
export interface Random {
  /** From 0 up to, not including, 1. */
  fraction(): number;
  /** A whole number from `least` to `most`, both included. */
  integer(least: number, most: number): number;
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  /** One of the entries, each as likely as its weight says. */
  weighted<Item>(entries: readonly (readonly [Item, number])[]): Item;
  /** The index of one of the items, each as likely as its share says. */
  byShare(items: readonly { share: number }[]): number;
}

/** Mulberry32: small, fast, and good enough to make up a merchant's life. `seed` is a 32-bit integer. */
export function createRandom(seed: number): Random {
  let state = seed;
  const fraction = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (least: number, most: number) => least + Math.floor(fraction() * (most - least + 1));
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
  let left = 0;
  for (let index = 0; index < items.length; index++) left += shareOf(itemAt(items, index));
  left *= fraction;
  for (let index = 0; index < items.length; index++) {
    left -= shareOf(itemAt(items, index));
    if (left < 0) return index;
  }
  return items.length - 1;
}

function itemAt<Item>(items: readonly Item[], index: number): Item {
  if (index < 0 || index >= items.length) throw new RangeError('There is nothing to choose from');
  // In range, so it is an Item, even where Item itself includes undefined.
  return items[index] as Item;
}
