import type { AttemptOutcome, CallObserver } from '../rest/client/call-log.ts';
import type { Log } from './log.ts';

type Kind = 'no answer' | 'slow' | 'rate limit';

const messages: Record<Kind, { begin: string; end: string }> = {
  'no answer': { begin: 'the REST service does not respond', end: 'the REST service responds again' },
  slow: { begin: 'the REST service is slow', end: 'the REST service is no longer slow' },
  'rate limit': {
    begin: 'the REST service rejects calls because of its rate limit',
    end: 'the REST service no longer rejects calls because of its rate limit',
  },
};

const windowMs = 5_000;
const slowMs = 2_000;
const minFailures = 5;
const minReads = 20;
/** An outage is over after this time without a failure. */
const quietMs = 10_000;
const checkMs = 1_000;

/** Attempts of one kind, and whose they are. Two tokens are enough to tell that it is not one token alone. */
class Tally {
  count = 0;
  firstAtMs: number | undefined;
  readonly tenants = new Set<string>();

  add(tenantId: string, nowMs: number): void {
    this.count += 1;
    this.firstAtMs ??= nowMs;
    if (this.tenants.size < 2) this.tenants.add(tenantId);
  }
}

const newWindow = (startedAtMs: number) => ({
  startedAtMs,
  calls: 0,
  reads: 0,
  good: new Tally(),
  bad: { 'no answer': new Tally(), slow: new Tally(), 'rate limit': new Tally() },
});
type Window = ReturnType<typeof newWindow>;

interface Outage {
  kind: Kind;
  /** The first failure, by the wall clock. */
  since: string;
  startedAtMs: number;
  lastFailureMs: number;
  failures: number;
}

/**
 * Logs the begin and the end of each outage of REST. The failures of one token alone are no outage while other tokens
 * succeed.
 */
export class OutageLog implements CallObserver {
  readonly #log: Log;
  readonly #now: () => number;
  readonly #outages = new Map<Kind, Outage>();
  #before = newWindow(0);
  #current = newWindow(0);
  #timer: NodeJS.Timeout | undefined;

  /** @param now a clock in milliseconds with any start. */
  constructor(log: Log, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#now = now;
  }

  onAttempt(attempt: AttemptOutcome): void {
    const { tenantId, outcome, status, isRead, durationMs } = attempt;
    if (outcome === 'aborted') return;
    const window = this.#windowNow();
    window.calls += 1;
    if (isRead) window.reads += 1;
    const kinds: Kind[] = [];
    if (outcome === 'failed') kinds.push('no answer');
    if (status === 429) kinds.push('rate limit');
    if (outcome === 'answered' && isRead && durationMs > slowMs) kinds.push('slow');
    if (kinds.length === 0) window.good.add(tenantId, this.#now());
    for (const kind of kinds) {
      window.bad[kind].add(tenantId, this.#now());
      this.#noteFailure(kind, attempt);
    }
  }

  /** Logs the end of outages without recent failures. Runs each second during an outage. */
  check(): void {
    for (const outage of this.#outages.values()) {
      if (this.#now() - outage.lastFailureMs >= quietMs) this.#end(outage);
    }
  }

  /** Ends all outages, so that each begin in the log has an end. */
  close(): void {
    for (const outage of this.#outages.values()) this.#end(outage, true);
  }

  #windowNow(): Window {
    const now = this.#now();
    if (now - this.#current.startedAtMs >= windowMs) {
      this.#before = now - this.#current.startedAtMs < 2 * windowMs ? this.#current : newWindow(now);
      this.#current = newWindow(now);
    }
    return this.#current;
  }

  #noteFailure(kind: Kind, { route, status, isCircuitOpen }: AttemptOutcome): void {
    const now = this.#now();
    const failures = this.#sum((window) => window.bad[kind].count);
    const calls = this.#sum(({ calls, reads }) => (kind === 'slow' ? reads : calls));
    // A rate limit of REST refuses only the calls above its rate.
    const minShare = kind === 'rate limit' ? 0 : 0.5;
    // The calls of other routes may succeed while a circuit is open.
    const isWide = isCircuitOpen || (failures >= minShare * calls && !this.#isOfOneToken(kind));
    const running = this.#outages.get(kind);
    if (running !== undefined) {
      // Single failures among many successes do not prolong an outage.
      if (isWide) running.lastFailureMs = now;
      running.failures += 1;
      return;
    }
    const isOften = isCircuitOpen || (kind === 'slow' ? calls >= minReads : failures >= minFailures);
    if (!isWide || !isOften) return;
    const startedAtMs = this.#before.bad[kind].firstAtMs ?? this.#current.bad[kind].firstAtMs ?? now;
    const since = new Date(Date.now() - (now - startedAtMs)).toISOString();
    this.#outages.set(kind, { kind, since, startedAtMs, lastFailureMs: now, failures });
    const circuitOpen = isCircuitOpen || undefined;
    this.#log.warn(
      { outage: kind, since, route, upstreamStatus: status, circuitOpen, failures },
      messages[kind].begin,
    );
    this.#timer ??= setInterval(() => this.check(), checkMs).unref();
  }

  /** Whether only one token fails, while another one succeeds. */
  #isOfOneToken(kind: Kind): boolean {
    const failing = this.#before.bad[kind].tenants.union(this.#current.bad[kind].tenants);
    const succeeding = this.#before.good.tenants.union(this.#current.good.tenants);
    return failing.size === 1 && succeeding.difference(failing).size > 0;
  }

  #sum(of: (window: Window) => number): number {
    return of(this.#before) + of(this.#current);
  }

  #end({ kind, since, startedAtMs, lastFailureMs, failures }: Outage, atShutdown?: true): void {
    this.#outages.delete(kind);
    const seconds = Math.round((lastFailureMs - startedAtMs) / 1_000);
    this.#log.warn({ outage: kind, since, seconds, failures, atShutdown }, messages[kind].end);
    if (this.#outages.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
