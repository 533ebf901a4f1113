import type { RestApi } from '../rest/api.ts';

/** When a write was first sent, as JSON: what it has made cannot be older. */
export interface Attempt {
  /** By this machine's clock, in milliseconds since 1970. */
  localMs: number;
  /** By the clock of the REST service; absent where no answer had told it yet. */
  serviceMs?: number;
}

/** The service tells whole seconds, and what it creates may carry a time that is rounded down as well. */
const slackMs = 2_000;

/** An attempt that is made now. */
export function attemptNow({ serviceTime }: RestApi): Attempt {
  const serviceMs = serviceTime();
  return { localMs: Date.now(), ...(serviceMs === undefined ? {} : { serviceMs }) };
}

/**
 * From when on the REST service may have created what an attempt has made, in milliseconds since 1970 by its own clock.
 * @returns undefined where no answer has told that clock, then or since.
 */
export function earliestCreation(
  { localMs, serviceMs }: Attempt,
  { serviceTime }: RestApi,
): number | undefined {
  if (serviceMs !== undefined) return serviceMs - slackMs;
  const now = serviceTime();
  return now === undefined ? undefined : now - (Date.now() - localMs) - slackMs;
}

/** When a record was created, in milliseconds since 1970; undefined where REST sent no such time. */
export function creationTime(record: { createTime?: string | null | undefined }): number | undefined {
  const createdMs = typeof record.createTime === 'string' ? Date.parse(record.createTime) : Number.NaN;
  return Number.isNaN(createdMs) ? undefined : createdMs;
}
