import { httpDateMs } from '../../base/date-time.ts';
import type { Tenant } from '../../tenancy/tenant.ts';
import { DeadlineError, StatusError, UnavailableError } from '../errors.ts';
import { isOfGateway } from '../gateway-statuses.ts';

const basePauseMs = 100;
const maxPauseMs = 1_000;
/** A longer `retry-after` of REST is passed on to the client, and the read is not retried. */
const maxRetryAfterMs = 2_000;

export type Retries = ReturnType<typeof createRetries>;

/**
 * The retry policy (docs/design/how-trouble-at-rest-is-met.md#retries). A read is retried if REST was
 * unreachable, overloaded or too slow. Back-offs are random up to a bound that doubles each time (full jitter).
 */
export function createRetries(maxRetries: number, random = Math.random) {
  const budget = createRetryBudget();

  function backOffAfter(error: unknown, retries: number): number | undefined {
    const jitter = () => random() * Math.min(basePauseMs * 2 ** retries, maxPauseMs);
    if (error instanceof UnavailableError) return retries === 0 && isReset(error) ? 0 : jitter();
    // Only one retry: with two, waiters would wait for three call timeouts.
    if (error instanceof DeadlineError) return retries === 0 ? jitter() : undefined;
    if (!(error instanceof StatusError)) return undefined;
    const { status, retryAfterMs } = error;
    if (status !== 429 && !isOfGateway(status)) return undefined;
    if (retryAfterMs === undefined) return status === 429 ? undefined : jitter();
    return retryAfterMs <= maxRetryAfterMs ? retryAfterMs + jitter() : undefined;
  }

  return {
    /** Records the first attempt of a read, which adds to the retry budget. */
    recordFirstAttempt: budget.earn,
    /**
     * The back-off before the next attempt, in milliseconds. Undefined if the read is not retried.
     * @param retries the number of earlier retries of this read.
     * @param remainingMs the time until the deadline of the operation, in milliseconds.
     */
    pauseMs(error: unknown, tenant: Tenant, retries: number, remainingMs: number): number | undefined {
      if (retries >= maxRetries) return undefined;
      const pauseMs = backOffAfter(error, retries);
      if (pauseMs === undefined || pauseMs >= remainingMs) return undefined;
      return budget.spend(tenant) ? pauseMs : undefined;
    },
  };
}

/** Whether a connection broke. REST may have closed an idle kept-alive connection at the moment of the call. */
function isReset({ cause }: UnavailableError): boolean {
  return (
    cause instanceof Error &&
    'code' in cause &&
    /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(String(cause.code))
  );
}

/** Each read adds this fraction of a retry to the budget. While REST fails, retries add at most 20 % to the calls. */
const earnedPerRead = 0.2;
/** The maximum budget: about the number of calls that fail at the same time when REST restarts. */
const maxBudget = 64;
const initialBudget = 10;

/** The retry budget of the process. A tenant may retry while it has spent fewer retries than are left. */
function createRetryBudget() {
  // The tenant ids of the retries that are missing from `maxBudget`, the oldest first. Those that the budget lacks at the
  // start belong to nobody. Reads earn back the oldest one first.
  const spentBy: string[] = Array.from({ length: maxBudget - initialBudget }, () => '');
  let earned = 0;
  return {
    earn(): void {
      if (spentBy.length === 0) return;
      earned += earnedPerRead;
      if (earned < 1) return;
      earned -= 1;
      spentBy.shift();
    },
    /** Spends one retry of the budget. @returns false if there is no retry left for this tenant. */
    spend({ id }: Tenant): boolean {
      const spentByTenant = spentBy.filter((spender) => spender === id).length;
      if (spentByTenant >= maxBudget - spentBy.length) return false;
      spentBy.push(id);
      return true;
    },
  };
}

// The largest GraphQL `Int`, about 25 days.
const maxDelayMs = 2 ** 31 - 1;

// Several headers arrive as one list with commas. Only a comma before a number of seconds ends a value, as the weekday of a
// date has a comma after it.
const valueEnd = /,\s*(?=(?:\d*\.)?\d+\s*(?:,|$))/;
const seconds = /^(?:\d*\.)?\d+$/;

/**
 * Parses the `retry-after` header: seconds, also with a fraction, or a date. The longest time of several counts, because
 * a proxy may add its own.
 * @returns whole milliseconds from now, at most about 25 days. Undefined for an invalid header, such as a negative time.
 */
export function parseRetryAfter(header: string | string[] | undefined): number | undefined {
  const values = [header ?? []].flat().flatMap((value) => value.trim().split(valueEnd));
  const delays = values.map(delayMs).filter((delay) => !Number.isNaN(delay));
  return delays.length === 0 ? undefined : Math.min(Math.ceil(Math.max(0, ...delays)), maxDelayMs);
}

// The oldest form of RFC 9110, section 5.6.7, is in UTC.
const dateWithoutZone = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;

/** NaN for an invalid value. */
function delayMs(value: string): number {
  if (seconds.test(value)) return Number(value) * 1_000;
  const dateMs = dateWithoutZone.test(value) ? Date.parse(`${value} GMT`) : httpDateMs(value);
  return (dateMs ?? Number.NaN) - Date.now();
}
