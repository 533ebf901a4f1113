import type { ExecutionResult } from 'graphql';
import type { CallLog, CallLogEntry } from '../../rest/client/call-log.ts';

export type OperationCost = ReturnType<typeof operationCost>;
export type RequestCost = ReturnType<typeof requestCost>;

/** Adds the cost of the operation to a result as `extensions.upstream`. It has no identifiers, queries or tokens. */
export function withUpstreamCost(result: ExecutionResult, callLog: CallLog): ExecutionResult {
  return { ...result, extensions: { ...result.extensions, upstream: operationCost(callLog) } };
}

function operationCost({ entries, cached, savedByList }: CallLog) {
  return { calls: entries.length, cached, savedByList, requests: entries.map(requestCost) };
}

/** The cost of one REST call. Times are in milliseconds. */
export function requestCost({ method, route, status, startMs, durationMs, bytes, retries }: CallLogEntry) {
  return {
    method,
    /** Without the query string, and with `{id}` for identifiers. */
    path: route,
    /** Null if there was no response. */
    status: status ?? null,
    /** After the start of the operation. */
    startMs: roundToTenths(startMs),
    /** Null if the operation ended before the call. */
    durationMs: durationMs === undefined ? null : roundToTenths(durationMs),
    bytes,
    retries,
  };
}

export function roundToTenths(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10;
}
