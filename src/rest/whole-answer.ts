import type { Transform } from 'node:stream';
import type { Dispatcher, Pool } from 'undici';
import { decompressorOf, isCompressed, unknownEncoding } from './answer-body.ts';
import type { Attempt } from './attempt.ts';
import { described } from './call.ts';
import { maxErrorBodyBytes } from './error-body.ts';
import { ResponseTooLargeError } from './errors.ts';
import type { LedgerEntry } from './ledger.ts';
import type { ServiceClock } from './service-clock.ts';

/** An answer that has come in. */
export interface WholeAnswer {
  status: number;
  retryAfter: string | string[] | undefined;
  /** What it holds, decompressed; undefined for a refusal whose body could not be read. */
  text: string | undefined;
}

/** Who waits for an answer. */
export interface Receiver {
  readonly attempt: Attempt;
  /** Is told the status and the size of the answer as they become known. */
  readonly entry: LedgerEntry;
  /** What a 2xx answer may weigh, after it is decompressed. */
  readonly maxBytes: number;
  /** Is told the time of the answer. */
  readonly serviceClock: ServiceClock;
  received(answer: WholeAnswer): void;
  failed(error: unknown): void;
}

type Headers = Dispatcher.ResponseData['headers'];

/**
 * Sends a request, and takes the whole of its answer. By undici's `dispatch`, as its `request` makes a stream of each body,
 * which is a seventh of what a small call costs. It fails with ResponseTooLargeError as soon as more than `maxBytes` have come
 * out of a 2xx answer, InvalidResponseError where its encoding is not known, what ends the attempt, and undici's errors.
 */
export function receive(pool: Pool, request: Dispatcher.DispatchOptions, receiver: Receiver): void {
  const reception = new Reception(receiver);
  receiver.attempt.addEventListener('abort', reception);
  try {
    pool.dispatch(request, reception);
  } catch (error) {
    reception.fail(error);
  }
}

/** Whether it is a success; anything else is a refusal. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

class Reception implements Dispatcher.DispatchHandler {
  readonly #receiver: Receiver;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #retryAfter: string | string[] | undefined;
  #decompressor: Transform | undefined;
  #chunks: Buffer[] | undefined;
  #bytes = 0;
  #isOver = false;
  #reason: unknown;

  constructor(receiver: Receiver) {
    this.#receiver = receiver;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Given up while it waited for a connection.
    if (this.#isOver) this.#breakOff();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    // Of those below, another answer follows.
    if (status < 200) return;
    this.#status = status;
    this.#receiver.entry.status = status;
    this.#receiver.serviceClock.note(headers.date);
    this.#retryAfter = headers['retry-after'];
    if (isCompressed(headers)) this.#decompress(headers);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#decompressor === undefined) {
      this.#take(chunk);
    } else if (!this.#decompressor.write(chunk)) {
      controller.pause();
      this.#decompressor.once('drain', () => controller.resume());
    }
  }

  onResponseEnd(): void {
    if (this.#decompressor === undefined) this.#finish();
    else this.#decompressor.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: unknown): void {
    this.fail(error);
  }

  /** The attempt ends early. */
  handleEvent(): void {
    this.fail(this.#receiver.attempt.reason);
  }

  /** Ends it early, unless it is over: a request that has not been answered whole is broken off. */
  fail(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#reason = error;
    // Cut off, late or too large: its status has been answered all the same, and says what matters.
    if (this.#status !== 0 && !isSuccess(this.#status)) this.#hand(undefined);
    else this.#receiver.failed(error);
    this.#decompressor?.destroy();
    this.#breakOff();
  }

  #decompress(headers: Headers): void {
    const decompressor = decompressorOf(headers);
    if (decompressor === undefined) {
      this.fail(unknownEncoding(this.#receiver.attempt.call));
      return;
    }
    decompressor.on('data', (chunk: Buffer) => this.#take(chunk));
    decompressor.on('end', () => this.#finish());
    decompressor.on('error', (error) => this.fail(error));
    this.#decompressor = decompressor;
  }

  #take(chunk: Buffer): void {
    if (this.#isOver) return;
    const { attempt, entry } = this.#receiver;
    this.#bytes += chunk.length;
    entry.bytes += chunk.length;
    const maxBytes = isSuccess(this.#status) ? this.#receiver.maxBytes : maxErrorBodyBytes;
    if (this.#bytes > maxBytes) {
      this.fail(new ResponseTooLargeError(`${described(attempt.call)} answered more than ${maxBytes} bytes`));
    } else if (this.#chunks === undefined) {
      this.#chunks = [chunk];
    } else {
      this.#chunks.push(chunk);
    }
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const chunks = this.#chunks ?? [];
    const [first] = chunks;
    const isOne = first !== undefined && chunks.length === 1;
    this.#hand((isOne ? first : Buffer.concat(chunks)).toString());
  }

  #hand(text: string | undefined): void {
    this.#receiver.received({ status: this.#status, retryAfter: this.#retryAfter, text });
  }

  /** Nothing happens where the answer has come to its end. */
  #breakOff(): void {
    const reason = this.#reason instanceof Error ? this.#reason : new Error('nobody waits any more');
    this.#controller?.abort(reason);
  }
}
