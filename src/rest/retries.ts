import { DeadlineError, StatusError, UnavailableError } from './errors.ts';
import { createRetryBudget, type RetryBudget } from './retry-budget.ts';
import type { Tenant } from './tenant.ts';

const basePauseMs = 100;
const maxPauseMs = 1_000;
/** What REST asks to wait for longer than that is told to the client instead. */
const maxRetryAfterMs = 2_000;

/** Which reads are tried again, and when. */
export interface Retries {
  /** A read is made for the first time. */
  begin(): void;
  /**
   * How many milliseconds to wait before it is tried again after this error, or undefined where it is not. `retries` says how
   * often it was already, `remainingMs` how much time its operation has left.
   */
  pauseMs(error: unknown, tenant: Tenant, retries: number, remainingMs: number): number | undefined;
}

export interface RetriesOptions {
  /** How often one read is tried again at most. */
  maxRetries: number;
  budget?: RetryBudget;
  /** For what connections do that were kept from earlier calls. */
  resetBudget?: RetryBudget;
  /** From 0 up to 1. */
  random?: () => number;
}

/**
 * Reads are tried again where REST was not there or too slow, so that another try may well succeed. The pauses are random
 * up to a bound that doubles each time (full jitter), so that those who failed together do not come back together.
 */
export function createRetries({
  maxRetries,
  budget = createRetryBudget(),
  // None at the start, when none is kept yet.
  resetBudget = createRetryBudget({ reserve: 64, atStart: 0 }),
  random = Math.random,
}: RetriesOptions): Retries {
  function pauseAfter(error: unknown, retries: number): number | undefined {
    const jitter = () => random() * Math.min(basePauseMs * 2 ** retries, maxPauseMs);
    if (error instanceof UnavailableError) return isStale(error, retries) ? 0 : jitter();
    // Once: another would have all who wait do so for three times as long as a call may take.
    if (error instanceof DeadlineError) return retries === 0 ? jitter() : undefined;
    if (!(error instanceof StatusError)) return undefined;
    const { status, retryAfterMs } = error;
    if (status !== 429 && status !== 502 && status !== 503 && status !== 504) return undefined;
    if (retryAfterMs === undefined) return status === 429 ? undefined : jitter();
    return retryAfterMs <= maxRetryAfterMs ? retryAfterMs + jitter() : undefined;
  }

  return {
    begin() {
      budget.earn();
      resetBudget.earn();
    },
    pauseMs(error, tenant, retries, remainingMs) {
      if (retries >= maxRetries) return undefined;
      const pauseMs = pauseAfter(error, retries);
      if (pauseMs === undefined || pauseMs >= remainingMs) return undefined;
      // One that many meet at once, as when REST is started anew, and that says nothing of REST as it is now. So it has a
      // budget of its own, and that the bound of all holds.
      const isPaid = isStale(error, retries) && resetBudget.take(tenant);
      return isPaid || budget.take(tenant) ? pauseMs : undefined;
    },
  };
}

/** Whether a connection may have broken that was kept from an earlier call, which REST has closed just then. */
function isStale(error: unknown, retries: number): boolean {
  if (retries > 0 || !(error instanceof UnavailableError)) return false;
  const { cause } = error;
  return (
    cause instanceof Error &&
    'code' in cause &&
    /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(String(cause.code))
  );
}
