import { type RestCall, routeOf } from '../call.ts';
import { type FieldPaths, pathsOf } from './field-path.ts';

/** One call to REST, as it was made. Nothing in it tells what was asked for: no query, no identifier, no token. */
export interface CallLogEntry {
  method: string;
  /** The path with `{id}` in the place of identifiers. */
  route: string;
  /** Undefined where no answer came. */
  status: number | undefined;
  /** When it left its queue, in milliseconds since the operation began. */
  startMs: number;
  /** Undefined while it is under way. */
  durationMs: number | undefined;
  /** Of the answer's body, as far as it was read. */
  bytes: number;
  /** How often it was sent again. */
  retries: number;
  /** Whether another operation made it, and this one waited for the same answer. */
  isShared: boolean;
  /** The paths of the fields that have asked for it up to now, where that is to be shown. */
  askedBy: readonly string[];
}

/** What the calls of one operation cost, and what was had without one. */
export interface CallLog {
  readonly entries: CallLogEntry[];
  /** Pages that were known from an earlier operation of the same bearer. */
  cached: number;
  /** Gets that a list has made unnecessary. */
  savedByList: number;
  /** Milliseconds since the operation began. */
  elapsedMs(): number;
}

/** What the calls of one operation cost together. */
export interface CallTotals {
  /** Made for this operation. */
  calls: number;
  /** Another operation's, which this one waited for. */
  shared: number;
  /** Of the answers to `calls`. */
  bytes: number;
  /** Of `calls`. */
  retries: number;
  /** For how long at least one of all these was under way, in milliseconds. */
  restMs: number;
}

/** The sums of a ledger. */
export function totalsOf({ entries, elapsedMs }: CallLog): CallTotals {
  const totals: CallTotals = { calls: 0, shared: 0, bytes: 0, retries: 0, restMs: 0 };
  let coveredMs = 0;
  // In the order in which they were sent, so that a call adds to the time what lasts beyond all those before it.
  for (const { isShared, bytes, retries, startMs, durationMs } of entries) {
    const endMs = durationMs === undefined ? elapsedMs() : startMs + durationMs;
    if (endMs > coveredMs) {
      totals.restMs += endMs - Math.max(startMs, coveredMs);
      coveredMs = endMs;
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

/** Puts a call of `asker` that has just left its queue into the ledger; what becomes of it is added as it becomes known. */
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
  // Not in the object above: a getter of its own would cost each entry as much as all else in it.
  if (fieldPath !== undefined) {
    Object.defineProperty(entry, 'askedBy', { enumerable: true, get: () => pathsOf(fieldPath) });
  }
  callLog.entries.push(entry);
  return entry;
}

export function createCallLog(): CallLog {
  const startedAt = performance.now();
  return { entries: [], cached: 0, savedByList: 0, elapsedMs: () => performance.now() - startedAt };
}
