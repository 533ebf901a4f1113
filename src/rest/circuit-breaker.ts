import type { Tenant } from './tenant.ts';

/** How a call came through: as ever, or to find out whether calls succeed again. */
export type Admission = 'usual' | 'probe';

/** What became of a call: REST answered, whatever it was; it failed; or nobody waited for it to the end. */
export type CallOutcome = 'answered' | 'failed' | 'given up';

/** Stops calls of one kind while they fail for most, which spares REST the calls and clients the wait. */
export interface CircuitBreaker {
  /** Whether a call may be made, and how; undefined where it may not. What is admitted is to be noted once it is over. */
  admit(tenant: Tenant): Admission | undefined;
  note(tenant: Tenant, admission: Admission, outcome: CallOutcome): void;
  /** When it is worth trying again, in milliseconds from now. */
  retryAfterMs(): number;
  isOpen(): boolean;
}

export interface CircuitBreakerOptions {
  /** Over how long calls are counted. */
  windowMs?: number;
  /** How many calls there must have been. */
  minCalls?: number;
  /** Which share of them must have failed. */
  failedShare?: number;
  /** How many of them must have been other tenants' than that with the most failures. */
  minCallsOfOthers?: number;
  /** How long no call is made once it has opened. */
  openMs?: number;
  /** Milliseconds, from whenever. */
  now?: () => number;
}

/** Calls that began to be counted at a time. */
interface Slice {
  readonly startedAt: number;
  readonly byTenant: Map<string, Count>;
  /** Whose calls were answered, one for each; not yet in `byTenant`. */
  readonly answered: string[];
}

const nothing: Count = { calls: 0, failed: 0 };

interface Count {
  calls: number;
  failed: number;
}

/**
 * Opens when four of five calls of the last ten seconds have failed, also without the tenant who had the most failures: what
 * one tenant meets alone opens it for nobody. A service that fails half of its calls answers the other half, of which an open
 * circuit would spare clients nothing; what such failures add to its load is the retry budget's business. After five seconds
 * one call at a time is let through. One that is answered closes it; it stays open for another five seconds when those of two
 * tenants have failed.
 */
export function createCircuitBreaker({
  windowMs = 10_000,
  minCalls = 20,
  failedShare = 0.8,
  minCallsOfOthers = 5,
  openMs = 5_000,
  now = () => performance.now(),
}: CircuitBreakerOptions = {}): CircuitBreaker {
  const sliceMs = windowMs / 10;
  let slices: Slice[] = [];
  // The sums of all slices are kept as they change: adding up tenants at each call would cost most while most fails. While
  // none fails, nobody asks by tenant: calls are only listed.
  let totals = { ...nothing };
  let byTenant = new Map<string, Count>();
  // With the most failures; one of `byTenant`, or nothing.
  let worst = nothing;
  let isOpen = false;
  let opensUntil = 0;
  let isProbing = false;
  // Whose probe has failed; theirs alone does not tell how others fare.
  let suspect: { tenant: string; until: number } | undefined;

  function open(at: number): void {
    isOpen = true;
    opensUntil = at + openMs;
    suspect = undefined;
  }

  function close(): void {
    isOpen = false;
    slices = [];
    totals = { ...nothing };
    byTenant = new Map();
    worst = nothing;
    suspect = undefined;
  }

  function sliceAt(at: number): Slice {
    const newest = slices.at(-1);
    return newest !== undefined && at - newest.startedAt < sliceMs ? newest : newSliceAt(at);
  }

  function newSliceAt(at: number): Slice {
    const slice: Slice = { startedAt: at, byTenant: new Map(), answered: [] };
    const isOver = ({ startedAt }: Slice) => at - startedAt >= windowMs;
    const over = slices.filter(isOver);
    slices = [...slices.filter((each) => !isOver(each)), slice];
    if (over.length > 0) forget(over);
    return slice;
  }

  function forget(over: readonly Slice[]): void {
    for (const slice of over) {
      totals.calls -= slice.answered.length;
      for (const [tenant, { calls, failed }] of slice.byTenant) {
        const own = byTenant.get(tenant) ?? { ...nothing };
        for (const sum of [own, totals]) {
          sum.calls -= calls;
          sum.failed -= failed;
        }
        if (own.calls === 0) byTenant.delete(tenant);
      }
    }
    worst = nothing;
    for (const own of byTenant.values()) if (own.failed > worst.failed) worst = own;
  }

  function countOf(counts: Map<string, Count>, tenant: string): Count {
    let own = counts.get(tenant);
    if (own === undefined) {
      own = { ...nothing };
      counts.set(tenant, own);
    }
    return own;
  }

  function add(slice: Slice, tenant: string, failed: 0 | 1): void {
    const own = countOf(byTenant, tenant);
    for (const sum of [countOf(slice.byTenant, tenant), own]) {
      sum.calls += 1;
      sum.failed += failed;
    }
    if (own.failed > worst.failed) worst = own;
  }

  /** Counts those by tenant who have only been listed so far. */
  function countListed(): void {
    for (const slice of slices) {
      for (const tenant of slice.answered.splice(0)) add(slice, tenant, 0);
    }
  }

  function isFailing({ calls, failed }: Count): boolean {
    return failed >= failedShare * calls;
  }

  function isToOpen(): boolean {
    if (totals.calls < minCalls || !isFailing(totals)) return false;
    const others = { calls: totals.calls - worst.calls, failed: totals.failed - worst.failed };
    return others.calls >= minCallsOfOthers && isFailing(others);
  }

  function noteProbe({ id }: Tenant, outcome: CallOutcome): void {
    isProbing = false;
    if (outcome === 'answered') close();
    if (outcome !== 'failed') return;
    const at = now();
    if (suspect !== undefined && suspect.tenant !== id) open(at);
    else suspect = { tenant: id, until: at + openMs };
  }

  return {
    admit({ id }) {
      if (!isOpen) return 'usual';
      const at = now();
      if (at < opensUntil || isProbing) return undefined;
      if (suspect?.tenant === id && at < suspect.until) return undefined;
      isProbing = true;
      return 'probe';
    },
    note(tenant, admission, outcome) {
      if (admission === 'probe') return noteProbe(tenant, outcome);
      if (isOpen || outcome === 'given up') return;
      const at = now();
      const slice = sliceAt(at);
      totals.calls += 1;
      if (outcome === 'answered') {
        if (totals.failed === 0) slice.answered.push(tenant.id);
        else add(slice, tenant.id, 0);
        return;
      }
      if (totals.failed === 0) countListed();
      totals.failed += 1;
      add(slice, tenant.id, 1);
      if (isToOpen()) open(at);
    },
    // Once the pause is over, probes decide, within about a second.
    retryAfterMs: () => Math.max(Math.ceil(opensUntil - now()), 1_000),
    isOpen: () => isOpen,
  };
}
