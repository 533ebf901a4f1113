import { createDepths, type Depths, type SearchedBatch } from './depths.ts';

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

/** `now` counts milliseconds, from whenever. */
export function createWhereabouts(now: () => number): Whereabouts {
  const depths = createDepths();
  let batchesWithout = 0;
  let lastSeenAt = now();
  const whereabouts = {
    isKnown: false,
    shareWithin: depths.shareWithin,
    isTrialDue: () => batchesWithout + 1 >= batchesPerTrial || now() - lastSeenAt >= msPerTrial,
    saw(search: SearchedBatch) {
      whereabouts.isKnown = true;
      batchesWithout = 0;
      lastSeenAt = now();
      depths.saw(search);
    },
    wentWithout() {
      batchesWithout += 1;
    },
  };
  return whereabouts;
}
