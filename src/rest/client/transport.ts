import { type Dispatcher, type Pool, errors as undiciErrors } from 'undici';
import type { Cancellation } from '../../concurrency/cancellation.ts';
import { createDefer, type Defer, maxDeferredBytes } from '../../concurrency/event-loop-round.ts';
import { type TimeoutEntry, TimeoutQueue } from '../../concurrency/timeout-queue.ts';
import { described, isRead, queryString, type RestCall } from '../call.ts';
import { abortedError, DeadlineError, InvalidResponseError } from '../errors.ts';
import {
  type BufferedResponse,
  IncomingResponse,
  isSuccess,
  type ResponseHandler,
} from './buffered-response.ts';
import type { CallContext } from './call-context.ts';
import type { CallLogEntry } from './call-log.ts';
import { acceptedEncodings } from './decompress.ts';
import { statusErrorOf } from './error-body.ts';
import { failureOf } from './failure.ts';
import type { ServiceClock } from './service-clock.ts';
import type { StreamedResponse } from './streamed-response.ts';

/** What one attempt of a call needs, and gets: `succeeded` or `failed` is called, once. Neither throws. */
export interface TransportRequest<Value> {
  readonly call: RestCall;
  readonly callContext: CallContext;
  /** Ends the attempt when it aborts. It has not aborted yet. */
  readonly signal: Cancellation;
  /** Gets the status, the bytes and the duration of the response. */
  readonly entry: CallLogEntry;
  /** Sent besides the call's own headers. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  succeeded(value: Value): void;
  /** Gets an OutcomeUnknownError for a write of which anything was sent, unless REST refused it. */
  failed(error: unknown): void;
}

/** Makes attempts of calls. */
export interface Transport<Value> {
  /** Sends a request. @throws where no request can be made of the call. Its `failed` is not called then. */
  send(request: TransportRequest<Value>): void;
}

export interface TransportOptions {
  baseUrl: URL;
  /** Gets the time of each response. Left out for files, as a cache may serve one with a date of long ago. */
  serviceClock?: ServiceClock;
  /** From sending to the last byte of the response; for a stream to its first byte. */
  callTimeoutMs: number;
  /** The most bytes of a response, after it is decompressed. */
  maxResponseBytes: number;
  /** Whether responses may come compressed; not when left out. */
  compression?: boolean;
  /** When the JSON of a response is parsed; at the end of its round when left out. */
  defer?: Defer;
}

/** What the attempts of a transport share. */
interface Shared extends TransportOptions {
  readonly pool: Pool;
  readonly timeouts: TimeoutQueue;
  readonly defer: Defer;
  /** The path of the base address, without a slash at its end. */
  readonly basePath: string;
}

function shared(pool: Pool, options: TransportOptions): Shared {
  const timeouts = new TimeoutQueue(options.callTimeoutMs);
  const basePath = options.baseUrl.pathname.replace(/\/$/, '');
  return { ...options, pool, timeouts, defer: options.defer ?? createDefer(), basePath };
}

/** A transport for calls that are answered with JSON, reads and writes. */
export function createJsonTransport(pool: Pool, options: TransportOptions): Transport<unknown> {
  const common = shared(pool, options);
  return { send: (request) => new JsonAttempt(common, request).send() };
}

/** A transport for reads whose responses are streamed. From its first byte on, one may take `streamTimeoutMs` milliseconds. */
export function createStreamTransport(
  pool: Pool,
  options: TransportOptions,
  streamTimeoutMs: number,
): Transport<StreamedResponse> {
  const common = shared(pool, options);
  const toLastByte = new TimeoutQueue(streamTimeoutMs);
  return { send: (request) => new StreamAttempt(common, request, toLastByte).send() };
}

const maxReconnects = 2;
const baseReconnectPauseMs = 100;

/**
 * One attempt of a call: it waits for a connection, is sent, and gets a response. It ends early when its signal aborts or its
 * time is up. A write for which no connection could be made tries that again up to twice, within the same time: it is certain
 * that nothing was sent. A kept connection that breaks is no such case, as REST may have read the request from it.
 */
abstract class Attempt<Value> implements ResponseHandler, TimeoutEntry {
  before: TimeoutEntry | undefined;
  after: TimeoutEntry | undefined;
  endsAt: number | undefined;
  protected readonly request: TransportRequest<Value>;
  readonly #shared: Shared;
  #timeouts: TimeoutQueue;
  #isStreaming = false;
  #response = new IncomingResponse(this);
  #options: Dispatcher.DispatchOptions | undefined;
  #reconnects = 0;
  /** Set during the pause before another connection is tried. */
  #pause: NodeJS.Timeout | undefined;

  constructor(shared: Shared, request: TransportRequest<Value>) {
    this.#shared = shared;
    this.#timeouts = shared.timeouts;
    this.request = request;
  }

  get call(): RestCall {
    return this.request.call;
  }

  get entry(): CallLogEntry {
    return this.request.entry;
  }

  get maxBytes(): number {
    return this.#shared.maxResponseBytes;
  }

  get serviceClock(): ServiceClock | undefined {
    return this.#shared.serviceClock;
  }

  send(): void {
    const options = dispatchOptions(this.#shared, this.request);
    this.request.signal.addEventListener('abort', this);
    this.#timeouts.start(this);
    // The only attempt that is dispatched more than once is that of a write.
    if (!isRead(this.call)) this.#options = options;
    this.#response.dispatch(this.#shared.pool, options);
  }

  received(response: BufferedResponse): void {
    // Now, as the parsing may be deferred.
    this.entry.durationMs = this.request.callContext.callLog.elapsedMs() - this.entry.startMs;
    if ((response.text?.length ?? 0) > maxDeferredBytes) this.#read(response);
    else this.#shared.defer(() => this.#read(response));
  }

  failed(error: unknown, isSent: boolean): void {
    if (!isSent && this.#reconnect(error)) return;
    this.end();
    this.request.failed(failureOf(this.call, error, isSent));
  }

  /** The signal of the call aborts. */
  handleEvent(): void {
    this.#abort(abortedError(this.call, this.request.signal));
  }

  onTimeout(timeoutMs: number): void {
    const expected = this.#isStreaming ? 'over' : 'answered';
    this.#abort(new DeadlineError(`${described(this.call)} was not ${expected} within ${timeoutMs} ms`));
  }

  /** The value of a 2xx response that came in whole. @throws InvalidResponseError */
  protected abstract valueOf(text: string): Value;

  /** The response is being streamed: from now on it has the time of `clock`. */
  protected extend(timeouts: TimeoutQueue): void {
    this.#timeouts.stop(this);
    this.#timeouts = timeouts;
    this.#isStreaming = true;
    timeouts.start(this);
  }

  /** Nothing ends it early any more, and no listener of it stays behind. */
  protected end(): void {
    this.#timeouts.stop(this);
    this.request.signal.removeEventListener('abort', this);
  }

  #read(response: BufferedResponse): void {
    let value: Value;
    try {
      if (!isSuccess(response.status)) {
        throw statusErrorOf(this.call, response, this.request.callContext.bearer);
      }
      value = this.valueOf(response.text ?? '');
    } catch (error) {
      this.failed(error, true);
      return;
    }
    this.end();
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

  /** Tries to make a connection again after a pause. @returns false where it is not to be tried again. */
  #reconnect(error: unknown): boolean {
    const options = this.#options;
    if (options === undefined || this.#reconnects === maxReconnects || !isConnectFailure(error)) return false;
    // Random, so that writes that failed together do not come back together.
    const pauseMs = Math.random() * baseReconnectPauseMs * 2 ** this.#reconnects;
    this.#reconnects += 1;
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      this.entry.retries += 1;
      this.#response = new IncomingResponse(this);
      this.#response.dispatch(this.#shared.pool, options);
    }, pauseMs);
    return true;
  }
}

class JsonAttempt extends Attempt<unknown> {
  protected override valueOf(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch {
      // Without its cause, which quotes the body: the body is not known to be fit for a log.
      throw new InvalidResponseError(`${described(this.call)} answered something that is not JSON`);
    }
  }
}

class StreamAttempt extends Attempt<StreamedResponse> {
  readonly #toLastByte: TimeoutQueue;

  constructor(shared: Shared, request: TransportRequest<StreamedResponse>, toLastByte: TimeoutQueue) {
    super(shared, request);
    this.#toLastByte = toLastByte;
  }

  streamed(response: StreamedResponse): void {
    this.extend(this.#toLastByte);
    // Before any promise is resolved, as a body that fails closes before that.
    response.body.once('close', () => this.end());
    this.request.succeeded(response);
  }

  /** A streamed response comes in whole only where it has no byte. */
  protected override valueOf(): never {
    throw new InvalidResponseError(`${described(this.call)} answered nothing`);
  }
}

function dispatchOptions(
  { basePath, compression = false }: Shared,
  { call, callContext, headers: added }: TransportRequest<unknown>,
): Dispatcher.DispatchOptions {
  // Names and values by turns: undici takes these as they are.
  const headers = [
    'accept',
    call.accept ?? 'application/json',
    'authorization',
    `Bearer ${callContext.bearer}`,
  ];
  if (added !== undefined) headers.push(...Object.entries(added).flat());
  if (compression) headers.push('accept-encoding', acceptedEncodings);
  const path = `${basePath}${call.path}${queryString(call)}`;
  if (isRead(call)) return { method: call.method, path, headers };
  headers.push('content-type', 'application/json');
  return { method: call.method, path, headers, body: JSON.stringify(call.body) };
}

/** Whether the look-up of the address failed, or the opening of a socket to it; of each address where there are several. */
function isConnectFailure(error: unknown): boolean {
  if (error instanceof undiciErrors.ConnectTimeoutError) return true;
  if (error instanceof AggregateError) return error.errors.every(isConnectFailure);
  return (
    error instanceof Error && 'syscall' in error && /^(connect|getaddrinfo)$/.test(String(error.syscall))
  );
}
