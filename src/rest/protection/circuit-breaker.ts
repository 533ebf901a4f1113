import type { Tenant } from '../../concurrency/tenant.ts';

/** How a call came through: as ever, or to find out whether calls succeed again. */
export type CircuitPermit = 'usual' | 'probe';

/** What became of a call: REST answered, whatever it was; it failed; or nobody waited for it to the end. */
export type CallOutcome = 'answered' | 'failed' | 'aborted';

/** Stops calls of one kind while most fail, which spares REST the calls and clients the wait. */
export interface CircuitBreaker {
  /** Whether a call may be made, and how; undefined where it may not. Note each admitted call once it is over. */
  admit(tenant: Tenant): CircuitPermit | undefined;
  note(tenant: Tenant, permit: CircuitPermit, outcome: CallOutcome): void;
  /** When it is worth trying again, in milliseconds from now. */
  retryAfterMs(): number;
  isOpen(): boolean;
}

export interface CircuitBreakerOptions {
  /** How many calls there must have been; 20 when left out. A quarter of these must be other tenants' than the worst. */
  minCalls?: number;
  /** Milliseconds, from any start. */
  now?: () => number;
}

/** How long calls count at least; twice as long at most. */
const windowMs = 5_000;
/** The share of calls that must have failed. At a lower one, an open circuit would cost clients too many answers. */
const failedShare = 0.8;
/** For how long no call is made once the circuit has opened. */
const openMs = 5_000;

interface Count {
  calls: number;
  failed: number;
}

/** The calls of five seconds. */
interface Window extends Count {
  readonly startedAt: number;
  /** Tenants with a failure, and their calls from the first one on, so that calls cost nothing by tenant in good times. */
  readonly byTenant: Map<string, Count>;
}

function windowFrom(startedAt: number): Window {
  return { startedAt, calls: 0, failed: 0, byTenant: new Map() };
}

function isFailing({ calls, failed }: Count): boolean {
  return failed >= failedShare * calls;
}

/**
 * Opens when four of five calls of the last five to ten seconds have failed, also without the tenant with the most failures:
 * the trouble of one tenant opens it for nobody. After five seconds one call at a time is let through, as a probe. An answered
 * probe closes the circuit. It stays open for another five seconds when the probes of two tenants have failed.
 */
export function createCircuitBreaker({
  minCalls = 20,
  now = () => performance.now(),
}: CircuitBreakerOptions = {}): CircuitBreaker {
  let older = windowFrom(0);
  let newer = windowFrom(0);
  let isOpen = false;
  let openUntil = 0;
  let isProbing = false;
  // Whose probe has failed. That alone does not tell how other tenants fare.
  let suspect: { tenant: string; until: number } | undefined;

  function windowAt(at: number): Window {
    const ageMs = at - newer.startedAt;
    if (ageMs >= windowMs) {
      older = ageMs < 2 * windowMs ? newer : windowFrom(at);
      newer = windowFrom(at);
    }
    return newer;
  }

  function isToOpen(): boolean {
    const all = sumOf(older, newer);
    if (all.calls < minCalls || !isFailing(all)) return false;
    let worst: Count = { calls: 0, failed: 0 };
    for (const id of new Set([...older.byTenant.keys(), ...newer.byTenant.keys()])) {
      const own = sumOf(older.byTenant.get(id), newer.byTenant.get(id));
      if (own.failed > worst.failed) worst = own;
    }
    const others = { calls: all.calls - worst.calls, failed: all.failed - worst.failed };
    return others.calls >= minCalls / 4 && isFailing(others);
  }

  function open(at: number): void {
    isOpen = true;
    openUntil = at + openMs;
    suspect = undefined;
  }

  function noteProbe({ id }: Tenant, outcome: CallOutcome): void {
    isProbing = false;
    const at = now();
    if (outcome === 'answered') {
      isOpen = false;
      older = windowFrom(at);
      newer = windowFrom(at);
    } else if (outcome === 'failed') {
      if (suspect !== undefined && suspect.tenant !== id) open(at);
      else suspect = { tenant: id, until: at + openMs };
    }
  }

  return {
    admit({ id }) {
      if (!isOpen) return 'usual';
      const at = now();
      if (at < openUntil || isProbing) return undefined;
      if (suspect?.tenant === id && at < suspect.until) return undefined;
      isProbing = true;
      return 'probe';
    },
    note(tenant, permit, outcome) {
      if (permit === 'probe') return noteProbe(tenant, outcome);
      // Calls that were sent before the circuit opened tell nothing new.
      if (isOpen || outcome === 'aborted') return;
      const at = now();
      const window = windowAt(at);
      const own = window.byTenant.get(tenant.id);
      window.calls += 1;
      if (own !== undefined) own.calls += 1;
      if (outcome === 'answered') return;
      window.failed += 1;
      if (own !== undefined) own.failed += 1;
      else window.byTenant.set(tenant.id, { calls: 1, failed: 1 });
      if (isToOpen()) open(at);
    },
    // Once the pause is over, probes decide, within about a second.
    retryAfterMs: () => Math.max(Math.ceil(openUntil - now()), 1_000),
    isOpen: () => isOpen,
  };
}

function sumOf(one: Count | undefined, other: Count | undefined): Count {
  return {
    calls: (one?.calls ?? 0) + (other?.calls ?? 0),
    failed: (one?.failed ?? 0) + (other?.failed ?? 0),
  };
}

/** A circuit breaker for each kind of call, of which the interface has two dozen. */
export interface Circuits {
  /** A list and the records in it are two kinds: where the one fails, the other may be the way around. */
  of(method: string, route: string): CircuitBreaker;
  /** The kinds whose calls are not made at present: `GET /v1/orders`. */
  open(): string[];
}

export function createCircuits(options?: CircuitBreakerOptions): Circuits {
  // By method and then by route, so that no call has to put a key together.
  const byMethod = new Map<string, Map<string, CircuitBreaker>>();

  function create(method: string, route: string): CircuitBreaker {
    const circuit = createCircuitBreaker(options);
    byMethod.set(method, (byMethod.get(method) ?? new Map<string, CircuitBreaker>()).set(route, circuit));
    return circuit;
  }

  return {
    of: (method, route) => byMethod.get(method)?.get(route) ?? create(method, route),
    open: () =>
      [...byMethod].flatMap(([method, byRoute]) =>
        [...byRoute].filter(([, circuit]) => circuit.isOpen()).map(([route]) => `${method} ${route}`),
      ),
  };
}
