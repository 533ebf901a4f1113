import type { AttemptOutcome, CallLogEntry, CallObserver } from '../rest/client/call-log.ts';
import type { Log } from './log.ts';

/** What the log says at the begin and at the end. */
const messages = {
  'no answer': ['the REST service does not respond', 'the REST service responds again'],
  slow: ['the REST service is slow', 'the REST service is no longer slow'],
  'rate limit': [
    'the REST service rejects calls because of its rate limit',
    'the REST service no longer rejects calls because of its rate limit',
  ],
} as const;
type Kind = keyof typeof messages;

const windowMs = 5_000;
const slowMs = 2_000;
const minFailures = 5;
const minReads = 20;
const minQuietMs = 10_000;

/** Attempts of one kind, and whose they are. Two tokens are enough to tell that it is not one token alone. */
class Tally {
  count = 0;
  firstAtMs: number | undefined;
  readonly tenants = new Set<string>();

  add(tenantId: string): void {
    this.count += 1;
    this.firstAtMs ??= Date.now();
    if (this.tenants.size < 2) this.tenants.add(tenantId);
  }
}

class Window {
  readonly startedAtMs = Date.now();
  calls = 0;
  reads = 0;
  hasResponse = false;
  readonly good = new Tally();
  readonly bad = { 'no answer': new Tally(), slow: new Tally(), 'rate limit': new Tally() };
}

interface Outage {
  since: Date;
  lastFailureMs: number;
  failures: number;
  endTimer: NodeJS.Timeout;
}

/**
 * Logs the begin and the end of each outage of REST. The failures of one token alone are no outage while other tokens
 * succeed.
 */
export function createOutageLog(log: Log) {
  const outages = new Map<Kind, Outage>();
  /** When each call in progress was sent. */
  const sentAtMs = new Map<CallLogEntry, number>();
  let before = new Window();
  let current = new Window();
  let lastAttemptMs = Date.now();
  let isClosed = false;

  function replaceOldWindows(durationMs: number): void {
    const now = Date.now();
    const isGap = now - durationMs - lastAttemptMs > windowMs;
    lastAttemptMs = now;
    const ageMs = now - current.startedAtMs;
    if (ageMs < windowMs) return;
    // Few calls to a silent service fail rarely, because each fails late. So their window lasts until a response.
    const isSilent = !current.hasResponse && !isGap;
    before = isSilent || ageMs >= 2 * windowMs ? new Window() : current;
    if (!isSilent) current = new Window();
  }

  function noteFailure(kind: Kind, { route, status: upstreamStatus, isCircuitOpen }: AttemptOutcome): void {
    const now = Date.now();
    const failures = before.bad[kind].count + current.bad[kind].count;
    const calls = kind === 'slow' ? before.reads + current.reads : before.calls + current.calls;
    // A rate limit of REST refuses only the calls above its rate.
    const minShare = kind === 'rate limit' ? 0 : 0.5;
    // The calls of other routes may succeed while a circuit is open.
    const isWide = isCircuitOpen || (failures >= minShare * calls && !isOfOneToken(kind));
    const running = outages.get(kind);
    if (running !== undefined) {
      running.failures += 1;
      // Single failures among many successes do not prolong an outage.
      if (isWide) running.lastFailureMs = now;
      return;
    }
    const isOften = isCircuitOpen || (kind === 'slow' ? calls >= minReads : failures >= minFailures);
    if (!isWide || !isOften) return;
    const since = new Date(before.bad[kind].firstAtMs ?? current.bad[kind].firstAtMs ?? now);
    const endTimer = setInterval(() => endIfQuiet(kind), 500).unref();
    outages.set(kind, { since, lastFailureMs: now, failures, endTimer });
    const circuitOpen = isCircuitOpen || undefined;
    log.warn({ outage: kind, since, route, upstreamStatus, circuitOpen, failures }, messages[kind][0]);
  }

  /** Whether only one token fails, while another one succeeds. */
  function isOfOneToken(kind: Kind): boolean {
    const failing = before.bad[kind].tenants.union(current.bad[kind].tenants);
    const succeeding = before.good.tenants.union(current.good.tenants);
    return failing.size === 1 && succeeding.difference(failing).size > 0;
  }

  function endIfQuiet(kind: Kind): void {
    const now = Date.now();
    const isQuiet = now - (outages.get(kind)?.lastFailureMs ?? 0) >= minQuietMs;
    // A call that waits for so long is the next failure, unless REST responds at last.
    const waits = ([{ status }, sentMs]: [CallLogEntry, number]) =>
      status === undefined && now - sentMs > slowMs;
    if (isQuiet && !sentAtMs.entries().some(waits)) end(kind);
  }

  function end(kind: Kind, atShutdown?: true): void {
    const outage = outages.get(kind);
    if (outage === undefined) return;
    outages.delete(kind);
    const { since, lastFailureMs, failures, endTimer } = outage;
    clearInterval(endTimer);
    const seconds = Math.round((lastFailureMs - since.getTime()) / 1_000);
    log.warn({ outage: kind, since, seconds, failures, atShutdown }, messages[kind][1]);
  }

  return {
    onCallSent(entry) {
      sentAtMs.set(entry, Date.now());
      return undefined;
    },
    onAttempt(attempt) {
      const { tenantId, outcome, status, isRead, durationMs } = attempt;
      if (outcome === 'aborted' || isClosed) return;
      replaceOldWindows(durationMs);
      current.calls += 1;
      if (isRead) current.reads += 1;
      const kinds: Kind[] = [];
      if (outcome === 'failed') kinds.push('no answer');
      else current.hasResponse = true;
      if (status === 429) kinds.push('rate limit');
      if (outcome === 'answered' && isRead && durationMs > slowMs) kinds.push('slow');
      if (kinds.length === 0) current.good.add(tenantId);
      for (const kind of kinds) {
        current.bad[kind].add(tenantId);
        noteFailure(kind, attempt);
      }
    },
    onCallFinished: (entry) => void sentAtMs.delete(entry),
    /** Ends all outages, so that each begin in the log has an end. */
    close(): void {
      isClosed = true;
      for (const kind of outages.keys()) end(kind, true);
    },
  } satisfies CallObserver & { close(): void };
}
