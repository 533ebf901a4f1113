import { monotonicMs } from '../base/monotonic-ms.ts';
import type { RestApi } from '../rest/api.ts';

/** When a write was first sent, as JSON. A record that the write created cannot be older. */
export interface WriteAttempt {
  /** Milliseconds since 1970 by this machine's clock. */
  localMs: number;
  /** Milliseconds of the machine's monotonic clock, which no correction of the wall clock changes. */
  monotonicMs: number;
  /** Milliseconds since 1970 by the clock of the REST service. Absent if no response had reported that clock yet. */
  serviceMs?: number;
}

/** The service reports its clock in whole seconds, and it may also round down the `createTime` of a new record. */
const slackMs = 2_000;

/** Returns an attempt that starts now. */
export function writeAttemptNow({ serviceTime }: RestApi): WriteAttempt {
  const serviceMs = serviceTime();
  const now = { localMs: Date.now(), monotonicMs: monotonicMs() };
  return serviceMs === undefined ? now : { ...now, serviceMs };
}

/** The milliseconds since an attempt. After a restart of the machine, the wall clock is the only one left. */
export function elapsedSinceMs(attempt: WriteAttempt): number {
  const elapsedMs = monotonicMs() - attempt.monotonicMs;
  return elapsedMs >= 0 ? elapsedMs : Date.now() - attempt.localMs;
}

/**
 * Returns the earliest time at which the REST service may have created a record for the attempt.
 * @returns milliseconds since 1970 by the clock of the service; undefined if no response has reported that clock.
 */
export function earliestCreation(attempt: WriteAttempt, { serviceTime }: RestApi): number | undefined {
  if (attempt.serviceMs !== undefined) return attempt.serviceMs - slackMs;
  const now = serviceTime();
  return now === undefined ? undefined : now - elapsedSinceMs(attempt) - slackMs;
}

/** Returns when a record was created, in milliseconds since 1970; undefined if REST sent no valid `createTime`. */
export function creationTime(record: { createTime?: string | null | undefined }): number | undefined {
  const createdMs = typeof record.createTime === 'string' ? Date.parse(record.createTime) : Number.NaN;
  return Number.isNaN(createdMs) ? undefined : createdMs;
}
