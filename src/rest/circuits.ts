import { type CircuitBreaker, type CircuitBreakerOptions, createCircuitBreaker } from './circuit-breaker.ts';

/** A circuit breaker for each kind of call, of which the interface has two dozen. */
export interface Circuits {
  /** A list and the records in it are two kinds: where the one fails, the other may be the way around. */
  of(method: string, route: string): CircuitBreaker;
  /** The kinds whose calls are not made at present: `GET /v1/orders`. */
  open(): string[];
}

export function createCircuits(options?: CircuitBreakerOptions): Circuits {
  const byKind = new Map<string, CircuitBreaker>();
  return {
    of(method, route) {
      const kind = `${method} ${route}`;
      let circuit = byKind.get(kind);
      if (circuit === undefined) {
        circuit = createCircuitBreaker(options);
        byKind.set(kind, circuit);
      }
      return circuit;
    },
    open: () => [...byKind].filter(([, circuit]) => circuit.isOpen()).map(([kind]) => kind),
  };
}
