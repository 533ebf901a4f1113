// Called by `singleFlight` for reads and writes, and by api.ts for streams. Retries reads, asks the circuit breaker
// before each attempt and reports the call to the observer. The next step is transport.ts.

import { type Cancellation, pause } from '../../concurrency/cancellation.ts';
import { stopSharingPendingReads } from '../../tenancy/tenant.ts';
import { isRead, type RestCall, routeOf } from '../call.ts';
import { abortedError, CircuitOpenError, isUnauthenticated, OverloadedError } from '../errors.ts';
import type { CircuitBreaker, CircuitPermit, Circuits } from '../protection/circuit-breaker.ts';
import type { Slot } from '../protection/operation-queue.ts';
import type { Retries } from '../protection/retries.ts';
import type { CallContext } from './call-context.ts';
import { outcomeOf } from './call-failure.ts';
import { type CallLogEntry, recordCall } from './call-log.ts';
import type { CallObserver } from './call-observer.ts';
import { currentFieldPath, type FieldPaths } from './field-path.ts';
import type { StreamedResponse } from './streamed-response.ts';
import type { Transport, TransportRequest } from './transport.ts';

/** The receiver of a call's outcome. Either `resolve` or `reject` is called, once. Neither may throw. */
export interface PendingCall<Value> {
  /** Aborts the call. */
  readonly signal: Cancellation;
  /** The field paths at the time of queuing. The call may be sent while code of another operation runs. */
  readonly fieldPath: FieldPaths | undefined;
  /** The slot of the call, if any. Released during the back-off before a retry. */
  readonly slot?: Pick<Slot, 'release' | 'reacquire'>;
  /** The time left for another attempt, in milliseconds. By default the time left for the operation. */
  remainingMs?(): number;
  /** Set to the call log entry of the call once the call is sent. */
  entry?: CallLogEntry | undefined;
  resolve(value: Value): void;
  reject(error: unknown): void;
}

/** The circuit breakers, retries and observer that all calls of a client share. */
export interface CallPolicy {
  circuits: Circuits;
  retries: Retries;
  observer: CallObserver | undefined;
}

/**
 * Sends calls to REST.
 * @throws StatusError for an HTTP error, or a network error such as UnavailableError or DeadlineError. A call that is not
 * sent fails with CircuitOpenError, OverloadedError or AbortedError.
 */
export interface Calls {
  /** Sends a read that has a slot already. Resolves `pending` with the parsed JSON of a 2xx response. */
  read(call: RestCall, callContext: CallContext, pending: PendingCall<unknown>): void;
  /** Waits for a slot and sends a write. @returns the parsed JSON of a 2xx response. */
  write(call: RestCall, callContext: CallContext): Promise<unknown>;
  /**
   * Sends a read without a slot. @returns a streamed 2xx response once the first bytes have arrived. The caller must
   * read the body to the end or destroy the body.
   * @throws InvalidResponseError for an empty body.
   */
  stream(call: RestCall, callContext: CallContext): Promise<StreamedResponse>;
}

/** Creates `Calls` over two transports: one for JSON responses, one for streamed responses. */
export function createCalls(
  policy: CallPolicy,
  json: Transport<unknown>,
  streams: Transport<StreamedResponse>,
): Calls {
  return {
    read: (call, callContext, pending) => executeCall(policy, json, call, callContext, pending),
    async write(call, callContext) {
      const { signal } = callContext;
      const fieldPath = currentFieldPath.getStore();
      try {
        const slot = await callContext.queue.acquireSlot(call, signal);
        try {
          return await new Promise((resolve, reject) => {
            executeCall(policy, json, call, callContext, { signal, fieldPath, resolve, reject });
          });
        } finally {
          slot.release();
        }
      } finally {
        // Even a failed write may have changed data. Later reads must not join reads that are pending now.
        stopSharingPendingReads(callContext.tenant);
      }
    },
    stream: (call, callContext) =>
      new Promise((resolve, reject) => {
        const pending = {
          signal: callContext.signal,
          fieldPath: currentFieldPath.getStore(),
          resolve,
          reject,
        };
        executeCall(policy, streams, call, callContext, pending);
      }),
  };
}

/** Sends a call and settles `pending` with the outcome. A read is retried as the policy allows, a write never. */
export function executeCall<Value>(
  policy: CallPolicy,
  transport: Transport<Value>,
  call: RestCall,
  callContext: CallContext,
  pending: PendingCall<Value>,
): void {
  // Checked first: a call that was aborted in the queue is not sent, and gets no call log entry.
  if (pending.signal.aborted) {
    pending.reject(abortedError(call, pending.signal));
    return;
  }
  const circuit = policy.circuits.of(call.method, routeOf(call));
  const permit = circuit.acquirePermit(callContext.tenant);
  if (permit === undefined) pending.reject(new CircuitOpenError(call, circuit.retryAfterMs()));
  else new CallExecution(policy, transport, call, callContext, pending, circuit, permit).attempt();
}

/**
 * The attempts of one call. The circuit breaker admits each attempt. Callbacks, because promises and async functions
 * cost three times as much per call. Only a retry uses a promise.
 */
class CallExecution<Value> implements TransportRequest<Value> {
  readonly call: RestCall;
  readonly callContext: CallContext;
  readonly entry: CallLogEntry;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly #policy: CallPolicy;
  readonly #transport: Transport<Value>;
  readonly #pending: PendingCall<Value>;
  readonly #circuit: CircuitBreaker;
  #permit: CircuitPermit;
  /** The start of the current attempt, in milliseconds since the start of the operation. */
  #attemptStartMs: number;

  constructor(
    policy: CallPolicy,
    transport: Transport<Value>,
    call: RestCall,
    callContext: CallContext,
    pending: PendingCall<Value>,
    circuit: CircuitBreaker,
    permit: CircuitPermit,
  ) {
    this.#policy = policy;
    this.#transport = transport;
    this.call = call;
    this.callContext = callContext;
    this.#pending = pending;
    this.#circuit = circuit;
    this.#permit = permit;
    this.entry = recordCall(callContext.callLog, call, pending.fieldPath);
    this.#attemptStartMs = this.entry.startMs;
    pending.entry = this.entry;
    this.headers = this.#notifySent();
    if (isRead(call)) policy.retries.recordFirstAttempt();
  }

  get signal(): Cancellation {
    return this.#pending.signal;
  }

  attempt(): void {
    try {
      this.#transport.send(this);
    } catch (error) {
      // Nothing was sent, so the call says nothing about REST.
      this.#circuit.recordOutcome(this.callContext.tenant, this.#permit, 'aborted');
      queueMicrotask(() => this.#reject(error));
    }
  }

  succeeded(value: Value): void {
    const { tenant, callLog } = this.callContext;
    // The condition is rarely true, and saves reading the clock twice per call.
    if (this.callContext.isTokenRejected()) {
      this.callContext.onTokenAccepted(performance.now() - (callLog.elapsedMs() - this.#attemptStartMs));
    }
    this.#circuit.recordOutcome(tenant, this.#permit, 'answered');
    this.#finish();
    this.#pending.resolve(value);
  }

  failed(error: unknown): void {
    const { entry } = this;
    const { tenant, callLog, deadline } = this.callContext;
    if (isUnauthenticated(error)) this.callContext.onTokenRejected();
    const silentMs = entry.status === undefined ? callLog.elapsedMs() - this.#attemptStartMs : 0;
    this.#circuit.recordOutcome(tenant, this.#permit, outcomeOf(error, silentMs));
    const remainingMs = this.#pending.remainingMs?.() ?? deadline.remainingMs();
    const pauseMs = isRead(this.call)
      ? this.#policy.retries.pauseMs(error, tenant, entry.retries, remainingMs)
      : undefined;
    // Deferred, because one abort may end several calls. The slot must not go to a call that the abort is about to end.
    if (pauseMs === undefined) queueMicrotask(() => this.#reject(error));
    else void this.#retry(error, pauseMs);
  }

  /** Starts the next attempt after the back-off. If no attempt is allowed, the call fails with the last error. */
  async #retry(error: unknown, pauseMs: number): Promise<void> {
    try {
      // Awaited even without a pause: the pool must not be used again from within its own callback.
      await this.#backOff(pauseMs);
      if (this.signal.aborted) throw abortedError(this.call, this.signal);
    } catch (retryError) {
      this.#reject(retryError instanceof OverloadedError ? error : retryError);
      return;
    }
    const permit = this.#circuit.acquirePermit(this.callContext.tenant);
    if (permit === undefined) {
      this.#reject(error);
      return;
    }
    const { entry } = this;
    this.#permit = permit;
    entry.retries += 1;
    entry.status = undefined;
    entry.durationMs = undefined;
    this.#attemptStartMs = this.callContext.callLog.elapsedMs();
    this.attempt();
  }

  /** Waits `pauseMs` without the slot. @throws OverloadedError or AbortedError if no slot can be acquired again. */
  async #backOff(pauseMs: number): Promise<void> {
    if (pauseMs === 0) return;
    const { slot } = this.#pending;
    slot?.release();
    await pause(pauseMs, this.signal);
    await slot?.reacquire(this.signal);
  }

  #reject(error: unknown): void {
    this.#finish();
    this.#pending.reject(error);
  }

  /** Notifies the observer. @returns the headers that the observer adds. */
  #notifySent(): Readonly<Record<string, string>> | undefined {
    try {
      return this.#policy.observer?.onCallSent(this.entry, this.callContext.callLog);
    } catch {
      // The call is sent nevertheless: the circuit breaker has admitted the call and expects an outcome.
      return undefined;
    }
  }

  #finish(): void {
    const { callLog } = this.callContext;
    this.entry.durationMs ??= callLog.elapsedMs() - this.entry.startMs;
    try {
      this.#policy.observer?.onCallFinished(this.entry, callLog);
    } catch {
      // Ignored: a write that succeeded must not be reported as failed.
    }
  }
}
