import type { OrderQuery } from '../rest/types.ts';
import { createWhereabouts, type Whereabouts } from './whereabouts.ts';

/** What earlier lists of orders of one kind were followed by, for one tenant. */
export interface FollowingSeen {
  /** Where in their own list the records are that followed, counted from where those of the rows before would end. */
  readonly whereabouts: Whereabouts;
  /** How many records follow from a row; 0 where nothing is known. */
  idsPerRow(): number;
  /** A page of so many rows at most has named so many records. */
  sawNames(rows: number, names: number): void;
}

/** Of one tenant: each kind of list apart, as new orders are followed by other shipments than returned ones. */
export interface FollowingHistory {
  of(query: OrderQuery): FollowingSeen;
}

// What is older than some ten lists hardly counts, as each list is of another day.
const decay = 0.8;
// There are few kinds, but a client may combine statuses as it likes.
const maxKinds = 50;

/** `now` counts milliseconds, from whenever. */
export function createFollowingHistory(now = () => performance.now()): FollowingHistory {
  // In the order in which they were last asked for.
  const kinds = new Map<string, FollowingSeen>();
  return {
    of(query) {
      const kind = kindOf(query);
      const seen = kinds.get(kind) ?? new Seen(now);
      kinds.delete(kind);
      kinds.set(kind, seen);
      const [oldest] = kinds.keys();
      if (kinds.size > maxKinds && oldest !== undefined) kinds.delete(oldest);
      return seen;
    },
  };
}

/** Never what is searched for, which may be a person's name or number. */
function kindOf({ status = [], search }: OrderQuery): string {
  return `${status.join()} ${search !== undefined}`;
}

class Seen implements FollowingSeen {
  readonly whereabouts: Whereabouts;
  #rowCount = 0;
  #nameCount = 0;

  constructor(now: () => number) {
    this.whereabouts = createWhereabouts(now);
  }

  idsPerRow(): number {
    return this.#rowCount === 0 ? 0 : this.#nameCount / this.#rowCount;
  }

  sawNames(rows: number, names: number): void {
    this.#rowCount = this.#rowCount * decay + rows;
    this.#nameCount = this.#nameCount * decay + names;
  }
}
