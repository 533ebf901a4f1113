import type { Tenant } from '../../tenancy/tenant.ts';

/** A permit to send a call: `usual` while the circuit is closed, `probe` for a test call while it is open. */
export type CircuitPermit = 'usual' | 'probe';

/**
 * `answered`: REST responded, and may have rejected the call. `failed`: REST did not respond, or with a server error.
 * `aborted`: the call was aborted and counts neither way.
 */
export type CallOutcome = 'answered' | 'failed' | 'aborted';

export interface CircuitBreakerOptions {
  /**
   * The circuit opens after at least this many calls, by default 20.
   * At least a quarter of this number must be calls of tenants other than the one with the most failures.
   */
  minCalls?: number;
  /** A clock in milliseconds with any start. */
  now?: () => number;
}

/** Calls count for at least this long, and for at most twice as long. */
const windowMs = 5_000;
/** The fraction of failed calls that opens the circuit. A lower one would stop too many calls that would succeed. */
const failedFraction = 0.8;
/** After the circuit opens, no call is sent for this long. */
const openMs = 5_000;

interface CallCount {
  calls: number;
  failed: number;
}

/** The calls of a window of five seconds. */
const emptyWindow = (startedAtMs: number) => ({
  startedAtMs,
  calls: 0,
  failed: 0,
  /** Calls per tenant id, from the tenant's first failure on. Without failures the Map stays empty. */
  byTenant: new Map<string, CallCount>(),
});

const isFailing = ({ calls, failed }: CallCount): boolean => failed >= failedFraction * calls;

export type CircuitBreaker = ReturnType<typeof createCircuitBreaker>;

/**
 * A circuit breaker (docs/design/how-trouble-at-rest-is-met.md#circuit-breaker), which stops the calls to one route
 * while most of them fail. Clients get an error at once, and REST gets fewer calls.
 * The circuit opens if 80 % of the calls of the last five to ten seconds failed.
 * The 80 % must also hold without the tenant with the most failures: one tenant's failures never open the circuit.
 * After five seconds the circuit permits one probe at a time. A probe that gets a response closes the circuit.
 * When the probes of two tenants have failed, the circuit stays open for another five seconds.
 */
export function createCircuitBreaker({
  minCalls = 20,
  now = () => performance.now(),
}: CircuitBreakerOptions = {}) {
  let previousWindow = emptyWindow(0);
  let currentWindow = emptyWindow(0);
  let isOpen = false;
  let openUntil = 0;
  let isProbing = false;
  // The tenant whose probe failed last. The calls of other tenants may still succeed.
  let failedProbe: { tenant: string; until: number } | undefined;

  function windowAt(nowMs: number) {
    const ageMs = nowMs - currentWindow.startedAtMs;
    if (ageMs >= windowMs) {
      previousWindow = ageMs < 2 * windowMs ? currentWindow : emptyWindow(nowMs);
      currentWindow = emptyWindow(nowMs);
    }
    return currentWindow;
  }

  function shouldOpen(): boolean {
    const all = addCounts(previousWindow, currentWindow);
    if (all.calls < minCalls || !isFailing(all)) return false;
    let worst: CallCount = { calls: 0, failed: 0 };
    for (const id of new Set([...previousWindow.byTenant.keys(), ...currentWindow.byTenant.keys()])) {
      const ofTenant = addCounts(previousWindow.byTenant.get(id), currentWindow.byTenant.get(id));
      if (ofTenant.failed > worst.failed) worst = ofTenant;
    }
    const others = { calls: all.calls - worst.calls, failed: all.failed - worst.failed };
    return others.calls >= minCalls / 4 && isFailing(others);
  }

  function open(nowMs: number): void {
    isOpen = true;
    openUntil = nowMs + openMs;
    failedProbe = undefined;
  }

  function recordProbe({ id }: Tenant, outcome: CallOutcome): void {
    isProbing = false;
    const nowMs = now();
    if (outcome === 'answered') {
      isOpen = false;
      previousWindow = emptyWindow(nowMs);
      currentWindow = emptyWindow(nowMs);
    } else if (outcome === 'failed') {
      if (failedProbe !== undefined && failedProbe.tenant !== id) open(nowMs);
      else failedProbe = { tenant: id, until: nowMs + openMs };
    }
  }

  /** Whether a call of the tenant gets no permit now. */
  function refuses({ id }: Tenant): boolean {
    if (!isOpen) return false;
    const nowMs = now();
    return nowMs < openUntil || isProbing || (failedProbe?.tenant === id && nowMs < failedProbe.until);
  }

  return {
    refuses,
    /** A permit for a call, whose outcome is then reported to `recordOutcome`. Undefined: the call may not be sent. */
    acquirePermit(tenant: Tenant): CircuitPermit | undefined {
      if (!isOpen) return 'usual';
      if (refuses(tenant)) return undefined;
      isProbing = true;
      return 'probe';
    },
    recordOutcome(tenant: Tenant, permit: CircuitPermit, outcome: CallOutcome): void {
      if (permit === 'probe') recordProbe(tenant, outcome);
      // An open circuit ignores calls that were sent before it opened.
      if (permit === 'probe' || isOpen || outcome === 'aborted') return;
      const nowMs = now();
      const window = windowAt(nowMs);
      const ofTenant = window.byTenant.get(tenant.id);
      window.calls += 1;
      if (ofTenant !== undefined) ofTenant.calls += 1;
      if (outcome === 'answered') return;
      window.failed += 1;
      if (ofTenant !== undefined) ofTenant.failed += 1;
      else window.byTenant.set(tenant.id, { calls: 1, failed: 1 });
      if (shouldOpen()) open(nowMs);
    },
    /** When a client should retry. After the pause, probes decide within about a second whether the circuit closes. */
    retryAfterMs: () => Math.max(Math.ceil(openUntil - now()), 1_000),
    isOpen: () => isOpen,
  };
}

function addCounts(one: CallCount | undefined, other: CallCount | undefined): CallCount {
  return {
    calls: (one?.calls ?? 0) + (other?.calls ?? 0),
    failed: (one?.failed ?? 0) + (other?.failed ?? 0),
  };
}

export type Circuits = ReturnType<typeof createCircuits>;

/**
 * The circuit breakers, each created on the first call to its route, such as `GET /v1/orders/{id}`. The number of
 * routes is small and fixed. A list and its records have separate breakers: one may work while the other fails.
 */
export function createCircuits(options?: CircuitBreakerOptions) {
  const circuits = new Map<string, CircuitBreaker>();
  return {
    of(route: string): CircuitBreaker {
      const circuit = circuits.get(route) ?? createCircuitBreaker(options);
      circuits.set(route, circuit);
      return circuit;
    },
    /** The routes whose circuit is open. */
    open: (): string[] => [...circuits].filter(([, circuit]) => circuit.isOpen()).map(([route]) => route),
  };
}
