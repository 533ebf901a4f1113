import type { RestApi } from '../rest/api.ts';

/** When a write was first sent, as JSON. A record that the write created cannot be older. */
export interface Attempt {
  /** Milliseconds since 1970 by this machine's clock. */
  localMs: number;
  /** Milliseconds since 1970 by the clock of the REST service. Absent if no response had reported that clock yet. */
  serviceMs?: number;
}

/** The service reports its clock in whole seconds, and it may also round down the `createTime` of a new record. */
const slackMs = 2_000;

/** Returns an attempt that starts now. */
export function attemptNow({ serviceTime }: RestApi): Attempt {
  const serviceMs = serviceTime();
  return { localMs: Date.now(), ...(serviceMs === undefined ? {} : { serviceMs }) };
}

/**
 * Returns the earliest time at which the REST service may have created a record for the attempt.
 * @returns milliseconds since 1970 by the clock of the service; undefined if no response has reported that clock.
 */
export function earliestCreation(
  { localMs, serviceMs }: Attempt,
  { serviceTime }: RestApi,
): number | undefined {
  if (serviceMs !== undefined) return serviceMs - slackMs;
  const now = serviceTime();
  return now === undefined ? undefined : now - (Date.now() - localMs) - slackMs;
}

/** Returns when a record was created, in milliseconds since 1970; undefined if REST sent no valid `createTime`. */
export function creationTime(record: { createTime?: string | null | undefined }): number | undefined {
  const createdMs = typeof record.createTime === 'string' ? Date.parse(record.createTime) : Number.NaN;
  return Number.isNaN(createdMs) ? undefined : createdMs;
}
