import type { Knowledge } from './batch-plan.ts';
import { type CallTimesSeen, createCallTimes } from './call-times.ts';
import { createDepths, type Depths } from './depths.ts';
import { createRecordShapes, type RecordShapes } from './record-shapes.ts';

/** What earlier batches of one resource's ids have shown, for one tenant. About the last twenty count. */
export interface BatchHistory {
  readonly times: CallTimesSeen;
  readonly depths: Depths;
  readonly shapes: RecordShapes;
  known(callsAtOnce: number, maxPageSize: number): Knowledge;
  /**
   * Whether the list is to be tried again although it is not expected to pay: for the twentieth batch that went without
   * it, and for the first after a minute.
   */
  isTrialDue(): boolean;
  /** A batch that might have been answered from the list has been, or has not. */
  sawBatch(isFromList: boolean): void;
}

const batchesPerTrial = 20;
const msPerTrial = 60_000;

/** `now` counts milliseconds, from whenever. */
export function createBatchHistory(now = () => performance.now()): BatchHistory {
  const times = createCallTimes();
  const depths = createDepths();
  let batchesWithout = 0;
  let lastTriedAt = now();
  return {
    times,
    depths,
    shapes: createRecordShapes(),
    known: (callsAtOnce, maxPageSize) => ({
      ...times.expected(),
      callsAtOnce,
      maxPageSize,
      shareWithin: depths.shareWithin,
    }),
    isTrialDue: () => batchesWithout + 1 >= batchesPerTrial || now() - lastTriedAt >= msPerTrial,
    sawBatch(isFromList) {
      batchesWithout = isFromList ? 0 : batchesWithout + 1;
      if (isFromList) lastTriedAt = now();
    },
  };
}
