import type { OrderQuery } from '../rest/types.ts';
import { createDepthGuess } from './depth-guess.ts';
import type { DepthGuess } from './depths.ts';
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

/** One for all tenants. */
export function createFollowingGuesses(): FollowingGuesses {
  // As many as there are sets of statuses, each with and without a search.
  const guesses = new Map<string, DepthGuess>();
  return {
    ofKind(kind) {
      const guess = guesses.get(kind) ?? createDepthGuess();
      guesses.set(kind, guess);
      return guess;
    },
  };
}

/** `now` counts milliseconds, from whenever; `guesses` are those for all tenants. */
export function createFollowingHistory(
  now = () => performance.now(),
  guesses?: FollowingGuesses,
): FollowingHistory {
  // In the order in which they were last asked for.
  const kinds = new Map<string, FollowingSeen>();
  let isAnyForgotten = false;

  function make(kind: string): FollowingSeen {
    // One that was forgotten would count as another tenant's.
    return new Seen(now, isAnyForgotten ? undefined : guesses?.ofKind(kind));
  }

  return {
    of(query) {
      const kind = kindOf(query);
      const seen = kinds.get(kind) ?? make(kind);
      kinds.delete(kind);
      kinds.set(kind, seen);
      const [oldest] = kinds.keys();
      if (kinds.size > maxKinds && oldest !== undefined) {
        kinds.delete(oldest);
        isAnyForgotten = true;
      }
      return seen;
    },
  };
}

/** Never what is searched for, which may be a person's name or number. */
function kindOf({ status = [], search }: OrderQuery): string {
  return `${[...new Set(status)].sort().join()} ${search !== undefined}`;
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
