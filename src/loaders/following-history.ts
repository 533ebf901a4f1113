import type { OrderQuery } from '../rest/types.ts';
import { createDepthGuess, type DepthGuess } from './depths.ts';
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

/** Where what follows is taken to be of tenants that have shown nothing yet, for each kind of list. */
export interface FollowingGuesses {
  ofKind(kind: string): DepthGuess;
}

/** One for all tenants. `now` counts milliseconds, from whenever. */
export function createFollowingGuesses(now: () => number): FollowingGuesses {
  const kinds = new RecentKinds(() => createDepthGuess(now));
  return { ofKind: (kind) => kinds.of(kind) };
}

/** `now` counts milliseconds, from whenever; `guesses` are those for all tenants. */
export function createFollowingHistory(
  now = () => performance.now(),
  guesses?: FollowingGuesses,
): FollowingHistory {
  const kinds = new RecentKinds((kind) => new Seen(now, guesses?.ofKind(kind)));
  return { of: (query) => kinds.of(kindOf(query)) };
}

/** Something for each kind of list, for as many as were asked for last. */
class RecentKinds<Value> {
  readonly #make: (kind: string) => Value;
  // In the order in which they were last asked for.
  readonly #values = new Map<string, Value>();

  constructor(make: (kind: string) => Value) {
    this.#make = make;
  }

  of(kind: string): Value {
    const values = this.#values;
    const value = values.get(kind) ?? this.#make(kind);
    values.delete(kind);
    values.set(kind, value);
    const [oldest] = values.keys();
    if (values.size > maxKinds && oldest !== undefined) values.delete(oldest);
    return value;
  }
}

/** Never what is searched for, which may be a person's name or number. */
function kindOf({ status = [], search }: OrderQuery): string {
  return `${status.join()} ${search !== undefined}`;
}

class Seen implements FollowingSeen {
  readonly whereabouts: Whereabouts;
  #rowCount = 0;
  #nameCount = 0;

  constructor(now: () => number, guess: DepthGuess | undefined) {
    this.whereabouts = createWhereabouts(now, guess);
  }

  idsPerRow(): number {
    return this.#rowCount === 0 ? 0 : this.#nameCount / this.#rowCount;
  }

  sawNames(rows: number, names: number): void {
    this.#rowCount = this.#rowCount * decay + rows;
    this.#nameCount = this.#nameCount * decay + names;
  }
}
