// The metrics of each request, and of its REST calls and batches.

import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { LoadingObserver } from '../loaders/loading-observer.ts';
import type { CallObserver } from '../rest/client/call-log.ts';
import type { RequestRecord } from './request-record.ts';

const requestsBetweenCopies = 1_024;

// In seconds, from the server's own time up to the timeout of an operation.
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Labels have few values. They include neither operation names, which clients choose, nor the identity of clients. */
export function createRequestMetrics(registers: Registry[]) {
  const operations = new Histogram({
    name: 'waybill_operation_duration_seconds',
    help: 'Duration of GraphQL operations, by type and outcome. Types: query, mutation, subscription (until the stream is open) and none (no operation was found). Outcomes: ok, errors, refused and aborted.',
    labelNames: ['type', 'outcome'],
    buckets,
    registers,
  });
  const labels = new Histogram({
    name: 'waybill_label_duration_seconds',
    help: 'Duration of label requests until the response begins, by outcome. ok: the response is the label. refused: the response is an error. aborted: the client closed the connection first.',
    labelNames: ['outcome'],
    buckets,
    registers,
  });
  const errors = new Counter({
    name: 'waybill_errors_total',
    help: 'Errors in responses to operations, and to requests for labels and documents, by code.',
    labelNames: ['code'],
    registers,
  });
  const savedCalls = new Counter({
    name: 'waybill_rest_calls_saved_total',
    help: 'REST calls that Waybill saved, by source of the data. reference: the cache of reference data. list: a page of a list, in place of one call for each record.',
    labelNames: ['by'],
    registers,
  });
  let pendingRequests = new Set<RequestRecord>();
  let requestsUntilCopy = requestsBetweenCopies;
  new Gauge({
    name: 'waybill_requests_in_flight',
    help: 'Requests that wait for their response, by route: graphql, label, document or other.',
    labelNames: ['route'],
    registers,
    collect() {
      const counts = { graphql: 0, label: 0, document: 0, other: 0 };
      for (const { route = 'other' } of pendingRequests) counts[route] += 1;
      for (const [route, count] of Object.entries(counts)) this.set({ route }, count);
    },
  });

  return {
    onRequestStarted(requestRecord: RequestRecord): void {
      pendingRequests.add(requestRecord);
      requestsUntilCopy -= 1;
      if (requestsUntilCopy > 0) return;
      // V8 keeps outgrown tables of a Set with their entries (docs/design/how-it-stays-fast.md#objects).
      pendingRequests = new Set(pendingRequests);
      requestsUntilCopy = requestsBetweenCopies;
    },
    /** Called once for each started request, with the status of its response. */
    onRequestFinished(requestRecord: RequestRecord, status: number, isAborted: boolean): void {
      pendingRequests.delete(requestRecord);
      const { route, operation, startedAtMs } = requestRecord;
      if (route === undefined) return;
      const seconds = (performance.now() - startedAtMs) / 1_000;
      if (route === 'label') {
        const outcome = isAborted ? 'aborted' : status < 400 ? 'ok' : 'refused';
        labels.observe({ outcome }, seconds);
      } else if (route === 'graphql') {
        const type = operation?.operation ?? 'none';
        operations.observe({ type, outcome: isAborted ? 'aborted' : toOutcome(requestRecord) }, seconds);
      }
      for (const code in requestRecord.errors) errors.inc({ code }, requestRecord.errors[code]);
      const { cached = 0, savedByList = 0 } = requestRecord.callContext?.callLog ?? {};
      if (cached > 0) savedCalls.inc({ by: 'reference' }, cached);
      if (savedByList > 0) savedCalls.inc({ by: 'list' }, savedByList);
    },
  };
}

/** `refused`: nothing of the operation ran. */
function toOutcome({ operation, isRejected, errors }: RequestRecord): string {
  if (operation === undefined || isRejected) return 'refused';
  return errors === undefined ? 'ok' : 'errors';
}

/** The label `route` is the template of the path, such as `/v1/orders/{id}`. */
export function createCallMetrics(registers: Registry[]): Required<Omit<CallObserver, 'onAttempt'>> {
  const calls = new Histogram({
    name: 'waybill_rest_call_duration_seconds',
    help: 'Duration of REST calls without the time in the queue, by method, route template and status. The status is none if no response arrived, and aborted if Waybill stopped waiting.',
    labelNames: ['method', 'route', 'status'],
    buckets,
    registers,
  });
  const retries = new Counter({
    name: 'waybill_rest_retries_total',
    help: 'Retries of REST calls, by method and route template.',
    labelNames: ['method', 'route'],
    registers,
  });
  let pendingCalls = 0;
  new Gauge({
    name: 'waybill_rest_calls_in_flight',
    help: 'REST calls that have left the queue and wait for their response.',
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
    onCallFinished({ method, route, status, durationMs = 0, retries: retryCount, isAborted, isUnsent }) {
      pendingCalls -= 1;
      if (isUnsent) return;
      const label = { method, route, status: status ?? (isAborted ? 'aborted' : 'none') };
      calls.observe(label, durationMs / 1_000);
      if (retryCount > 0) retries.inc({ method, route }, retryCount);
    },
  };
}

/** The batches of ids and the prefetched pages. */
export function createLoadingMetrics(registers: Registry[]): LoadingObserver {
  const sizes = new Histogram({
    name: 'waybill_batch_size',
    help: 'Number of ids in a batch, by kind: orders or shipments.',
    labelNames: ['kind'],
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000],
    registers,
  });
  const batches = new Counter({
    name: 'waybill_batches_total',
    help: 'Batches of ids, by kind and way of loading. gets: one GET per id. page: list pages had some of the ids. no rows: list pages had none of the ids. failed: a list page failed.',
    labelNames: ['kind', 'way'],
    registers,
  });
  const prefetchedPages = new Counter({
    name: 'waybill_prefetched_pages_total',
    help: 'Prefetched list pages, by kind and event. Event asked: Waybill requested the page. Event used: a batch used the page.',
    labelNames: ['kind', 'event'],
    registers,
  });
  return {
    batch(kind, size, way) {
      sizes.observe({ kind }, size);
      batches.inc({ kind, way });
    },
    prefetchedPage: (kind, event) => prefetchedPages.inc({ kind, event }),
  };
}
