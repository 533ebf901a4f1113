import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Difference } from '../rest/watch/schema-drift.ts';
import { createLiveMetrics } from './live-metrics.ts';
import { createCallMetrics, createLoadingMetrics, createRequestMetrics } from './request-metrics.ts';

type Labels = Readonly<Record<string, string>>;

export interface MetricsPage {
  contentType: string;
  body: string;
}

export type Metrics = ReturnType<typeof createMetrics>;

/** The metrics of this process, in the text format of Prometheus. */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  // CPU time, memory and event-loop delay, until the process ends.
  collectDefaultMetrics({ register: registry });
  const driftCounter = new Counter({
    name: 'waybill_rest_drift_total',
    help: 'Differences between sampled REST records and the REST interface, by field and kind of difference.',
    labelNames: ['coordinate', 'kind'],
    registers,
  });
  const documentsRead = new Counter({
    name: 'waybill_documents_parsed_total',
    help: 'Documents that were parsed and validated because they were not in the cache.',
    registers,
  });
  const earlyErrors = new Counter({
    name: 'waybill_early_http_errors_total',
    help: 'Requests rejected before they reached a route, by HTTP status. Connections beyond MAX_CONNECTIONS have the status none.',
    labelNames: ['status'],
    registers,
  });
  const refusedOrigins = new Counter({
    name: 'waybill_refused_origins_total',
    help: 'Requests from web pages whose origin is not in CORS_ORIGINS.',
    registers,
  });
  const rateLimited = new Counter({
    name: 'waybill_rate_limited_total',
    help: 'Requests that Waybill rejected because of RATE_LIMIT_POINTS_PER_SECOND. For the rate limit of the REST service, see REST calls with status 429.',
    registers,
  });
  const rowsOutside = new Counter({
    name: 'waybill_rest_rows_outside_total',
    help: 'Rows of each list with a status that was not requested. Waybill removes these rows from the response.',
    labelNames: ['list'],
    registers,
  });
  return {
    requests: createRequestMetrics(registers),
    calls: createCallMetrics(registers),
    loading: createLoadingMetrics(registers),
    live: createLiveMetrics(registers),
    /** An error before a request reached a route. `status` is undefined if no response was sent. */
    earlyError: (status: number | undefined) => earlyErrors.inc({ status: status ?? 'none' }),
    documentRead: () => documentsRead.inc(),
    originRefused: () => refusedOrigins.inc(),
    /** Counts a request that the rate limit of this server refused. */
    rateLimited: () => rateLimited.inc(),
    /** Counts rows of a list that were left out because a status filter should have done so. */
    rowsOutside: (list: string, count: number) => rowsOutside.inc({ list }, count),
    /** A difference between a REST record and the interface. `coordinate`: such as `Order.recipient.email`. */
    drift: (coordinate: string, difference: Difference) => driftCounter.inc({ coordinate, kind: difference }),
    /** `read` is called for every page. */
    showCallsWaiting(read: () => number): void {
      new Gauge({
        name: 'waybill_rest_calls_waiting',
        help: 'REST calls that wait in the queue for a connection.',
        registers,
        collect() {
          this.set(read());
        },
      });
    },
    /** `read` returns the routes whose circuit is open, for every page. */
    showOpenCircuits(read: () => readonly string[]): void {
      new Gauge({
        name: 'waybill_rest_circuit_open',
        help: 'REST routes whose calls the circuit breaker currently stops.',
        labelNames: ['kind'],
        registers,
        collect() {
          this.reset();
          for (const route of read()) this.set({ kind: route }, 1);
        },
      });
    },
    /** The functions return the labels of the problems that have not ended, for every page. */
    showProblems(read: { parameters(): readonly Labels[]; keyStore(): readonly Labels[] }): void {
      const show = (name: string, help: string, labelNames: string[], labels: () => readonly Labels[]) =>
        new Gauge({
          name,
          help,
          labelNames,
          registers,
          collect() {
            this.reset();
            for (const problem of labels()) this.set(problem, 1);
          },
        });
      show(
        'waybill_rest_parameter_problem',
        'List parameters that the REST service does not seem to know, by setting of the name and by list.',
        ['setting', 'list'],
        read.parameters,
      );
      show(
        'waybill_key_store_problem',
        'Problems of the key store, by kind. failure: the store refuses writes. file: STATE_FILE was deleted or replaced, or cannot be written any more.',
        ['kind'],
        read.keyStore,
      );
    },
    page: async (): Promise<MetricsPage> => ({
      contentType: registry.contentType,
      body: await registry.metrics(),
    }),
  };
}
