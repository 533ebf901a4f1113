import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { LoadingObserver } from '../loaders/loading-observer.ts';
import type { CallObserver } from '../rest/client/call-observer.ts';
import type { DriftKind } from '../rest/schema-drift.ts';
import { createCallMetrics } from './call-metrics.ts';
import { createLoadingMetrics } from './loading-metrics.ts';
import { createRequestMetrics } from './request-metrics.ts';
import type { RequestObserver } from './request-record.ts';

/** What is counted in this process, in Prometheus' text format. */
export interface Metrics {
  readonly requests: RequestObserver;
  readonly calls: CallObserver;
  readonly loading: LoadingObserver;
  drift(coordinate: string, kind: DriftKind): void;
  /** Something was refused before it was a request; `status` is undefined where nothing was said. */
  earlyError(status: number | undefined): void;
  /** A document was read that was not known. */
  documentRead(): void;
  /** Shows how many calls wait for their turn; `read` is asked for it whenever the page is. */
  showCallsWaiting(read: () => number): void;
  /** Shows which kinds of calls are not made, as most have failed. */
  showOpenCircuits(read: () => readonly string[]): void;
  page(): Promise<MetricsPage>;
  /** The same as data, to be summed up with that of other processes. */
  counts(): Promise<Counts>;
}

/** What one process has counted and measured. */
export type Counts = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

export interface MetricsPage {
  contentType: string;
  body: string;
}

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
  const documentsRead = new Counter({
    name: 'waybill_documents_parsed_total',
    help: 'Documents that were parsed and validated, as they were not known.',
    registers,
  });
  const earlyError = new Counter({
    name: 'waybill_early_http_errors_total',
    help: 'What was refused before it was a request of any route by status (none: closed beyond MAX_CONNECTIONS).',
    labelNames: ['status'],
    registers,
  });
  return {
    requests: createRequestMetrics(registry),
    calls: createCallMetrics(registry),
    loading: createLoadingMetrics(registry),
    earlyError: (status) => earlyError.inc({ status: status ?? 'none' }),
    documentRead: () => documentsRead.inc(),
    drift: (coordinate, kind) => drift.inc({ coordinate, kind }),
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
