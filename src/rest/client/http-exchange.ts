import { Readable, type Transform } from 'node:stream';
import type { Dispatcher } from 'undici';
import { contentCodings } from '../../base/coding-names.ts';
import { decodeText } from '../../base/decode-text.ts';
import { describeCall, isRead, queryString, type RestCall } from '../call.ts';
import { userAgent } from '../connection-pools.ts';
import { InvalidResponseError, ResponseTooLargeError } from '../errors.ts';
import type { CallLogEntry } from './call-log.ts';
import { type CreateDecompressor, decompressorOf } from './decompressors.ts';
import type { ServiceClock } from './service-clock.ts';

/** What all requests of a client have in common. */
export interface RequestOptions {
  readonly origin: string;
  /** Prefixed to the path of every call. */
  readonly basePath: string;
  readonly compression: boolean;
}

/** The request of a call, in the form of undici. @param moreHeaders names and values in turn. */
export function toRequest(
  call: RestCall,
  { origin, basePath, compression }: RequestOptions,
  bearer: string,
  moreHeaders: readonly string[] | undefined,
): Dispatcher.DispatchOptions {
  // Alternating names and values: undici accepts this form without conversion.
  const headers = ['accept', call.accept ?? 'application/json', 'authorization', `Bearer ${bearer}`];
  headers.push('user-agent', userAgent);
  if (moreHeaders !== undefined) headers.push(...moreHeaders);
  if (compression) headers.push('accept-encoding', 'gzip, br, deflate');
  const path = `${basePath}${call.path}${queryString(call)}`;
  const request = { origin, method: call.method, path, headers };
  if (isRead(call)) return request;
  headers.push('content-type', 'application/json');
  return { ...request, body: JSON.stringify(call.body) };
}

/** A response whose body has been read to the end. */
export interface BufferedResponse {
  status: number;
  retryAfter: string | string[] | undefined;
  /** The decompressed body. Undefined if the body of a non-2xx response could not be read. */
  text: string | undefined;
}

/** A 2xx response whose body is passed on as the bytes arrive. Available once the first bytes have arrived. */
export interface StreamedResponse {
  contentType: string;
  /** The `content-length` header. Undefined if absent, or if the body was compressed. */
  contentLength: string | undefined;
  /** The reader must read the body to the end or destroy the body. Fails if the connection or the call fails. */
  body: Readable;
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

/** Handles the response of one request. One of `received`, `streamed`, `failed` is called, once. None may throw. */
export interface ResponseHandler {
  readonly call: RestCall;
  /** Gets the status and the body size of a buffered response. */
  readonly entry: CallLogEntry;
  /** Set to the `date` header of the response. Undefined for streams: a cache may serve an old label. */
  readonly serviceClock: ServiceClock | undefined;
  /** Called when a connection is there, before the bytes of the request leave. An error ends the request unsent. */
  beforeSend(): void;
  received(response: BufferedResponse): void;
  /** Called at the first bytes of a 2xx response. Without this method, or for an empty body, `received` is called. */
  streamed?(response: StreamedResponse): void;
  /**
   * The errors are: ResponseTooLargeError as soon as the body exceeds its limit, InvalidResponseError for an unknown
   * content encoding or text that cannot be decoded, the argument of `HttpExchange.fail`, or an error of undici or zlib.
   * `isSent`: whether any part of the request may have been sent.
   */
  failed(error: unknown, isSent: boolean): void;
}

/** The largest accepted 2xx body, in bytes after decompression. */
export const maxResponseBytes = 16_777_216;
/** A larger error body is not read, because real error messages are far smaller. */
const maxErrorBodyBytes = 65_536;

/**
 * One request and its response. The methods follow the course of an exchange: `dispatch` passes the request to undici.
 * undici calls `onRequestStart` before the bytes leave, then `onResponseStart`, `onResponseData` for each chunk, and
 * `onResponseEnd`. The handler gets the complete response, the body as a stream, or the error.
 */
export class HttpExchange implements Dispatcher.DispatchHandler {
  readonly #handler: ResponseHandler;
  /** Set once the request is sent. */
  #controller: Dispatcher.DispatchController | undefined;
  /** 0 until the response head has arrived. */
  #status = 0;
  #headers: Dispatcher.ResponseData['headers'] = {};
  /** Undefined if the body is not compressed. */
  #createDecompressor: CreateDecompressor | undefined;
  /** Set once the first bytes of a compressed body have arrived. */
  #decompressor: Transform | undefined;
  #maxBytes = maxErrorBodyBytes;
  #bytes = 0;
  #chunks: Buffer[] | undefined;
  /** Set once the first bytes of a streamed response have arrived. */
  #stream: Readable | undefined;
  /** Whether all bytes from REST have arrived. Decompression may still be running. */
  #isComplete = false;
  /** Whether the handler needs no more. */
  #isDone = false;

  constructor(handler: ResponseHandler) {
    this.#handler = handler;
  }

  /**
   * Sends the request through undici's `dispatch`. undici's `request` creates a stream for each body, a seventh of
   * the cost of a small call, and a long-lived closure (docs/design/how-it-stays-fast.md#objects).
   */
  dispatch(pool: Dispatcher, request: Dispatcher.DispatchOptions): void {
    try {
      pool.dispatch(request, this);
    } catch (error) {
      this.fail(error);
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // undici may start a request a second time, but a write must not be sent twice.
    const isRepeated = this.#controller !== undefined;
    try {
      if (!this.#isDone && !isRepeated) this.#handler.beforeSend();
    } catch (error) {
      this.fail(error);
    }
    // Only now, because a request that `beforeSend` refused counts as unsent.
    this.#controller = controller;
    if (this.#isDone || isRepeated) controller.abort(notNeededError());
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Dispatcher.ResponseData['headers'],
  ): void {
    // Another response follows a 1xx response.
    if (status < 200) return;
    const { entry, serviceClock } = this.#handler;
    this.#status = status;
    this.#headers = headers;
    this.#maxBytes = isSuccess(status) ? maxResponseBytes : maxErrorBodyBytes;
    entry.status = status;
    serviceClock?.update(headers.date);
    const codings = contentCodings(headers['content-encoding']);
    if (codings.length > 0) this.#expectCompressed(codings);
    else if (Number(headers['content-length']) > this.#maxBytes) this.#failTooLarge();
  }

  #expectCompressed(codings: readonly string[]): void {
    this.#createDecompressor = decompressorOf(codings);
    if (this.#createDecompressor !== undefined) return;
    const name = describeCall(this.#handler.call);
    this.fail(new InvalidResponseError(`${name} returned a body with an unknown encoding`));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#createDecompressor === undefined) this.#addChunk(chunk);
    else if (!this.#decompress(chunk)) controller.pause();
  }

  /** @returns false if the decompressor wants no more bytes for now */
  #decompress(chunk: Buffer): boolean {
    if (this.#isDone) return true;
    this.#decompressor ??= this.#createDecompressor?.(chunk)
      .on('data', (data: Buffer) => this.#addChunk(data))
      .on('drain', () => this.#controller?.resume())
      .on('end', () => this.#finish())
      .on('error', (error) => this.fail(error));
    return this.#decompressor?.write(chunk) ?? true;
  }

  #addChunk(chunk: Buffer): void {
    if (this.#isDone) return;
    const { entry, streamed } = this.#handler;
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxBytes) {
      this.#failTooLarge();
    } else if (streamed !== undefined && isSuccess(this.#status)) {
      this.#pushToStream(chunk);
    } else {
      entry.bytes += chunk.length;
      if (this.#chunks === undefined) this.#chunks = [chunk];
      else this.#chunks.push(chunk);
    }
  }

  #pushToStream(chunk: Buffer): void {
    const body = this.#stream ?? this.#createBody();
    if (!body.push(chunk)) (this.#decompressor ?? this.#controller)?.pause();
    if (this.#stream !== undefined) return;
    this.#stream = body;
    const contentType = String(this.#headers['content-type'] ?? '');
    const length = this.#decompressor === undefined ? this.#headers['content-length'] : undefined;
    this.#handler.streamed?.({ contentType, contentLength: length?.toString(), body });
  }

  /** Creates a body that asks for bytes as it is read. Destroying it aborts the response. */
  #createBody(): Readable {
    const body = new Readable({
      read: () => (this.#decompressor ?? this.#controller)?.resume(),
      destroy: (error, callback) => {
        this.#close(error);
        callback(error);
      },
    });
    // Without a listener, a failure before the first read would crash the process. The reader still gets the error.
    return body.on('error', () => {});
  }

  onResponseEnd(): void {
    this.#isComplete = true;
    if (this.#decompressor === undefined) this.#finish();
    else this.#decompressor.end();
  }

  #finish(): void {
    if (this.#isDone) return;
    if (this.#stream !== undefined) {
      this.#stream.push(null);
      return;
    }
    const text = decodeText(this.#chunks ?? [], this.#headers['content-type']);
    if (text === undefined && isSuccess(this.#status)) {
      const name = describeCall(this.#handler.call);
      const message = `${name} returned text that is not in its charset, by default UTF-8`;
      this.fail(new InvalidResponseError(message));
      return;
    }
    // Bytes after the end of the compressed data are ignored, and may never end.
    this.#close();
    this.#deliver(text);
  }

  #deliver(text: string | undefined): void {
    this.#handler.received({ status: this.#status, retryAfter: this.#headers['retry-after'], text });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: unknown): void {
    this.fail(error);
  }

  /** Aborts the response. Does nothing if the handler needs no further data. */
  fail(error: unknown): void {
    if (this.#isDone) return;
    this.#close(error);
    if (this.#stream !== undefined) this.#stream.destroy(error instanceof Error ? error : notNeededError());
    // The body is incomplete or too large, but the status of the HTTP error is known.
    else if (this.#status !== 0 && !isSuccess(this.#status)) this.#deliver(undefined);
    else this.#handler.failed(error, this.#controller !== undefined);
  }

  #failTooLarge(): void {
    const name = describeCall(this.#handler.call);
    this.fail(new ResponseTooLargeError(`${name} returned more than ${this.#maxBytes} bytes`));
  }

  #close(error?: unknown): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#decompressor?.destroy();
    if (!this.#isComplete) this.#controller?.abort(error instanceof Error ? error : notNeededError());
  }
}

function notNeededError(): Error {
  return new Error('the response is not needed any more');
}
