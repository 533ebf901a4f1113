import type { ExecutionResult } from 'graphql';
import type { CallLog, CallLogEntry } from '../../rest/client/call-log.ts';
import type { HeaderReader } from '../../telemetry/request-record.ts';

/** The cost of an operation as clients see it in `extensions.upstream`. It has no identifiers, queries or tokens. */
export interface OperationCost {
  /** REST calls that this operation made. */
  calls: number;
  /** Pages from the cache. */
  cached: number;
  /** Point reads that a list call replaced. */
  savedByList: number;
  requests: RequestCost[];
}

/** The cost of one REST call. */
export interface RequestCost {
  method: string;
  /** The path without the query string, and with `{id}` for identifiers. */
  path: string;
  /** Null if there was no response. */
  status: number | null;
  /** When the call was sent, in milliseconds after the start of the operation. */
  startMs: number;
  /** Null if the operation ended before the call. */
  durationMs: number | null;
  bytes: number;
  retries: number;
}

/** Whether a request asks for the cost extension, by the header `x-upstream-cost: 1`. */
export function requestsCost(headers: HeaderReader): boolean {
  return headers.get('x-upstream-cost') === '1';
}

/** Adds the cost of the operation to a result as `extensions.upstream`. */
export function withUpstreamCost(result: ExecutionResult, callLog: CallLog): ExecutionResult {
  return { ...result, extensions: { ...result.extensions, upstream: upstreamCostOf(callLog) } };
}

/** The cost of an operation by its call log. */
export function upstreamCostOf(callLog: CallLog): OperationCost {
  const { entries, cached, savedByList } = callLog;
  return { calls: entries.length, cached, savedByList, requests: entries.map(requestCost) };
}

/** The cost of one REST call by its entry in the call log. */
export function requestCost(entry: CallLogEntry): RequestCost {
  const { method, route, status = null, startMs, durationMs, bytes, retries } = entry;
  return {
    method,
    path: route,
    status,
    startMs: roundToTenths(startMs),
    durationMs: durationMs === undefined ? null : roundToTenths(durationMs),
    bytes,
    retries,
  };
}

/** Rounds to one decimal. */
export function roundToTenths(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10;
}
