import { type RestCall, routeOf } from '../call.ts';
import { type FieldPaths, pathsOf } from './field-path.ts';

/** The log entry of one REST call. For privacy, an entry holds no query, no identifier and no access token. */
export interface CallLogEntry {
  method: string;
  /** The path with `{id}` instead of identifiers. */
  route: string;
  /** The HTTP status. Undefined if there is no response. */
  status: number | undefined;
  /** When the call got a slot and was sent, in milliseconds since the start of the operation. */
  startMs: number;
  /** Undefined while the call is in progress. */
  durationMs: number | undefined;
  /** The size of the response body, as far as the body was read and decompressed. */
  bytes: number;
  /** The number of times that the call was sent again. */
  retries: number;
  /** Whether another operation sent the call, and this operation waited for the shared response. */
  isShared: boolean;
  /** The paths of the fields that requested the call so far. Empty unless the operation's cost is reported. */
  askedBy: readonly string[];
}

/** The REST calls of one operation, and the number of calls that caches and lists made unnecessary. */
export interface CallLog {
  readonly entries: CallLogEntry[];
  /** Pages served from the cache of an earlier operation with the same access token. */
  cached: number;
  /** Point reads that a list call made unnecessary. */
  savedByList: number;
  /** Milliseconds since the start of the operation. */
  elapsedMs(): number;
}

/** The total cost of the calls in one call log. */
export interface CallTotals {
  /** The number of calls that this operation sent. */
  calls: number;
  /** The number of calls that another operation sent and this operation waited for. */
  shared: number;
  /** The total size of the response bodies of `calls`. */
  bytes: number;
  /** The total number of retries of `calls`. */
  retries: number;
  /** The time during which at least one call, sent or shared, was in progress, in milliseconds. */
  restMs: number;
}

/** Adds up the entries of a call log. */
export function totalsOf({ entries, elapsedMs }: CallLog): CallTotals {
  const totals: CallTotals = { calls: 0, shared: 0, bytes: 0, retries: 0, restMs: 0 };
  let coveredUntilMs = 0;
  // Entries are in the order of sending. Each entry adds its time after the end of all earlier entries.
  for (const { isShared, bytes, retries, startMs, durationMs } of entries) {
    const endMs = durationMs === undefined ? elapsedMs() : startMs + durationMs;
    if (endMs > coveredUntilMs) {
      totals.restMs += endMs - Math.max(startMs, coveredUntilMs);
      coveredUntilMs = endMs;
    }
    if (isShared) {
      totals.shared += 1;
    } else {
      totals.calls += 1;
      totals.bytes += bytes;
      totals.retries += retries;
    }
  }
  return totals;
}

const noPaths: readonly string[] = [];

/** Adds an entry for a call that is about to be sent. The caller completes the entry as the call proceeds. */
export function recordCall(callLog: CallLog, call: RestCall, fieldPath?: FieldPaths): CallLogEntry {
  const entry: CallLogEntry = {
    method: call.method,
    route: routeOf(call),
    status: undefined,
    startMs: callLog.elapsedMs(),
    durationMs: undefined,
    bytes: 0,
    retries: 0,
    isShared: false,
    askedBy: noPaths,
  };
  // Not in the object literal: a getter per entry costs as much as the rest of the entry.
  if (fieldPath !== undefined) {
    Object.defineProperty(entry, 'askedBy', { enumerable: true, get: () => pathsOf(fieldPath) });
  }
  callLog.entries.push(entry);
  return entry;
}

/** Creates an empty call log. Its time starts now. */
export function createCallLog(): CallLog {
  const startedAtMs = performance.now();
  return { entries: [], cached: 0, savedByList: 0, elapsedMs: () => performance.now() - startedAtMs };
}
