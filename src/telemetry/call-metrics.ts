import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { CallObserver } from '../rest/client/call-observer.ts';

const buckets = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

// Only these statuses get their own label value, so that unusual statuses create no further time series.
const labeledStatuses = new Set([
  200, 201, 202, 204, 400, 401, 403, 404, 409, 410, 412, 413, 422, 429, 500, 502, 503, 504,
]);

/** Creates the metrics of REST calls. */
export function createCallMetrics(registry: Registry): CallObserver {
  const registers = [registry];
  const calls = new Histogram({
    name: 'waybill_rest_call_duration_seconds',
    help: 'REST calls by method, route template and status (none where no answer came), from leaving their queue on.',
    labelNames: ['method', 'route', 'status'],
    buckets,
    registers,
  });
  const retries = new Counter({
    name: 'waybill_rest_retries_total',
    help: 'How often REST calls were sent again by method and route template.',
    labelNames: ['method', 'route'],
    registers,
  });
  let pendingCalls = 0;
  new Gauge({
    name: 'waybill_rest_calls_in_flight',
    help: 'REST calls that have left their queue and are not answered yet.',
    registers,
    collect() {
      this.set(pendingCalls);
    },
  });
  return {
    onCallSent() {
      pendingCalls += 1;
      return undefined;
    },
    onCallFinished({ method, route, status, durationMs = 0, retries: retryCount }) {
      pendingCalls -= 1;
      calls.observe({ method, route, status: statusLabel(status) }, durationMs / 1_000);
      if (retryCount > 0) retries.inc({ method, route }, retryCount);
    },
  };
}

function statusLabel(status: number | undefined): string {
  if (status === undefined) return 'none';
  return labeledStatuses.has(status) ? String(status) : `${Math.floor(status / 100)}xx`;
}
