import type { ExecutionResult } from 'graphql';
import { type CallLog, type CallLogEntry, totalsOf } from '../../rest/client/call-log.ts';
import type { HeaderReader } from '../../telemetry/request-record.ts';

/** What an operation has cost, as clients see it. Nothing in it tells what was asked for, or by whom. */
export interface OperationCost {
  /** How many REST calls were made for it. */
  calls: number;
  /** How many more were another operation's, which waited for the same answer. */
  shared: number;
  /** How many pages were known from an earlier operation. */
  cached: number;
  /** How many gets a list has made unnecessary. */
  savedByList: number;
  requests: RequestCost[];
}

export interface RequestCost {
  method: string;
  /** With `{id}` in the place of identifiers, and without the query. */
  path: string;
  /** Null where no answer came. */
  status: number | null;
  /** When it was sent, since the operation began. */
  startMs: number;
  /** Null where the operation was answered before it. */
  durationMs: number | null;
  bytes: number;
  retries: number;
  shared: boolean;
  /** The paths of the fields that asked for it; `*` stands for the indexes of several items of a list. */
  askedBy: readonly string[];
}

/** Whether a request asks to be shown what its operation cost. */
export function requestsCost(headers: HeaderReader): boolean {
  return headers.get('x-upstream-cost') === '1';
}

/** A result that shows what its operation cost as `extensions.upstream`. */
export function withCost(result: ExecutionResult, callLog: CallLog): ExecutionResult {
  return { ...result, extensions: { ...result.extensions, upstream: costOf(callLog) } };
}

/** The numbers of a ledger as they are shown. */
export function costOf(callLog: CallLog): OperationCost {
  const { calls, shared } = totalsOf(callLog);
  const { entries, cached, savedByList } = callLog;
  return { calls, shared, cached, savedByList, requests: entries.map(requestCost) };
}

/** The numbers of a call as they are shown. */
export function requestCost(entry: CallLogEntry): RequestCost {
  const { method, route, status = null, startMs, durationMs, bytes, retries, isShared, askedBy } = entry;
  return {
    method,
    path: route,
    status,
    startMs: roundToTenths(startMs),
    durationMs: durationMs === undefined ? null : roundToTenths(durationMs),
    bytes,
    retries,
    shared: isShared,
    askedBy,
  };
}

/** Times are shown to the tenth of a millisecond. */
export function roundToTenths(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10;
}
