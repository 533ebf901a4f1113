import { type CircuitBreaker, type CircuitBreakerOptions, createCircuitBreaker } from './circuit-breaker.ts';

/** A circuit breaker for each kind of call, of which the interface has two dozen. */
export interface Circuits {
  /** A list and the records in it are two kinds: where the one fails, the other may be the way around. */
  of(method: string, route: string): CircuitBreaker;
  /** The kinds whose calls are not made at present: `GET /v1/orders`. */
  open(): string[];
}

export function createCircuits(options?: CircuitBreakerOptions): Circuits {
  const kinds: { kind: string; circuit: CircuitBreaker }[] = [];
  // By method and then by route, so that no call has to put a key together.
  const byMethod = new Map<string, Map<string, CircuitBreaker>>();

  function create(method: string, route: string): CircuitBreaker {
    const circuit = createCircuitBreaker(options);
    const byRoute = byMethod.get(method) ?? new Map();
    byMethod.set(method, byRoute.set(route, circuit));
    kinds.push({ kind: `${method} ${route}`, circuit });
    return circuit;
  }

  return {
    of: (method, route) => byMethod.get(method)?.get(route) ?? create(method, route),
    open: () => kinds.filter(({ circuit }) => circuit.isOpen()).map(({ kind }) => kind),
  };
}
