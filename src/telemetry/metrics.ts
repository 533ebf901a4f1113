import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { LoadingObserver } from '../loaders/loading-observer.ts';
import type { CallObserver } from '../rest/client/call-observer.ts';
import type { DriftKind } from '../rest/schema-drift.ts';
import { createCallMetrics } from './call-metrics.ts';
import { createLoadingMetrics } from './loading-metrics.ts';
import { createRequestMetrics } from './request-metrics.ts';
import type { RequestObserver } from './request-record.ts';

/** The metrics of this process, in the text format of Prometheus. */
export interface Metrics {
  readonly requests: RequestObserver;
  readonly calls: CallObserver;
  readonly loading: LoadingObserver;
  /** Counts a difference between a REST record and the interface. `coordinate`: such as `Order.recipient.email`. */
  drift(coordinate: string, kind: DriftKind): void;
  /** Counts an error before a request reached a route. `status` is undefined if no response was sent. */
  earlyError(status: number | undefined): void;
  /** Counts a document that was not in the cache. */
  documentRead(): void;
  /** Adds a gauge of the REST calls that wait in the queue. `read` is called for every page. */
  showCallsWaiting(read: () => number): void;
  /** Adds a gauge of the open circuit breakers. `read` returns their kinds of calls, for every page. */
  showOpenCircuits(read: () => readonly string[]): void;
  /** The content of `GET /metrics`. */
  page(): Promise<MetricsPage>;
  /** The same metrics as data, for the sums over several processes. */
  counts(): Promise<MetricsSnapshot>;
}

/** The metrics of one process as data. */
export type MetricsSnapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** The response to `GET /metrics`. */
export interface MetricsPage {
  contentType: string;
  body: string;
}

/** The settings of the metrics. */
export interface MetricsOptions {
  /** Whether to measure CPU time, memory, garbage collection and event-loop delay of the process. */
  process: boolean;
}

/** Creates the metrics in a new registry. `process` starts measurements that run until the process ends. */
export function createMetrics({ process }: MetricsOptions): Metrics {
  const registry = new Registry();
  const registers = [registry];
  if (process) collectDefaultMetrics({ register: registry });
  const driftCounter = new Counter({
    name: 'waybill_rest_drift_total',
    help: "Where a sample of REST's answers was not as its interface says, and how.",
    labelNames: ['coordinate', 'kind'],
    registers,
  });
  const documentsRead = new Counter({
    name: 'waybill_documents_parsed_total',
    help: 'Documents that were parsed and validated, as they were not known.',
    registers,
  });
  const earlyErrors = new Counter({
    name: 'waybill_early_http_errors_total',
    help: 'What was refused before it was a request of any route by status (none: closed beyond MAX_CONNECTIONS).',
    labelNames: ['status'],
    registers,
  });
  return {
    requests: createRequestMetrics(registry),
    calls: createCallMetrics(registry),
    loading: createLoadingMetrics(registry),
    earlyError: (status) => earlyErrors.inc({ status: status ?? 'none' }),
    documentRead: () => documentsRead.inc(),
    drift: (coordinate, kind) => driftCounter.inc({ coordinate, kind }),
    showCallsWaiting(read) {
      new Gauge({
        name: 'waybill_rest_calls_waiting',
        help: 'REST calls that wait for a connection.',
        registers,
        collect() {
          this.set(read());
        },
      });
    },
    showOpenCircuits(read) {
      new Gauge({
        name: 'waybill_rest_circuit_open',
        help: 'Kinds of calls that are not made at present, as most have failed.',
        labelNames: ['kind'],
        registers,
        collect() {
          this.reset();
          for (const kind of read()) this.set({ kind }, 1);
        },
      });
    },
    page: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
    counts: () => registry.getMetricsAsJSON(),
  };
}
