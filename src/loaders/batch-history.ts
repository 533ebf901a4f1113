import { type CallTimesSeen, createCallTimes } from './call-times.ts';
import { lazily } from './lazily.ts';
import { createListTrouble, type ListTrouble } from './list-trouble.ts';
import { createRowCheck, type RowCheck, type RowTrust } from './row-check.ts';
import { createWhereabouts, type Whereabouts } from './whereabouts.ts';

/** What earlier batches of one resource's ids have shown, for one tenant. */
export interface BatchHistory {
  readonly times: CallTimesSeen;
  /** Of the ids that no list has named just before. */
  readonly whereabouts: Whereabouts;
  readonly trouble: ListTrouble;
  readonly rowCheck: RowCheck;
}

const historyOf = lazily<{ trust: RowTrust | undefined; now: () => number }, BatchHistory>({
  times: () => createCallTimes(),
  whereabouts: ({ now }) => createWhereabouts(now),
  trouble: ({ now }) => createListTrouble(now),
  rowCheck: ({ trust, now }) => createRowCheck(trust, now),
});

/** `trust` is the resource's, for all tenants; `now` counts milliseconds, from whenever. */
export function createBatchHistory(trust?: RowTrust, now = () => performance.now()): BatchHistory {
  return historyOf({ trust, now });
}
