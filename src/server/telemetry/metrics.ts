import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { LoadingObserver } from '../../loaders/loading-observer.ts';
import type { CallObserver } from '../../rest/call-observer.ts';
import type { DriftKind } from '../../rest/drift.ts';
import { createCallMetrics } from './call-metrics.ts';
import { createLoadingMetrics } from './loading-metrics.ts';
import { createRequestMetrics, type RequestMetrics } from './request-metrics.ts';

/** What is counted in this process, in Prometheus' text format. */
export interface Metrics {
  readonly requests: RequestMetrics;
  readonly calls: CallObserver;
  readonly loading: LoadingObserver;
  drift(coordinate: string, kind: DriftKind): void;
  /** The circuit breaker of a class of routes has changed. */
  breaker(route: string, state: BreakerState): void;
  /** Shows a number that is read when the page is. */
  gauge(name: `waybill_${string}`, help: string, read: () => number): void;
  page(): Promise<MetricsPage>;
}

export interface MetricsPage {
  contentType: string;
  body: string;
}

export type BreakerState = keyof typeof breakerStates;

const breakerStates = { closed: 0, 'half-open': 1, open: 2 };

export interface MetricsOptions {
  /** Whether the process itself is measured too: processor time, memory, garbage collection, delay of the event loop. */
  process: boolean;
}

/** Metrics of their own; `process` starts measuring, for as long as the process lasts. */
export function createMetrics({ process }: MetricsOptions): Metrics {
  const registry = new Registry();
  const registers = [registry];
  if (process) collectDefaultMetrics({ register: registry });
  const drift = new Counter({
    name: 'waybill_rest_drift_total',
    help: "Where a sample of REST's answers was not as its interface says, and how.",
    labelNames: ['coordinate', 'kind'],
    registers,
  });
  const breaker = new Gauge({
    name: 'waybill_rest_breaker_state',
    help: 'The circuit breaker of a class of routes: 0 closed, 1 half-open, 2 open.',
    labelNames: ['route'],
    registers,
  });
  return {
    requests: createRequestMetrics(registry),
    calls: createCallMetrics(registry),
    loading: createLoadingMetrics(registry),
    drift: (coordinate, kind) => drift.inc({ coordinate, kind }),
    breaker: (route, state) => breaker.set({ route }, breakerStates[state]),
    gauge(name, help, read) {
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      });
    },
    page: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  };
}
