import type { AttemptOutcome, CallLogEntry, CallObserver } from '../rest/client/call-log.ts';
import type { Log } from './log.ts';

const messages = {
  'no answer': { begin: 'the REST service does not respond', end: 'the REST service responds again' },
  slow: { begin: 'the REST service is slow', end: 'the REST service is no longer slow' },
  'rate limit': {
    begin: 'the REST service rejects calls because of its rate limit',
    end: 'the REST service no longer rejects calls because of its rate limit',
  },
};
type OutageType = keyof typeof messages;

/** Attempts count for at least this long, and for at most twice as long. */
const windowMs = 5_000;
/** A read that took longer is slow. */
const slowMs = 2_000;
const minFailures = 5;
const minReads = 20;
/** An outage ends after this time without a failure. */
const minQuietMs = 10_000;

/** Attempts of one type, and whose they are. Two tokens are enough to tell that it is not one token alone. */
class Tally {
  count = 0;
  firstAtMs: number | undefined;
  readonly tenants = new Set<string>();

  add(tenantId: string): void {
    this.count += 1;
    this.firstAtMs ??= performance.now();
    if (this.tenants.size < 2) this.tenants.add(tenantId);
  }
}

class Window {
  readonly startedAtMs = performance.now();
  calls = 0;
  reads = 0;
  readonly good = new Tally();
  readonly bad = { 'no answer': new Tally(), slow: new Tally(), 'rate limit': new Tally() };
}

interface Outage {
  /** The first failure, by the wall clock. */
  since: string;
  startedAtMs: number;
  lastFailureMs: number;
  failures: number;
  endTimer: NodeJS.Timeout;
}

/**
 * Logs the begin and the end of each outage of REST. The failures of one token alone are no outage while other tokens
 * succeed.
 */
export function createOutageLog(log: Log) {
  const outages = new Map<OutageType, Outage>();
  /** When each call in progress was sent. */
  const sentAtMs = new Map<CallLogEntry, number>();
  let before = new Window();
  let current = new Window();
  /** Failures without a success between them. Few calls to a silent service fail rarely, because each fails late. */
  let streak = { count: 0, firstAtMs: 0, lastAtMs: 0 };
  let isClosed = false;

  function replaceOldWindows(): void {
    const ageMs = performance.now() - current.startedAtMs;
    if (ageMs < windowMs) return;
    before = ageMs < 2 * windowMs ? current : new Window();
    current = new Window();
  }

  /** A call that was sent long after the last failure begins a new streak. */
  function extendStreak(durationMs: number): void {
    const lastAtMs = performance.now();
    const isGap = lastAtMs - durationMs - streak.lastAtMs > windowMs;
    const { count, firstAtMs } = isGap || streak.count === 0 ? { count: 0, firstAtMs: lastAtMs } : streak;
    streak = { count: count + 1, firstAtMs, lastAtMs };
  }

  function noteFailure(type: OutageType, attempt: AttemptOutcome): void {
    const { route, status: upstreamStatus, reason, isCircuitOpen } = attempt;
    const now = performance.now();
    const inStreak = type === 'no answer' ? streak : { count: 0, firstAtMs: now };
    const failures = Math.max(before.bad[type].count + current.bad[type].count, inStreak.count);
    const calls = type === 'slow' ? before.reads + current.reads : before.calls + current.calls;
    // A rate limit of REST refuses only the calls above its rate.
    const minFraction = type === 'rate limit' ? 0 : 0.5;
    // Whether much of the service fails. The calls of other routes may succeed while a circuit is open.
    const isWide = isCircuitOpen || (failures >= minFraction * calls && !isOfOneToken(type));
    const running = outages.get(type);
    if (running !== undefined) {
      running.failures += 1;
      // Single failures among many successes do not prolong an outage.
      if (isWide) running.lastFailureMs = now;
      return;
    }
    const isOften = isCircuitOpen || (type === 'slow' ? calls >= minReads : failures >= minFailures);
    if (!isWide || !isOften) return;
    const firstAtMs = before.bad[type].firstAtMs ?? current.bad[type].firstAtMs ?? now;
    const startedAtMs = Math.min(firstAtMs, inStreak.firstAtMs);
    const since = new Date(Date.now() - (now - startedAtMs)).toISOString();
    const endTimer = setInterval(() => endIfQuiet(type), 500).unref();
    outages.set(type, { since, startedAtMs, lastFailureMs: now, failures, endTimer });
    const circuitOpen = isCircuitOpen || undefined;
    const fields = { outage: type, since, route, reason, upstreamStatus, circuitOpen, failures };
    log.warn(fields, messages[type].begin);
  }

  /** Whether only one token fails, while another one succeeds. */
  function isOfOneToken(type: OutageType): boolean {
    const failing = before.bad[type].tenants.union(current.bad[type].tenants);
    const succeeding = before.good.tenants.union(current.good.tenants);
    return failing.size === 1 && succeeding.difference(failing).size > 0;
  }

  function endIfQuiet(type: OutageType): void {
    const quietAtMs = (outages.get(type)?.lastFailureMs ?? 0) + minQuietMs;
    // A call that was sent in these 10 seconds may still fail late. Later calls belong to the next outage.
    if (performance.now() >= quietAtMs && sentAtMs.values().every((sentMs) => sentMs >= quietAtMs)) end(type);
  }

  function end(type: OutageType, atShutdown?: true): void {
    const outage = outages.get(type);
    if (outage === undefined) return;
    const { since, startedAtMs, lastFailureMs, failures, endTimer } = outage;
    clearInterval(endTimer);
    outages.delete(type);
    const seconds = Math.round((lastFailureMs - startedAtMs) / 1_000);
    log.warn({ outage: type, since, seconds, failures, atShutdown }, messages[type].end);
  }

  return {
    onCallSent: (entry) => void sentAtMs.set(entry, performance.now()),
    onAttempt(attempt) {
      const { tenantId, outcome, status, isRead, durationMs } = attempt;
      if (outcome === 'aborted' || isClosed) return;
      replaceOldWindows();
      current.calls += 1;
      if (isRead) current.reads += 1;
      if (outcome === 'failed') extendStreak(durationMs);
      else streak.count = 0;
      const types: OutageType[] = [];
      if (outcome === 'failed') types.push('no answer');
      if (status === 429) types.push('rate limit');
      if (outcome === 'answered' && isRead && durationMs > slowMs) types.push('slow');
      if (types.length === 0) current.good.add(tenantId);
      for (const type of types) {
        current.bad[type].add(tenantId);
        noteFailure(type, attempt);
      }
    },
    onCallFinished: (entry) => void sentAtMs.delete(entry),
    /** Ends all outages, so that each begin in the log has an end. */
    close(): void {
      isClosed = true;
      for (const type of outages.keys()) end(type, true);
    },
  } satisfies CallObserver & { close(): void };
}
