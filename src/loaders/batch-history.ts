import { type CallTimesSeen, createCallTimes } from './call-times.ts';
import type { DepthGuess } from './depths.ts';
import { createListTrouble, type ListTrouble } from './list-trouble.ts';
import { createRowCheck, type RowCheck, type RowTrust } from './row-check.ts';
import type { Settled } from './settling.ts';
import { createWhereabouts, type Whereabouts } from './whereabouts.ts';

/** What earlier batches of one resource's ids have shown, for one tenant. */
export interface BatchHistory {
  readonly times: CallTimesSeen;
  /** Of the ids that no list has named just before. */
  readonly whereabouts: Whereabouts;
  readonly trouble: ListTrouble;
  readonly rowCheck: RowCheck;
  /** Shows what gets have answered to the check of rows, which has no use of them before the first list. */
  sawGets(answers: readonly Settled<object>[]): void;
}

// Of a batch's gets, which are alike.
const mostLookedAt = 5;

/** `trust` and `guess` are the resource's, for all tenants; `now` counts milliseconds, from whenever. */
export function createBatchHistory(
  trust?: RowTrust,
  now = () => performance.now(),
  guess?: DepthGuess,
): BatchHistory {
  return new History(trust, now, guess);
}

/** A class whose parts are made when they are asked for, as each tenant that is remembered has some, and needs few of them. */
class History implements BatchHistory {
  readonly #trust: RowTrust | undefined;
  readonly #now: () => number;
  readonly #guess: DepthGuess | undefined;
  #times: CallTimesSeen | undefined;
  #whereabouts: Whereabouts | undefined;
  #trouble: ListTrouble | undefined;
  #rowCheck: RowCheck | undefined;

  constructor(trust: RowTrust | undefined, now: () => number, guess: DepthGuess | undefined) {
    this.#trust = trust;
    this.#now = now;
    this.#guess = guess;
  }

  get times(): CallTimesSeen {
    this.#times ??= createCallTimes();
    return this.#times;
  }

  get whereabouts(): Whereabouts {
    this.#whereabouts ??= createWhereabouts(this.#now, this.#guess);
    return this.#whereabouts;
  }

  get trouble(): ListTrouble {
    this.#trouble ??= createListTrouble(this.#now);
    return this.#trouble;
  }

  get rowCheck(): RowCheck {
    this.#rowCheck ??= createRowCheck(this.#trust, this.#now);
    return this.#rowCheck;
  }

  sawGets(answers: readonly Settled<object>[]): void {
    if (this.#rowCheck === undefined) return;
    for (const answer of answers.slice(0, mostLookedAt)) {
      if (answer !== null && !(answer instanceof Error)) this.#rowCheck.sawGet(answer);
    }
  }
}
