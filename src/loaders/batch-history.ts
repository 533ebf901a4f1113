import { type CallTimesSeen, createCallTimes } from './call-times.ts';
import { createWhereabouts, type Whereabouts } from './whereabouts.ts';

/** What earlier batches of one resource's ids have shown, for one tenant. */
export interface BatchHistory {
  readonly times: CallTimesSeen;
  /** Of the ids that no list has named just before. */
  readonly whereabouts: Whereabouts;
}

/** `now` counts milliseconds, from whenever. */
export function createBatchHistory(now = () => performance.now()): BatchHistory {
  return { times: createCallTimes(), whereabouts: createWhereabouts(now) };
}
