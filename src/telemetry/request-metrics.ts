import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { RequestObserver, RequestRecord } from './request-record.ts';

/** The number of requests after which the set of pending requests is copied. */
const requestsBetweenCopies = 1_024;

// In seconds, from the server's own time up to the timeout of an operation.
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * Creates the metrics of requests and saved REST calls.
 * Labels have few values. They include neither operation names, which clients choose, nor the identity of clients.
 */
export function createRequestMetrics(registry: Registry): RequestObserver {
  const registers = [registry];
  const operations = new Histogram({
    name: 'waybill_operation_duration_seconds',
    help: 'GraphQL operations by type (query, mutation, none) and outcome (ok, errors, refused, aborted).',
    labelNames: ['type', 'outcome'],
    buckets,
    registers,
  });
  const labels = new Histogram({
    name: 'waybill_label_duration_seconds',
    help: 'Labels, until their first bytes, by outcome (ok, refused, aborted).',
    labelNames: ['outcome'],
    buckets,
    registers,
  });
  const errors = new Counter({
    name: 'waybill_errors_total',
    help: 'Errors in the answers of operations and labels by their code.',
    labelNames: ['code'],
    registers,
  });
  const joined = new Counter({
    name: 'waybill_operations_joined_total',
    help: 'Queries that got the result of an equal running query.',
    registers,
  });
  const savedCalls = new Counter({
    name: 'waybill_rest_calls_saved_total',
    help: 'Calls that were not made, as the answer was known (reference), another waited for it (shared) or a list had it.',
    labelNames: ['by'],
    registers,
  });
  let pendingRequests = new Set<RequestRecord>();
  let requestsUntilCopy = requestsBetweenCopies;
  new Gauge({
    name: 'waybill_requests_in_flight',
    help: 'Requests that are not answered yet by route (graphql, label, other).',
    labelNames: ['route'],
    registers,
    collect() {
      const counts = { graphql: 0, label: 0, other: 0 };
      for (const { route = 'other' } of pendingRequests) counts[route] += 1;
      for (const [route, count] of Object.entries(counts)) this.set({ route }, count);
    },
  });

  function countSavings({ joined: isJoined, callContext }: RequestRecord): void {
    if (isJoined) joined.inc();
    if (callContext === undefined) return;
    const { cached, savedByList, entries } = callContext.callLog;
    let shared = 0;
    for (const { isShared } of entries) if (isShared) shared += 1;
    if (cached > 0) savedCalls.inc({ by: 'reference' }, cached);
    if (savedByList > 0) savedCalls.inc({ by: 'list' }, savedByList);
    if (shared > 0) savedCalls.inc({ by: 'shared' }, shared);
  }

  return {
    onRequestStarted(requestRecord) {
      pendingRequests.add(requestRecord);
      requestsUntilCopy -= 1;
      if (requestsUntilCopy > 0) return;
      // V8 keeps outgrown tables of a Set with their entries (docs/decisions/0004-long-lived-closures.md).
      pendingRequests = new Set(pendingRequests);
      requestsUntilCopy = requestsBetweenCopies;
    },
    onRequestFinished(requestRecord, status, isAborted) {
      pendingRequests.delete(requestRecord);
      const { route, operation, startedAt } = requestRecord;
      if (route === undefined) return;
      const seconds = (performance.now() - startedAt) / 1_000;
      if (route === 'label') {
        const outcome = isAborted ? 'aborted' : status < 400 ? 'ok' : 'refused';
        labels.observe({ outcome }, seconds);
      } else {
        const type = operation?.operation ?? 'none';
        operations.observe({ type, outcome: outcomeOf(requestRecord, isAborted) }, seconds);
      }
      for (const code in requestRecord.errors) errors.inc({ code }, requestRecord.errors[code]);
      countSavings(requestRecord);
    },
  };
}

/** The outcome of an operation for the metrics. `refused`: nothing of the operation ran. */
function outcomeOf({ operation, callContext, isRejected: isRefused, errors }: RequestRecord, isAborted: boolean): string {
  if (isAborted) return 'aborted';
  if (operation === undefined || isRefused) return 'refused';
  if (errors === undefined) return 'ok';
  return callContext === undefined ? 'refused' : 'errors';
}
