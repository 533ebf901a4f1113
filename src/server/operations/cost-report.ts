import type { ExecutionResult } from 'graphql';
import type { CallLog, CallLogEntry } from '../../rest/client/call-log.ts';

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

/** Adds the cost of the operation to a result as `extensions.upstream`. */
export function withUpstreamCost(result: ExecutionResult, callLog: CallLog): ExecutionResult {
  const { entries, cached, savedByList } = callLog;
  const upstream: OperationCost = {
    calls: entries.length,
    cached,
    savedByList,
    requests: entries.map(requestCost),
  };
  return { ...result, extensions: { ...result.extensions, upstream } };
}

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
