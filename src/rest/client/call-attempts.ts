import { maxDeferredBytes } from '../../concurrency/defer.ts';
import type { Owner } from '../../concurrency/owner.ts';
import { SlotRequest } from '../../concurrency/semaphore.ts';
import type { TimeoutEntry, TimeoutQueue } from '../../concurrency/timeout-queue.ts';
import { callRoute, describeCall, isRead, type RestCall } from '../call.ts';
import {
  abortedError,
  CircuitOpenError,
  closedError,
  DeadlineError,
  isUnauthenticated,
  StatusError,
  WaybillError,
} from '../errors.ts';
import { failureReason, isConnectFailure, toFailure, toOutcome } from '../protection/call-failure.ts';
import type { CircuitBreaker, CircuitPermit } from '../protection/circuit-breaker.ts';
import { parseRetryAfter } from '../protection/retries.ts';
import type { CallContext } from './call-context.ts';
import type { CallLogEntry } from './call-log.ts';
import type { ClientState } from './client-state.ts';
import { readErrorBody } from './error-body.ts';
import {
  type BufferedResponse,
  HttpExchange,
  isSuccess,
  type ResponseHandler,
  toRequest,
} from './http-exchange.ts';
import type { ServiceClock } from './service-clock.ts';

const maxReconnects = 2;
const baseReconnectPauseMs = 100;

/**
 * One call with all its attempts. The methods follow its course: it waits for a slot, gets a permit, leaves, and succeeds,
 * fails or starts again. Callbacks, because promises and async functions cost three times as much per call.
 * If no connection can be opened for a write, the attempt connects again up to twice within the same time limit: nothing
 * was sent. A write on a kept-alive connection that breaks is not sent again, because REST may have read the request.
 */
export abstract class CallAttempts<Value> extends SlotRequest implements ResponseHandler, TimeoutEntry {
  // The call is in the list of its timeouts during an attempt, and in a line only while it waits for a slot.
  declare before: CallAttempts<Value> | undefined;
  declare after: CallAttempts<Value> | undefined;
  endsAtMs: number | undefined;
  readonly weight = 1;
  readonly call: RestCall;
  protected readonly client: ClientState;
  protected timeouts: TimeoutQueue;
  readonly #callContext: CallContext;
  readonly #route: string;
  readonly #circuit: CircuitBreaker;
  #permit: CircuitPermit | undefined;
  /** Whether the call has its permit, and is about to be sent. */
  #isDeparting = false;
  #entry: CallLogEntry | undefined;
  /** The start of the current attempt, in milliseconds since the start of the operation. */
  #attemptStartMs = 0;
  #exchange: HttpExchange | undefined;
  /** Names and values in turn. */
  #observerHeaders: string[] | undefined;
  #pause: NodeJS.Timeout | undefined;
  #resolve: (value: Value) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(client: ClientState, call: RestCall, callContext: CallContext) {
    super();
    this.client = client;
    this.call = call;
    this.timeouts = client.timeouts;
    this.#callContext = callContext;
    this.#route = `${call.method} ${callRoute(call)}`;
    this.#circuit = client.circuits.of(this.#route);
  }

  /** Whether the call waits for a slot, and uses the read budget. Streams do neither. */
  protected abstract readonly isQueued: boolean;
  /** Parses the body of a buffered 2xx response. @throws InvalidResponseError */
  protected abstract parse(text: string): Value;

  /** The call's one entry in the log, from its first attempt on. */
  get entry(): CallLogEntry {
    this.#entry ??= this.#callContext.callLog.record(this.call);
    return this.#entry;
  }

  get owner(): Owner {
    return this.#callContext.owner;
  }

  get serviceClock(): ServiceClock | undefined {
    return this.isQueued ? this.client.serviceClock : undefined;
  }

  send(): Promise<Value> {
    return new Promise((resolve, reject) => {
      const { signal } = this.#callContext;
      if (signal.aborted) throw abortedError(this.call, signal);
      if (this.isQueued && isRead(this.call)) this.#callContext.useReadBudget(this.call);
      this.#resolve = resolve;
      this.#reject = reject;
      signal.addEventListener('abort', this);
      this.#start();
    });
  }

  #start(): void {
    if (!this.isQueued || this.#callContext.slots.acquire(this) === 'granted') this.onSlotGranted();
  }

  /** Starts an attempt. */
  onSlotGranted(): void {
    this.#permit = this.#circuit.acquirePermit(this.#callContext.tenant);
    if (this.#permit === undefined) {
      this.#fail(new CircuitOpenError(this.call, this.#circuit.retryAfterMs()));
      return;
    }
    this.#isDeparting = true;
    this.client.deferSending(() => this.#depart());
  }

  #depart(): void {
    if (!this.#isDeparting) return;
    this.#isDeparting = false;
    const { callLog } = this.#callContext;
    if (this.#entry === undefined) {
      this.#attemptStartMs = this.entry.startMs;
      for (const observer of this.client.observers) {
        const headers = observer.onCallSent?.(this.entry, callLog);
        if (headers !== undefined) this.#observerHeaders = Object.entries(headers).flat();
      }
      if (isRead(this.call)) this.client.retries.recordFirstAttempt();
    } else {
      this.#attemptStartMs = callLog.elapsedMs();
      this.entry.retries += 1;
      this.entry.status = undefined;
      this.entry.durationMs = undefined;
    }
    this.timeouts.start(this);
    this.#dispatch();
  }

  #dispatch(): void {
    const { client, call } = this;
    const request = toRequest(call, client, this.#callContext.bearer, this.#observerHeaders);
    this.#exchange = new HttpExchange(this);
    this.#exchange.dispatch(this.isQueued ? client.pool : client.streamPool, request);
  }

  beforeSend(): void {
    if (!isRead(this.call)) this.#callContext.beforeWrite?.();
  }

  received(response: BufferedResponse): void {
    // Recorded before parsing, because parsing may be deferred.
    this.entry.durationMs = this.#callContext.callLog.elapsedMs() - this.entry.startMs;
    if ((response.text?.length ?? 0) > maxDeferredBytes) this.#complete(response);
    else this.client.deferParsing(() => this.#complete(response));
  }

  /** The one place where the text of a response is parsed. */
  #complete({ status, retryAfter, text = '' }: BufferedResponse): void {
    let value: Value;
    try {
      if (!isSuccess(status)) {
        const hidden = { accessToken: this.#callContext.bearer, restHost: this.client.restHost };
        throw new StatusError(this.call, status, readErrorBody(text, hidden), parseRetryAfter(retryAfter));
      }
      value = this.parse(text);
    } catch (error) {
      this.failed(error, true);
      return;
    }
    this.cleanUp();
    this.succeed(value);
  }

  protected succeed(value: Value): void {
    this.#callContext.onTokenAccepted();
    this.#recordOutcome('answered');
    this.#finish();
    this.#resolve(value);
  }

  failed(error: unknown, isSent: boolean): void {
    if (!isSent && this.#reconnect(error)) return;
    this.timeouts.stop(this);
    const { tenant, callLog, deadline, signal } = this.#callContext;
    const isBroken = this.client.isClosed && !(error instanceof WaybillError);
    const failure = toFailure(this.call, isBroken ? closedError(this.call) : error, isSent);
    if (isUnauthenticated(failure)) this.#callContext.onTokenRejected();
    const silentMs = this.entry.status === undefined ? callLog.elapsedMs() - this.#attemptStartMs : 0;
    const outcome = toOutcome(failure, silentMs);
    // Nothing was sent if the call waited for its connection when it was aborted, or when `beforeWrite` refused the write.
    if (outcome === 'aborted' && !isSent && this.entry.retries === 0) callLog.forget(this.entry);
    this.#recordOutcome(outcome, failureReason(failure));
    // An operation that has ended needs no further attempt.
    const pauseMs =
      isRead(this.call) && !signal.aborted
        ? this.client.retries.pauseMs(failure, tenant, this.entry.retries, deadline.remainingMs())
        : undefined;
    if (pauseMs === undefined) {
      // Deferred, because one abort may end several calls. The slot must not go to a call that it is about to end.
      queueMicrotask(() => this.#fail(failure));
      return;
    }
    this.#callContext.slots.release(this);
    // Also without a pause: the pool must not be used again from within its own callback.
    this.#pauseThen(pauseMs, () => this.#start());
  }

  /** Dispatches a write again after a pause, within the same attempt. @returns false if no further try is allowed. */
  #reconnect(error: unknown): boolean {
    const { retries } = this.entry;
    if (isRead(this.call) || retries === maxReconnects || !isConnectFailure(error)) return false;
    // Random, so that writes that failed together are not sent again together.
    const pauseMs = Math.random() * baseReconnectPauseMs * 2 ** retries;
    this.#pauseThen(pauseMs, () => {
      this.entry.retries += 1;
      this.#dispatch();
    });
    return true;
  }

  #pauseThen(pauseMs: number, next: () => void): void {
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      next();
    }, pauseMs);
  }

  /** Called when the operation's signal aborts. */
  handleEvent(): void {
    const error = abortedError(this.call, this.#callContext.signal);
    if (this.slot === 'waiting') this.#fail(error);
    else this.#abort(error);
  }

  onTimeout(timeoutMs: number): void {
    const expected = this.timeouts === this.client.timeouts ? 'answered' : 'finished';
    this.#abort(new DeadlineError(`${describeCall(this.call)} was not ${expected} within ${timeoutMs} ms`));
  }

  #abort(error: Error): void {
    const isPausing = this.#pause !== undefined;
    clearTimeout(this.#pause);
    this.#pause = undefined;
    if (this.#isDeparting) this.#cancelDeparture(error);
    else if (!isPausing) this.#exchange?.fail(error);
    // A pause between two attempts has no permit. A pause of `#reconnect` has that of its attempt.
    else if (this.#permit === undefined) this.#fail(error);
    else this.failed(error, false);
  }

  /** Ends a call that has not left. It gives back its permit, and counts as no attempt. */
  #cancelDeparture(error: Error): void {
    this.#isDeparting = false;
    if (this.#permit !== undefined)
      this.#circuit.recordOutcome(this.#callContext.tenant, this.#permit, 'aborted');
    this.#permit = undefined;
    // Deferred, like every failure: one abort may end several calls.
    queueMicrotask(() => this.#fail(error));
  }

  #fail(error: unknown): void {
    this.cleanUp();
    this.#finish();
    this.#reject(error);
  }

  #finish(): void {
    this.#callContext.slots.release(this);
    if (this.#entry === undefined) return; // The call was not sent.
    const { callLog } = this.#callContext;
    this.#entry.durationMs ??= callLog.elapsedMs() - this.#entry.startMs;
    for (const observer of this.client.observers) observer.onCallFinished?.(this.#entry, callLog);
  }

  protected cleanUp(): void {
    this.timeouts.stop(this);
    this.#callContext.signal.removeEventListener('abort', this);
  }

  #recordOutcome(outcome: ReturnType<typeof toOutcome>, reason?: string): void {
    const { tenant, callLog } = this.#callContext;
    this.entry.isAborted = outcome === 'aborted';
    if (this.#permit === undefined) return;
    this.#circuit.recordOutcome(tenant, this.#permit, outcome);
    this.#permit = undefined;
    const attempt = {
      tenantId: tenant.id,
      route: this.#route,
      isRead: isRead(this.call),
      outcome,
      status: this.entry.status,
      reason,
      durationMs: callLog.elapsedMs() - this.#attemptStartMs,
      isCircuitOpen: outcome === 'failed' && this.#circuit.isOpen(),
    };
    for (const observer of this.client.observers) observer.onAttempt?.(attempt);
  }
}
