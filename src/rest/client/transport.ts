// Called by execute-call.ts for each attempt of a call. Builds the request, enforces the time limits and parses the
// response. The next step is incoming-response.ts.

import { type Dispatcher, errors as undiciErrors } from 'undici';
import type { Cancellation } from '../../concurrency/cancellation.ts';
import { createDefer, type Defer, maxDeferredBytes, StepQueue } from '../../concurrency/event-loop-round.ts';
import { type TimeoutEntry, TimeoutQueue } from '../../concurrency/timeout-queue.ts';
import { describeCall, isRead, queryString, type RestCall } from '../call.ts';
import { userAgent } from '../dispatcher.ts';
import { abortedError, DeadlineError, InvalidResponseError } from '../errors.ts';
import type { CallContext } from './call-context.ts';
import { failureOf } from './call-failure.ts';
import type { CallLogEntry } from './call-log.ts';
import { statusErrorOf } from './error-body.ts';
import {
  acceptedEncodings,
  type BufferedResponse,
  IncomingResponse,
  isSuccess,
  type ResponseHandler,
} from './incoming-response.ts';
import type { ServiceClock } from './service-clock.ts';
import type { StreamedResponse } from './streamed-response.ts';

/** One attempt of a call, with its callbacks. Either `succeeded` or `failed` is called, once. Neither may throw. */
export interface TransportRequest<Value> {
  readonly call: RestCall;
  readonly callContext: CallContext;
  /** Aborts the attempt. Must not have aborted before `send`. */
  readonly signal: Cancellation;
  /** The call log entry in which the status, body size and duration of the response are recorded. */
  readonly entry: CallLogEntry;
  /** Sent in addition to the headers of the call. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  succeeded(value: Value): void;
  /** A write that may have been sent fails with OutcomeUnknownError. An HTTP error is always a StatusError. */
  failed(error: unknown): void;
}

/** Sends attempts of calls, without retries. */
export interface Transport<Value> {
  /** Sends a request. @throws if no request can be built from the call. `failed` is then not called. */
  send(request: TransportRequest<Value>): void;
}

/** The settings of a transport. */
export interface TransportOptions {
  /** The base address of REST. Its path is prefixed to the path of every call. */
  baseUrl: URL;
  /** Optional: set by the `date` of each response. Streams leave it out, because a cache may serve an old label. */
  serviceClock?: ServiceClock;
  /** The time limit from sending to the last byte of the response, or to the first byte of a stream. */
  callTimeoutMs: number;
  /** The largest accepted response body, in bytes after decompression. */
  maxResponseBytes: number;
  /** Whether to request compressed responses. Off by default. */
  compression?: boolean;
  /**
   * Defers the parsing of JSON. By default to the end of the event-loop round
   * (docs/decisions/0006-end-of-event-loop-round.md).
   */
  defer?: Defer;
}

/** The state that all attempts of a transport share. */
interface TransportState extends TransportOptions {
  readonly pool: Dispatcher;
  readonly timeouts: TimeoutQueue;
  readonly defer: Defer;
  readonly largeBodies: StepQueue;
  readonly origin: string;
  /** The path of the base address, without a trailing slash. */
  readonly basePath: string;
}

function createState(pool: Dispatcher, options: TransportOptions): TransportState {
  const timeouts = new TimeoutQueue(options.callTimeoutMs);
  const basePath = options.baseUrl.pathname.replace(/\/$/, '');
  const { origin } = options.baseUrl;
  const defer = options.defer ?? createDefer();
  return { ...options, pool, timeouts, defer, largeBodies: new StepQueue(), origin, basePath };
}

/** Creates a transport for calls with a JSON response: reads and writes. */
export function createJsonTransport(pool: Dispatcher, options: TransportOptions): Transport<unknown> {
  const state = createState(pool, options);
  return { send: (request) => new JsonAttempt(state, request).send() };
}

/** Creates a transport for streamed reads. `streamTimeoutMs`: the time limit from the first to the last byte. */
export function createStreamTransport(
  pool: Dispatcher,
  options: TransportOptions,
  streamTimeoutMs: number,
): Transport<StreamedResponse> {
  const state = createState(pool, options);
  const bodyTimeouts = new TimeoutQueue(streamTimeoutMs);
  return { send: (request) => new StreamAttempt(state, request, bodyTimeouts).send() };
}

/** To parse a record of this size and to write it into the response takes as long as a node. */
const charactersPerNode = 500;

const maxReconnects = 2;
const baseReconnectPauseMs = 100;

/**
 * One attempt of a call. The abort signal or the time limit ends the attempt early.
 *
 * If no connection can be opened for a write, the attempt tries again up to twice within the same time limit: nothing
 * was sent. A write on a kept-alive connection that breaks is not sent again, because REST may have read the request.
 */
abstract class Attempt<Value> implements ResponseHandler, TimeoutEntry {
  before: TimeoutEntry | undefined;
  after: TimeoutEntry | undefined;
  endsAtMs: number | undefined;
  protected readonly request: TransportRequest<Value>;
  readonly #state: TransportState;
  #timeouts: TimeoutQueue;
  #isStreaming = false;
  #response = new IncomingResponse(this);
  #options: Dispatcher.DispatchOptions | undefined;
  #reconnects = 0;
  /** Set during the pause before the next connection attempt. */
  #pause: NodeJS.Timeout | undefined;

  constructor(state: TransportState, request: TransportRequest<Value>) {
    this.#state = state;
    this.#timeouts = state.timeouts;
    this.request = request;
  }

  get call(): RestCall {
    return this.request.call;
  }

  get entry(): CallLogEntry {
    return this.request.entry;
  }

  get maxBytes(): number {
    return this.#state.maxResponseBytes;
  }

  get serviceClock(): ServiceClock | undefined {
    return this.#state.serviceClock;
  }

  send(): void {
    const options = dispatchOptions(this.#state, this.request);
    this.request.signal.addEventListener('abort', this);
    this.#timeouts.start(this);
    // Only a write is dispatched again within one attempt.
    if (!isRead(this.call)) this.#options = options;
    this.#response.dispatch(this.#state.pool, options);
  }

  beforeSend(): void {
    if (!isRead(this.call)) this.request.callContext.beforeWrite?.();
  }

  received(response: BufferedResponse): void {
    // Recorded before parsing, because parsing may be deferred.
    this.entry.durationMs = this.request.callContext.callLog.elapsedMs() - this.entry.startMs;
    const complete = () => this.#complete(response);
    const characters = response.text?.length ?? 0;
    if (characters > maxDeferredBytes) this.#state.largeBodies.run(characters / charactersPerNode, complete);
    else this.#state.defer(complete);
  }

  failed(error: unknown, isSent: boolean): void {
    if (!isSent && this.#reconnect(error)) return;
    this.cleanUp();
    this.request.failed(failureOf(this.call, error, isSent));
  }

  /** Called when the signal aborts. */
  handleEvent(): void {
    this.#abort(abortedError(this.call, this.request.signal));
  }

  onTimeout(timeoutMs: number): void {
    const expected = this.#isStreaming ? 'over' : 'answered';
    this.#abort(new DeadlineError(`${describeCall(this.call)} was not ${expected} within ${timeoutMs} ms`));
  }

  /** Parses the body of a buffered 2xx response. @throws InvalidResponseError */
  protected abstract parse(text: string): Value;

  /** Replaces the time limit of the call by the time limit of a streamed body. */
  protected startBodyTimeout(timeouts: TimeoutQueue): void {
    this.#timeouts.stop(this);
    this.#timeouts = timeouts;
    this.#isStreaming = true;
    timeouts.start(this);
  }

  /** Stops the time limit and removes the abort listener. */
  protected cleanUp(): void {
    this.#timeouts.stop(this);
    this.request.signal.removeEventListener('abort', this);
  }

  #complete(response: BufferedResponse): void {
    let value: Value;
    try {
      if (!isSuccess(response.status)) {
        const { bearer: accessToken } = this.request.callContext;
        const restHost = this.#state.baseUrl.hostname;
        throw statusErrorOf(this.call, response, { accessToken, restHost });
      }
      value = this.parse(response.text ?? '');
    } catch (error) {
      this.failed(error, true);
      return;
    }
    this.cleanUp();
    this.request.succeeded(value);
  }

  #abort(error: Error): void {
    if (this.#pause === undefined) {
      this.#response.fail(error);
    } else {
      clearTimeout(this.#pause);
      this.#pause = undefined;
      this.failed(error, false);
    }
  }

  /** Dispatches the request again after a pause. @returns false if the failure allows no further try. */
  #reconnect(error: unknown): boolean {
    const options = this.#options;
    if (options === undefined || this.#reconnects === maxReconnects || !isConnectFailure(error)) return false;
    // Random, so that writes that failed together are not sent again together.
    const pauseMs = Math.random() * baseReconnectPauseMs * 2 ** this.#reconnects;
    this.#reconnects += 1;
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      this.entry.retries += 1;
      this.#response = new IncomingResponse(this);
      this.#response.dispatch(this.#state.pool, options);
    }, pauseMs);
    return true;
  }
}

class JsonAttempt extends Attempt<unknown> {
  protected override parse(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch {
      // Without a cause: the cause quotes the body, which may not be fit for a log.
      throw new InvalidResponseError(`${describeCall(this.call)} answered something that is not JSON`);
    }
  }
}

class StreamAttempt extends Attempt<StreamedResponse> {
  readonly #bodyTimeouts: TimeoutQueue;

  constructor(
    state: TransportState,
    request: TransportRequest<StreamedResponse>,
    bodyTimeouts: TimeoutQueue,
  ) {
    super(state, request);
    this.#bodyTimeouts = bodyTimeouts;
  }

  streamed(response: StreamedResponse): void {
    this.startBodyTimeout(this.#bodyTimeouts);
    // Must precede `succeeded`: a body that fails may close before the promise is resolved.
    response.body.once('close', () => this.cleanUp());
    this.request.succeeded(response);
  }

  /** A stream attempt gets a buffered 2xx response only if the body is empty. */
  protected override parse(): never {
    throw new InvalidResponseError(`${describeCall(this.call)} answered nothing`);
  }
}

function dispatchOptions(
  { origin, basePath, compression = false }: TransportState,
  { call, callContext, headers: extraHeaders }: TransportRequest<unknown>,
): Dispatcher.DispatchOptions {
  // Alternating names and values: undici accepts this form without conversion.
  const headers = [
    'accept',
    call.accept ?? 'application/json',
    'authorization',
    `Bearer ${callContext.bearer}`,
    'user-agent',
    userAgent,
  ];
  if (extraHeaders !== undefined) headers.push(...Object.entries(extraHeaders).flat());
  if (compression) headers.push('accept-encoding', acceptedEncodings);
  const path = `${basePath}${call.path}${queryString(call)}`;
  if (isRead(call)) return { origin, method: call.method, path, headers };
  headers.push('content-type', 'application/json');
  return { origin, method: call.method, path, headers, body: JSON.stringify(call.body) };
}

/** Whether the address lookup or the connection failed. With several addresses, all connections must have failed. */
function isConnectFailure(error: unknown): boolean {
  if (error instanceof undiciErrors.ConnectTimeoutError) return true;
  if (error instanceof AggregateError) return error.errors.every(isConnectFailure);
  return (
    error instanceof Error && 'syscall' in error && /^(connect|getaddrinfo)$/.test(String(error.syscall))
  );
}
