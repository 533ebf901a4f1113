import { type Cancellation, pause } from '../../concurrency/cancellation.ts';
import { endJoining } from '../../concurrency/tenant.ts';
import { isRead, type RestCall, routeOf } from '../call.ts';
import { abortedError, CircuitOpenError, isUnauthenticated, OverloadedError } from '../errors.ts';
import type { CircuitBreaker, CircuitPermit, Circuits } from '../protection/circuit-breaker.ts';
import type { Slot } from '../protection/operation-queue.ts';
import type { Retries } from '../protection/retries.ts';
import type { CallContext } from './call-context.ts';
import { type CallLogEntry, recordCall } from './call-log.ts';
import type { CallObserver } from './call-observer.ts';
import { outcomeOf } from './failure.ts';
import { currentFieldPath, type FieldPaths } from './field-path.ts';
import type { StreamedResponse } from './streamed-response.ts';
import type { Transport, TransportRequest } from './transport.ts';

/** A call that is to be made, and what comes of it: `resolve` or `reject` is called, once. Neither throws. */
export interface PendingCall<Value> {
  /** Ends the call when it aborts. */
  readonly signal: Cancellation;
  /** Who asks, as of when the call was queued: it may be sent while another operation runs. */
  readonly fieldPath: FieldPaths | undefined;
  /** Released while the call waits to be tried again. Left out where the call has none. */
  readonly slot?: Pick<Slot, 'release' | 'acquireAgain'>;
  /** How much time there is for another attempt, in milliseconds; as much as the operation has when left out. */
  remainingMs?(): number;
  /** Gets the call's entry in the ledger. */
  entry?: CallLogEntry | undefined;
  resolve(value: Value): void;
  reject(error: unknown): void;
}

/** What the calls of a client have in common. */
export interface CallPolicy {
  circuits: Circuits;
  retries: Retries;
  observer: CallObserver | undefined;
}

/**
 * Makes calls. All fail with StatusError and the network's family of errors, and with CircuitOpenError, OverloadedError or
 * AbortedError where the call was not made.
 */
export interface Calls {
  /** Makes a read that has its slot. Gives `pending` the JSON of a 2xx response. */
  read(call: RestCall, callContext: CallContext, pending: PendingCall<unknown>): void;
  /** Makes a write once it has a slot. @returns the JSON of a 2xx response. */
  write(call: RestCall, callContext: CallContext): Promise<unknown>;
  /**
   * Makes a read without a slot. @returns the body of a 2xx response as it arrives, once its first bytes are there: read it
   * to its end or destroy it. An empty one is an InvalidResponseError.
   */
  stream(call: RestCall, callContext: CallContext): Promise<StreamedResponse>;
}

/** Makes calls over one transport for JSON and one for streams. */
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
        const slot = await callContext.queue.slotFor(call, signal);
        try {
          return await new Promise((resolve, reject) => {
            executeCall(policy, json, call, callContext, { signal, fieldPath, resolve, reject });
          });
        } finally {
          slot.release();
        }
      } finally {
        // A write that failed too may have changed what reads in flight will get.
        endJoining(callContext.tenant);
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

/** Makes a call: a read with as many retries as its policy allows, a write in one attempt. */
export function executeCall<Value>(
  policy: CallPolicy,
  transport: Transport<Value>,
  call: RestCall,
  callContext: CallContext,
  pending: PendingCall<Value>,
): void {
  // First, as a call that was aborted in its queue is not made, and not for the ledger.
  if (pending.signal.aborted) {
    pending.reject(abortedError(call, pending.signal));
    return;
  }
  const circuit = policy.circuits.of(call.method, routeOf(call));
  const permit = circuit.admit(callContext.tenant);
  if (permit === undefined) pending.reject(new CircuitOpenError(call, circuit.retryAfterMs()));
  else new CallExecution(policy, transport, call, callContext, pending, circuit, permit).attempt();
}

/**
 * The loop over the attempts of a call, each of which its circuit has admitted. With callbacks, as promises and async functions
 * cost three times as much for each call: only a failure that is retried has them.
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
  /** When the present attempt began, in milliseconds since the operation did. */
  #attemptedAt: number;

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
    this.#attemptedAt = this.entry.startMs;
    pending.entry = this.entry;
    this.headers = this.#observeStart();
    if (isRead(call)) policy.retries.begin();
  }

  get signal(): Cancellation {
    return this.#pending.signal;
  }

  attempt(): void {
    try {
      this.#transport.send(this);
    } catch (error) {
      this.failed(error);
    }
  }

  succeeded(value: Value): void {
    const { tenant, callLog } = this.callContext;
    // Seldom, and two looks at a clock otherwise.
    if (this.callContext.isRefused()) {
      this.callContext.onTokenAccepted(performance.now() - (callLog.elapsedMs() - this.#attemptedAt));
    }
    this.#circuit.note(tenant, this.#permit, 'answered');
    this.#end();
    this.#pending.resolve(value);
  }

  failed(error: unknown): void {
    const { entry } = this;
    const { tenant, callLog, deadline } = this.callContext;
    if (isUnauthenticated(error)) this.callContext.onTokenRejected();
    const silentMs = entry.status === undefined ? callLog.elapsedMs() - this.#attemptedAt : 0;
    this.#circuit.note(tenant, this.#permit, outcomeOf(error, silentMs));
    const remainingMs = this.#pending.remainingMs?.() ?? deadline.remainingMs();
    const pauseMs = isRead(this.call)
      ? this.#policy.retries.pauseMs(error, tenant, entry.retries, remainingMs)
      : undefined;
    // Not at once: an abort may be about to end the next call in the queue as well, which must not get this call's slot.
    if (pauseMs === undefined) queueMicrotask(() => this.#reject(error));
    else void this.#retry(error, pauseMs);
  }

  /** Makes the next attempt after a pause. Where that may not be made, the call fails with the error of the last attempt. */
  async #retry(error: unknown, pauseMs: number): Promise<void> {
    try {
      // Also without a pause: the pool is not to be used again from within the end of a request.
      await this.#backOff(pauseMs);
      if (this.signal.aborted) throw abortedError(this.call, this.signal);
    } catch (thrown) {
      this.#reject(thrown instanceof OverloadedError ? error : thrown);
      return;
    }
    const permit = this.#circuit.admit(this.callContext.tenant);
    if (permit === undefined) {
      this.#reject(error);
      return;
    }
    const { entry } = this;
    this.#permit = permit;
    entry.retries += 1;
    entry.status = undefined;
    entry.durationMs = undefined;
    this.#attemptedAt = this.callContext.callLog.elapsedMs();
    this.attempt();
  }

  /** Other calls have the slot during the pause. @throws OverloadedError and AbortedError where there is no slot again. */
  async #backOff(pauseMs: number): Promise<void> {
    if (pauseMs === 0) return;
    const { slot } = this.#pending;
    slot?.release();
    await pause(pauseMs, this.signal);
    await slot?.acquireAgain(this.signal);
  }

  #reject(error: unknown): void {
    this.#end();
    this.#pending.reject(error);
  }

  /** @returns the headers that the observer adds. */
  #observeStart(): Readonly<Record<string, string>> | undefined {
    try {
      return this.#policy.observer?.onCallSent(this.entry, this.callContext.callLog);
    } catch {
      // The call is made all the same: its circuit waits for the outcome.
      return undefined;
    }
  }

  #end(): void {
    const { callLog } = this.callContext;
    this.entry.durationMs ??= callLog.elapsedMs() - this.entry.startMs;
    try {
      this.#policy.observer?.onCallFinished(this.entry, callLog);
    } catch {
      // The outcome stays as it is: a write that was done must not be reported as one that failed.
    }
  }
}
