import { createDepths, type DepthGuess, type Depths, type SearchedBatch } from './depths.ts';

/** Where in their list the ids of one kind of batch have been, for one tenant. About the last twenty batches count. */
export interface Whereabouts extends Depths {
  /** Whether any have been looked for. */
  readonly isKnown: boolean;
  /**
   * Whether the list is to be looked at again although it is not expected to pay: for the twentieth batch that went
   * without it, and for the first after ten minutes.
   */
  isTrialDue(): boolean;
  /** A batch for which there might have been a page went without. */
  wentWithout(): void;
}

const batchesPerTrial = 20;
const msPerTrial = 600_000;

/** `now` counts milliseconds, from whenever; `guess` is where ids are taken to be at first. */
export function createWhereabouts(now: () => number, guess?: DepthGuess): Whereabouts {
  return new WhereaboutsSeen(now, guess);
}

/** A class, as each tenant that is remembered has some. */
class WhereaboutsSeen implements Whereabouts {
  isKnown = false;
  readonly #now: () => number;
  readonly #depths: Depths;
  #batchesWithout = 0;
  #lastSeenAt: number;

  constructor(now: () => number, guess: DepthGuess | undefined) {
    this.#now = now;
    this.#depths = createDepths(guess);
    this.#lastSeenAt = now();
  }

  shareWithin(rowsPerId: number): number {
    return this.#depths.shareWithin(rowsPerId);
  }

  isTrialDue(): boolean {
    return this.#batchesWithout + 1 >= batchesPerTrial || this.#now() - this.#lastSeenAt >= msPerTrial;
  }

  saw(search: SearchedBatch): void {
    this.isKnown = true;
    this.#batchesWithout = 0;
    this.#lastSeenAt = this.#now();
    this.#depths.saw(search);
  }

  wentWithout(): void {
    this.#batchesWithout += 1;
  }
}
