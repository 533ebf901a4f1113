import { callRoute, type RestCall } from '../call.ts';
import type { CallOutcome } from '../protection/circuit-breaker.ts';

/** The log entry of one REST call. For privacy, an entry holds no query, no identifier and no access token. */
export interface CallLogEntry {
  method: string;
  /** The path with `{id}` instead of identifiers. */
  route: string;
  /** The HTTP status. Undefined if there is no response. */
  status: number | undefined;
  /** When the call got a slot and was sent, in milliseconds since the start of the operation. */
  startMs: number;
  durationMs: number | undefined;
  /** The size of the response body, as far as the body was read and decompressed. */
  bytes: number;
  /** The number of times that the call was sent again. */
  retries: number;
  /** Whether this server ended the call, so that a missing response is no failure of REST. */
  isAborted: boolean;
  /** Whether the call ended before any part of it was sent, so that no log and no metric counts it. */
  isUnsent: boolean;
}

/** The REST calls of one operation, and the number of calls that caches and lists made unnecessary. */
export class CallLog {
  /** In the order of sending. */
  readonly entries: CallLogEntry[] = [];
  readonly #startedAtMs = performance.now();
  /** Pages from the cache, or from a pending call of another operation with the same access token. */
  cached = 0;
  /** Point reads that a list call made unnecessary. */
  savedByList = 0;

  /** Milliseconds since the start of the operation. */
  elapsedMs(): number {
    return performance.now() - this.#startedAtMs;
  }

  /** Adds an entry for a call that is about to be sent, and that the caller completes. */
  record(call: RestCall): CallLogEntry {
    const entry: CallLogEntry = {
      method: call.method,
      route: callRoute(call),
      status: undefined,
      startMs: this.elapsedMs(),
      durationMs: undefined,
      bytes: 0,
      retries: 0,
      isAborted: false,
      isUnsent: false,
    };
    this.entries.push(entry);
    return entry;
  }

  /** Removes the entry of a call that was not sent after all. */
  forget(entry: CallLogEntry): void {
    entry.isUnsent = true;
    const index = this.entries.lastIndexOf(entry);
    if (index !== -1) this.entries.splice(index, 1);
  }
}

/** The total cost of the calls. `restMs`: the time in which at least one call was in progress, in milliseconds. */
export function sumCalls(callLog: CallLog) {
  const totals = { calls: 0, bytes: 0, retries: 0, restMs: 0 };
  let coveredUntilMs = 0;
  // Each entry adds its time after the end of all earlier entries.
  for (const { bytes, retries, startMs, durationMs } of callLog.entries) {
    const endMs = durationMs === undefined ? callLog.elapsedMs() : startMs + durationMs;
    if (endMs > coveredUntilMs) {
      totals.restMs += endMs - Math.max(startMs, coveredUntilMs);
      coveredUntilMs = endMs;
    }
    totals.calls += 1;
    totals.bytes += bytes;
    totals.retries += retries;
  }
  return totals;
}

export type OperationCost = ReturnType<typeof operationCost>;
export type RequestCost = ReturnType<typeof requestCost>;

/** The cost of an operation for `extensions.upstream`. It has no identifiers, queries or tokens. */
export function operationCost({ entries, cached, savedByList }: CallLog) {
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

/** One attempt of a REST call. */
export interface AttemptOutcome {
  tenantId: string;
  /** The method and the path with `{id}` in place of identifiers. */
  route: string;
  isRead: boolean;
  outcome: CallOutcome;
  /** Undefined without a response. */
  status: number | undefined;
  /** Why the attempt failed: `503`, `timeout`, or an error code such as `ECONNREFUSED`. Undefined if it succeeded. */
  reason: string | undefined;
  durationMs: number;
  /** Whether the attempt failed, and the circuit breaker of its route is open. */
  isCircuitOpen: boolean;
}

/** Observes every REST call, for metrics, traces and logs. The methods must not throw. */
export interface CallObserver {
  /** Called when a call has a slot and is about to be sent. Returns headers to add to the request, if any. */
  onCallSent?(entry: CallLogEntry, callLog: CallLog): Readonly<Record<string, string>> | undefined;
  /** Called when an attempt has ended. */
  onAttempt?(attempt: AttemptOutcome): void;
  /** Called when the call has finished and its entry is complete. A stream counts as finished at the first byte. */
  onCallFinished?(entry: CallLogEntry, callLog: CallLog): void;
}
