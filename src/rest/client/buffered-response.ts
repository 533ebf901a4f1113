import type { Transform } from 'node:stream';
import type { Dispatcher, Pool } from 'undici';
import { described, type RestCall } from '../call.ts';
import { InvalidResponseError, ResponseTooLargeError } from '../errors.ts';
import type { CallLogEntry } from './call-log.ts';
import { createDecompressor, isCompressed } from './decompress.ts';
import { maxErrorBodyBytes } from './error-body.ts';
import type { ServiceClock } from './service-clock.ts';
import { type BodySource, StreamedBody, type StreamedResponse } from './streamed-response.ts';

/** A response that has come in whole. */
export interface BufferedResponse {
  status: number;
  /** The header `retry-after`. */
  retryAfter: string | string[] | undefined;
  /** The decompressed body; undefined for a response other than 2xx whose body could not be read. */
  text: string | undefined;
}

/** Gets the response of one request: `received`, `streamed` or `failed` is called, once. None of them throws. */
export interface ResponseHandler {
  readonly call: RestCall;
  /** Gets the status and the bytes of a buffered response as they become known. */
  readonly entry: CallLogEntry;
  /** The most bytes of a 2xx response, after it is decompressed. */
  readonly maxBytes: number;
  /** Gets the `date` of the response, if any. */
  readonly serviceClock: ServiceClock | undefined;
  received(response: BufferedResponse): void;
  /** Gets the first bytes of a 2xx response. It is buffered where this is left out, or where it has no byte. */
  streamed?(response: StreamedResponse): void;
  /**
   * Gets a ResponseTooLargeError as soon as there are more than `maxBytes`, an InvalidResponseError for an encoding that is
   * not known, what `fail` was called with, or an error of undici or zlib. `isSent`: whether anything of the request was.
   */
  failed(error: unknown, isSent: boolean): void;
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

/** The response of one request, which is handed over buffered or streamed. */
export class IncomingResponse implements Dispatcher.DispatchHandler, BodySource {
  readonly #handler: ResponseHandler;
  /** There once the request is sent. */
  #controller: Dispatcher.DispatchController | undefined;
  /** 0 until the head of the response is there. */
  #status = 0;
  #headers: Dispatcher.ResponseData['headers'] = {};
  #decompressor: Transform | undefined;
  #maxBytes = 0;
  #bytes = 0;
  #chunks: Buffer[] | undefined;
  /** There once the first bytes of a response are that is to be streamed. */
  #stream: StreamedBody | undefined;
  /** Whether all bytes have come from REST. */
  #isWhole = false;
  /** Whether the handler needs nothing more of it. */
  #isOver = false;

  constructor(handler: ResponseHandler) {
    this.#handler = handler;
  }

  /**
   * Sends the request. By undici's `dispatch`: `request` makes a stream of each body, which is a seventh of what a small call
   * costs, and a function that V8 keeps, with all of the operation behind it.
   */
  dispatch(pool: Pool, request: Dispatcher.DispatchOptions): void {
    try {
      pool.dispatch(request, this);
    } catch (error) {
      this.fail(error);
    }
  }

  /** undici has a connection, and sends the request next. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Ended while it waited for a connection. Or it was sent before, and a write must not be sent twice.
    const isUnwanted = this.#isOver || this.#controller !== undefined;
    this.#controller = controller;
    if (isUnwanted) controller.abort(notNeeded());
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Dispatcher.ResponseData['headers'],
  ): void {
    // After 1xx another response follows.
    if (status < 200) return;
    const { call, entry, serviceClock, maxBytes } = this.#handler;
    this.#status = status;
    this.#headers = headers;
    this.#maxBytes = isSuccess(status) ? maxBytes : maxErrorBodyBytes;
    entry.status = status;
    serviceClock?.note(headers.date);
    if (isCompressed(headers['content-encoding'])) this.#decompress();
    else if (Number(headers['content-length']) > this.#maxBytes) this.fail(tooLarge(call, this.#maxBytes));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#decompressor === undefined) this.#take(chunk);
    else if (!this.#decompressor.write(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    this.#isWhole = true;
    if (this.#decompressor === undefined) this.#finish();
    else this.#decompressor.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: unknown): void {
    this.fail(error);
  }

  resume(): void {
    (this.#decompressor ?? this.#controller)?.resume();
  }

  close(error?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#decompressor?.destroy();
    if (!this.#isWhole) this.#controller?.abort(error instanceof Error ? error : notNeeded());
  }

  /** Ends it early. Does nothing where the response is over. */
  fail(error: unknown): void {
    if (this.#isOver) return;
    this.close(error);
    if (this.#stream !== undefined) this.#stream.destroy(error instanceof Error ? error : notNeeded());
    // Cut off, late or too large: the status is known all the same, and says what matters.
    else if (this.#status !== 0 && !isSuccess(this.#status)) this.#hand(undefined);
    else this.#handler.failed(error, this.#controller !== undefined);
  }

  #decompress(): void {
    const decompressor = createDecompressor(this.#headers['content-encoding']);
    if (decompressor === undefined) {
      const name = described(this.#handler.call);
      this.fail(new InvalidResponseError(`${name} answered in an encoding that is not known`));
      return;
    }
    decompressor.on('data', (chunk: Buffer) => this.#take(chunk));
    decompressor.on('drain', () => this.#controller?.resume());
    decompressor.on('end', () => this.#finish());
    decompressor.on('error', (error) => this.fail(error));
    this.#decompressor = decompressor;
  }

  #take(chunk: Buffer): void {
    if (this.#isOver) return;
    const { call, entry, streamed } = this.#handler;
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxBytes) {
      this.fail(tooLarge(call, this.#maxBytes));
    } else if (streamed !== undefined && isSuccess(this.#status)) {
      this.#handOn(chunk);
    } else {
      entry.bytes += chunk.length;
      if (this.#chunks === undefined) this.#chunks = [chunk];
      else this.#chunks.push(chunk);
    }
  }

  #handOn(chunk: Buffer): void {
    const body = this.#stream ?? new StreamedBody(this);
    if (!body.push(chunk)) (this.#decompressor ?? this.#controller)?.pause();
    if (this.#stream !== undefined) return;
    this.#stream = body;
    const length = this.#decompressor === undefined ? this.#headers['content-length'] : undefined;
    this.#handler.streamed?.({
      contentType: String(this.#headers['content-type'] ?? ''),
      contentLength: length?.toString(),
      body,
    });
  }

  /** All bytes are there, decompressed. */
  #finish(): void {
    if (this.#isOver) return;
    if (this.#stream !== undefined) {
      this.#stream.push(null);
    } else {
      this.#isOver = true;
      // Bytes behind the end of a compressed body are nobody's, and may never end.
      if (!this.#isWhole) this.#controller?.abort(notNeeded());
      const chunks = this.#chunks ?? [];
      const [first] = chunks;
      const isOne = first !== undefined && chunks.length === 1;
      this.#hand((isOne ? first : Buffer.concat(chunks)).toString());
    }
  }

  #hand(text: string | undefined): void {
    this.#handler.received({ status: this.#status, retryAfter: this.#headers['retry-after'], text });
  }
}

function tooLarge(call: RestCall, maxBytes: number): ResponseTooLargeError {
  return new ResponseTooLargeError(`${described(call)} answered more than ${maxBytes} bytes`);
}

/** What undici gets as the reason of a request that is broken off. */
function notNeeded(): Error {
  return new Error('the response is not needed any more');
}
