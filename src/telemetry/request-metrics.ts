import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { RequestObserver, RequestRecord } from './request-record.ts';

/** After so many requests the set of those under way is copied. */
const copiedAfter = 1_024;

// From what the server needs by itself up to the deadline of an operation.
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * Counts requests and what was had without a call.
 * The labels have few values: an operation's name is not among them, as it is the client's to choose, and nor is anything
 * that tells who has asked.
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
  const saved = new Counter({
    name: 'waybill_rest_calls_saved_total',
    help: 'Calls that were not made, as the answer was known (reference), another waited for it (shared) or a list had it.',
    labelNames: ['by'],
    registers,
  });
  let inFlight = new Set<RequestRecord>();
  let untilCopied = copiedAfter;
  new Gauge({
    name: 'waybill_requests_in_flight',
    help: 'Requests that are not answered yet by route (graphql, label, other).',
    labelNames: ['route'],
    registers,
    collect() {
      const counts = { graphql: 0, label: 0, other: 0 };
      for (const { route = 'other' } of inFlight) counts[route] += 1;
      for (const [route, count] of Object.entries(counts)) this.set({ route }, count);
    },
  });

  function countSavings({ joined: hasJoined, callContext }: RequestRecord): void {
    if (hasJoined) joined.inc();
    if (callContext === undefined) return;
    const { cached, savedByList, entries } = callContext.callLog;
    let shared = 0;
    for (const { isShared } of entries) if (isShared) shared += 1;
    if (cached > 0) saved.inc({ by: 'reference' }, cached);
    if (savedByList > 0) saved.inc({ by: 'list' }, savedByList);
    if (shared > 0) saved.inc({ by: 'shared' }, shared);
  }

  return {
    onRequestStarted(requestRecord) {
      inFlight.add(requestRecord);
      untilCopied -= 1;
      if (untilCopied > 0) return;
      // V8 keeps the tables that a Set has outgrown, with what was in them, until a full collection of garbage.
      inFlight = new Set(inFlight);
      untilCopied = copiedAfter;
    },
    onRequestFinished(requestRecord, status, isAborted) {
      inFlight.delete(requestRecord);
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

/** What became of an operation; one is refused where none of it has run. */
function outcomeOf({ operation, callContext, isRefused, errors }: RequestRecord, isAborted: boolean): string {
  if (isAborted) return 'aborted';
  if (operation === undefined || isRefused) return 'refused';
  if (errors === undefined) return 'ok';
  return callContext === undefined ? 'refused' : 'errors';
}
