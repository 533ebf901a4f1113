import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { LRUCache } from 'lru-cache';
import { monotonicMs } from '../base/monotonic-ms.ts';
import { pause } from '../concurrency/cancellation.ts';
import type { CallContext } from '../rest/client/call-context.ts';
import { BudgetExceededError } from '../rest/errors.ts';
import { EarlierAttemptUnknownError, UnsettledError } from './errors.ts';

// A write is lost if it may have left and REST did not say what it did, for whatever reason. REST may still be at work,
// and its reads may show a record later than its writes. So a search that finds no record counts only some time later.

/** When a write was lost, by the wall clock and the monotonic clock of a machine, in milliseconds. */
export interface LossTime {
  wallMs: number;
  monotonicMs: number;
  /** Whose clocks these are. A note of an earlier version does not say so. */
  machine?: string;
}

const thisMachine = bootId();

/** When this process first saw each loss that another machine has noted, by the monotonic clock. */
const firstLooksMs = new LRUCache<string, number>({ max: 10_000 });

/** What is stored of a write that may be lost. */
export interface LostWrite {
  /** Absent while the write is on its way, and so also after the death of the process that sent it. */
  lost?: LossTime;
}

/** The loss of a write whose outcome became unknown just now, or this many milliseconds ago. */
export const lossNow = (agoMs = 0): LossTime => ({
  wallMs: Date.now() - agoMs,
  monotonicMs: monotonicMs() - agoMs,
  machine: thisMachine,
});

/**
 * The time since a loss, in milliseconds, by the clock that shows the shorter time: the wall clock may jump. Undefined if
 * the loss is in the future of a clock. The clocks of another machine say nothing here, so its loss counts from the first
 * look.
 */
function ageMs(lost: LossTime): number | undefined {
  if (lost.machine !== thisMachine) return monotonicMs() - firstLookMs(lost);
  const age = Math.min(Date.now() - lost.wallMs, monotonicMs() - lost.monotonicMs);
  return age < 0 ? undefined : age;
}

/** The loss that a search has to wait for longest. */
export function latestLoss(losses: readonly LossTime[]): LossTime | undefined {
  return losses.toSorted((one, other) => waitedMs(one) - waitedMs(other))[0];
}

/** How long requests have waited for a loss, in milliseconds. A loss in the future of a clock counts from the first look. */
function waitedMs(lost: LossTime): number {
  return ageMs(lost) ?? monotonicMs() - firstLookMs(lost);
}

function firstLookMs({ machine, wallMs, monotonicMs: lostMs }: LossTime): number {
  const loss = `${machine} ${wallMs} ${lostMs}`;
  const firstMs = firstLooksMs.get(loss) ?? monotonicMs();
  firstLooksMs.set(loss, firstMs);
  return firstMs;
}

/** Names the machine, and its boot, as a boot restarts the monotonic clock. Only Linux has a name that processes share. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return randomUUID();
  }
}

/**
 * Returns when a stored write was lost. If that is unknown, the write counts as lost from now on: a process that has died
 * could send the write until now. Stores this time, so that later requests wait no longer.
 * @throws the errors of `store`.
 */
export async function lossOf<Write extends LostWrite>(
  write: Write,
  store: (write: Write) => Promise<void>,
): Promise<LossTime> {
  if (write.lost !== undefined && ageMs(write.lost) !== undefined) return write.lost;
  const lost = lossNow();
  await store({ ...write, lost });
  return lost;
}

/**
 * Searches for the record of a lost write: at once, and again when the time has passed that REST may take.
 * @param search may run twice, and must not answer the second time from a cache.
 * @param isConclusive whether no later search can change the result, such as a record.
 * @param processingMs how long after the loss REST may still create or hide the record, in milliseconds.
 * @throws UnsettledError instead of waiting beyond the deadline, or if no read is left for the second search. Also the
 * errors of `search`.
 */
export async function searchUntilSettled<Result>(
  lost: LossTime,
  search: () => Promise<Result>,
  isConclusive: (result: Result) => boolean,
  processingMs: number,
  { deadline, signal }: CallContext,
): Promise<Result> {
  const remainingMs = () => Math.max(0, processingMs - waitedMs(lost));
  const isSettled = remainingMs() === 0;
  const result = await search();
  if (isSettled || isConclusive(result)) return result;
  const waitMs = remainingMs();
  if (waitMs >= deadline.remainingMs()) throw new UnsettledError(waitMs);
  // After an abort, the reads of the search fail.
  await pause(waitMs, signal);
  try {
    return await search();
  } catch (error) {
    // A new operation has its own reads, and one search is enough for it.
    const cause = error instanceof EarlierAttemptUnknownError ? error.cause : error;
    throw cause instanceof BudgetExceededError ? new UnsettledError(1_000, { cause }) : error;
  }
}
