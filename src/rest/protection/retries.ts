import type { Tenant } from '../../concurrency/tenant.ts';
import { DeadlineError, StatusError, UnavailableError } from '../errors.ts';

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
  /** From 0 up to 1. */
  random?: () => number;
}

/**
 * Reads are tried again where REST was not there or too slow, so that another try may well succeed. The pauses are random
 * up to a bound that doubles each time (full jitter), so that those who failed together do not come back together.
 */
export function createRetries({ maxRetries, random = Math.random }: RetriesOptions): Retries {
  const budget = createRetryBudget();

  function pauseAfter(error: unknown, retries: number): number | undefined {
    const jitter = () => random() * Math.min(basePauseMs * 2 ** retries, maxPauseMs);
    if (error instanceof UnavailableError) return retries === 0 && isReset(error) ? 0 : jitter();
    // Once: another would have all who wait do so for three times as long as a call may take.
    if (error instanceof DeadlineError) return retries === 0 ? jitter() : undefined;
    if (!(error instanceof StatusError)) return undefined;
    const { status, retryAfterMs } = error;
    if (status !== 429 && status !== 502 && status !== 503 && status !== 504) return undefined;
    if (retryAfterMs === undefined) return status === 429 ? undefined : jitter();
    return retryAfterMs <= maxRetryAfterMs ? retryAfterMs + jitter() : undefined;
  }

  return {
    begin: budget.earn,
    pauseMs(error, tenant, retries, remainingMs) {
      if (retries >= maxRetries) return undefined;
      const pauseMs = pauseAfter(error, retries);
      if (pauseMs === undefined || pauseMs >= remainingMs) return undefined;
      return budget.take(tenant) ? pauseMs : undefined;
    },
  };
}

/** Whether a connection broke that may have been kept from an earlier call. REST may have closed it just then. */
function isReset({ cause }: UnavailableError): boolean {
  return (
    cause instanceof Error &&
    'code' in cause &&
    /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(String(cause.code))
  );
}

/** How many retries one read earns: while REST fails, it sees at most this share of calls more than without retries. */
const earnedByRead = 0.2;
/** The most retries that are kept. About as many calls may break at once where REST starts anew. */
const maxKept = 64;
const keptAtStart = 10;

/** How many retries there may be, over the whole process. Each tenant leaves as many to others as it takes. */
function createRetryBudget() {
  // Whose retries are missing from `maxKept`, in the order in which they are earned back.
  const takers: string[] = Array.from({ length: maxKept - keptAtStart }, () => '');
  let earned = 0;
  return {
    earn(): void {
      if (takers.length === 0) return;
      earned += earnedByRead;
      if (earned < 1) return;
      earned -= 1;
      takers.shift();
    },
    /** Takes one retry; false where there is none for this tenant. */
    take({ id }: Tenant): boolean {
      let own = 0;
      for (const taker of takers) if (taker === id) own += 1;
      if (own >= maxKept - takers.length) return false;
      takers.push(id);
      return true;
    },
  };
}
