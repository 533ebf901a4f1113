import { Readable } from 'node:stream';
import type { Dispatcher, Pool } from 'undici';
import { isCompressed } from './answer-body.ts';
import type { Attempt } from './attempt.ts';
import { described, type RestCall } from './call.ts';
import { ResponseTooLargeError } from './errors.ts';
import { isSuccess } from './whole-answer.ts';

/** An answer whose head has come. Its body is read to its end or destroyed. */
export interface StreamedResponse {
  status: number;
  headers: Dispatcher.ResponseData['headers'];
  body: Readable;
}

export interface IncomingBodyOptions {
  /** Its early end is that of the body as well. */
  attempt: Attempt;
  /** What may come of the body of a success, where it is not compressed. */
  maxBytes: number;
  call: RestCall;
}

/**
 * Sends a request, and answers as soon as the head of its answer is there. By undici's `dispatch`: its `request` gives each
 * answer a function that V8 keeps, with all of the operation behind it, until a full collection of garbage.
 * @throws what ends the attempt, and undici's errors. After the head the body fails with these, or with ResponseTooLargeError.
 */
export function openStream(
  pool: Pool,
  request: Dispatcher.DispatchOptions,
  options: IncomingBodyOptions,
): Promise<StreamedResponse> {
  return new Promise((begun, failed) => {
    const body = new IncomingBody(options, begun, failed);
    options.attempt.addEventListener('abort', body);
    pool.dispatch(request, body);
  });
}

/** What a body breaks off with that is larger than `maxBytes`. */
export function tooLargeFor(call: RestCall, maxBytes: number): ResponseTooLargeError {
  return new ResponseTooLargeError(`${described(call)} answered more than ${maxBytes} bytes`);
}

class IncomingBody extends Readable implements Dispatcher.DispatchHandler {
  readonly #options: IncomingBodyOptions;
  readonly #begun: (response: StreamedResponse) => void;
  readonly #failed: (error: unknown) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #bytes = 0;
  // Of all others it is for the reader to bound what comes out.
  #maxBytes = Number.POSITIVE_INFINITY;
  #hasBegun = false;
  #isWhole = false;

  constructor(
    options: IncomingBodyOptions,
    begun: (response: StreamedResponse) => void,
    failed: (error: unknown) => void,
  ) {
    super();
    this.#options = options;
    this.#begun = begun;
    this.#failed = failed;
    // It may fail before anybody reads it; whoever does learns of it then.
    this.on('error', ignored);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Given up while it waited for a connection.
    if (this.destroyed) controller.abort(nobodyReads());
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: StreamedResponse['headers'],
  ): void {
    // Of those below, another answer follows.
    if (status < 200) return;
    if (isSuccess(status) && !isCompressed(headers)) this.#maxBytes = this.#options.maxBytes;
    this.#hasBegun = true;
    this.#begun({ status, headers, body: this });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxBytes) this.destroy(tooLargeFor(this.#options.call, this.#maxBytes));
    else if (!this.push(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    this.#isWhole = true;
    this.push(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error);
  }

  /** The attempt ends early. */
  handleEvent(): void {
    this.#fail(this.#options.attempt.reason);
  }

  override _read(): void {
    this.#controller?.resume();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    // What has not come whole is broken off.
    if (!this.#isWhole) this.#controller?.abort(error ?? nobodyReads());
    callback(error);
  }

  #fail(error: unknown): void {
    if (this.#hasBegun) {
      this.destroy(error instanceof Error ? error : nobodyReads());
    } else {
      this.#failed(error);
      this.destroy();
    }
  }
}

function ignored(): void {}

function nobodyReads(): Error {
  return new Error('nobody reads the answer any more');
}
