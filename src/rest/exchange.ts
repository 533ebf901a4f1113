import type { Readable } from 'node:stream';
import type { Dispatcher, Pool } from 'undici';
import { Attempt } from './attempt.ts';
import { described, isRead, queryString, type RestCall } from './call.ts';
import { CallClock } from './call-clock.ts';
import type { Caller } from './caller.ts';
import type { Cancellation } from './cancellation.ts';
import { untilConnected } from './connect-retry.ts';
import { acceptedEncodings } from './decompress.ts';
import { statusErrorOf } from './error-body.ts';
import { InvalidResponseError } from './errors.ts';
import { failureOf } from './failure.ts';
import type { LedgerEntry } from './ledger.ts';
import { type BufferedResponse, isSuccess, type ResponseHandler, receive } from './response.ts';
import { createRounds, largestPutOff, type PutOff } from './rounds.ts';
import { ServiceClock } from './service-clock.ts';

/** Who waits for what comes of a call: one of the two, once. Neither throws. */
export interface Hearer<Answer> {
  answered(answer: Answer): void;
  failed(error: unknown): void;
}

/** A try of a call, which `signal` gives up, with headers besides its own. */
type Try = [
  call: RestCall,
  caller: Caller,
  signal: Cancellation,
  entry: LedgerEntry,
  headers: Readonly<Record<string, string>> | undefined,
];

/**
 * Sends a call, makes something of its 2xx answer, and tells who waits for that, perhaps at once.
 * @throws what keeps it from being sent, of which nobody is told then: AbortedError where `signal` has given it up already.
 */
export type Exchange<Answer> = (...sent: [...Try, hearer: Hearer<Answer>]) => void;

/** An exchange out of one with a promise, for calls that are few enough. */
export function told<Answer>(exchange: (...sent: Try) => Promise<Answer>): Exchange<Answer> {
  return (call, caller, signal, entry, headers, hearer) => {
    exchange(call, caller, signal, entry, headers).then(
      (answer) => hearer.answered(answer),
      (error: unknown) => hearer.failed(error),
    );
  };
}

export interface ExchangeOptions {
  baseUrl: URL;
  /** Is told the time of each answer; one of its own when left out. */
  serviceClock?: ServiceClock;
  callTimeoutMs: number;
  /** What one answer may weigh, after it is decompressed. */
  maxResponseBytes: number;
  /** Whether answers may come compressed; not when left out. */
  compression?: boolean;
  /** When the JSON of an answer is read that has come in; at the end of its round when left out. */
  putOff?: PutOff;
}

/** Makes what is sent for a call: with the bearer, and `headers` besides its own. */
export type RequestMaker = (
  call: RestCall,
  bearer: string,
  headers?: Readonly<Record<string, string>>,
) => Dispatcher.DispatchOptions & { headers: string[] };

export function createRequests({ baseUrl, compression = false }: ExchangeOptions): RequestMaker {
  const basePath = baseUrl.pathname.replace(/\/$/, '');
  return (call, bearer, added) => {
    // In turns, name and value: undici takes these as they are.
    const headers = ['accept', call.accept ?? 'application/json', 'authorization', `Bearer ${bearer}`];
    if (added !== undefined) headers.push(...Object.entries(added).flat());
    if (compression) headers.push('accept-encoding', acceptedEncodings);
    return { method: call.method, path: `${basePath}${call.path}${queryString(call)}`, headers };
  };
}

/** Tries of calls whose answers are JSON. */
export function createJsonExchange(pool: Pool, options: ExchangeOptions): Exchange<unknown> {
  const { maxResponseBytes: maxBytes, serviceClock = new ServiceClock(), putOff = createRounds() } = options;
  const clock = new CallClock(options.callTimeoutMs);
  const requestOf = createRequests(options);

  const write = told<unknown>(async (call, { bearer }, signal, entry, headers) => {
    const attempt = new Attempt(call, signal, clock);
    const leaving = { isSent: false };
    try {
      const request = requestOf(call, bearer, headers);
      const json = Buffer.from(JSON.stringify(call.body));
      request.headers.push('content-type', 'application/json', 'content-length', String(json.length));
      // undici takes any iterable, but its types leave that out.
      const body = () => noticed(json, leaving) as unknown as Readable;
      const send = () =>
        new Promise<BufferedResponse>((received, failed) => {
          receive(
            pool,
            { ...request, body: body() },
            {
              attempt,
              entry,
              maxBytes,
              serviceClock,
              received,
              failed,
            },
          );
        });
      const answer = await untilConnected(send, attempt, {
        isSent: () => leaving.isSent,
        onRetry: () => {
          entry.retries += 1;
        },
      });
      return jsonOf(call, bearer, answer);
    } catch (error) {
      throw failureOf(call, error, leaving.isSent);
    } finally {
      attempt.end();
    }
  });

  return (call, caller, signal, entry, headers, hearer) => {
    if (!isRead(call)) {
      write(call, caller, signal, entry, headers, hearer);
    } else {
      const request = requestOf(call, caller.bearer, headers);
      receive(
        pool,
        request,
        new Reading(call, caller, signal, clock, maxBytes, entry, serviceClock, putOff, hearer),
      );
    }
  };
}

/** A try of a read, which waits for its own answer: most calls are reads, and need nothing besides. */
class Reading extends Attempt implements ResponseHandler {
  readonly entry: LedgerEntry;
  readonly maxBytes: number;
  readonly serviceClock: ServiceClock;
  readonly #caller: Caller;
  readonly #putOff: PutOff;
  readonly #hearer: Hearer<unknown>;

  constructor(
    call: RestCall,
    caller: Caller,
    signal: Cancellation,
    clock: CallClock,
    maxBytes: number,
    entry: LedgerEntry,
    serviceClock: ServiceClock,
    putOff: PutOff,
    hearer: Hearer<unknown>,
  ) {
    super(call, signal, clock);
    this.entry = entry;
    this.maxBytes = maxBytes;
    this.serviceClock = serviceClock;
    this.#caller = caller;
    this.#putOff = putOff;
    this.#hearer = hearer;
  }

  get attempt(): Attempt {
    return this;
  }

  received(answer: BufferedResponse): void {
    // Now, as it may be read only once others have been.
    this.entry.durationMs = this.#caller.ledger.elapsedMs() - this.entry.startMs;
    if ((answer.text?.length ?? 0) > largestPutOff) this.#read(answer);
    else this.#putOff(() => this.#read(answer));
  }

  #read(answer: BufferedResponse): void {
    let json: unknown;
    try {
      json = jsonOf(this.call, this.#caller.bearer, answer);
    } catch (error) {
      this.failed(error);
      return;
    }
    this.end();
    this.#hearer.answered(json);
  }

  failed(error: unknown): void {
    this.end();
    // It may be made again in any case, and is not asked whether it was sent.
    this.#hearer.failed(failureOf(this.call, error, true));
  }
}

/**
 * The body of a write, and word of its leaving: undici asks for it when it has a connection and starts to send. Not a function
 * of its own for each: V8 keeps those that generate, with all that they know of, until a full collection of garbage.
 */
function* noticed(body: Buffer, leaving: { isSent: boolean }): Generator<Buffer> {
  leaving.isSent = true;
  yield body;
}

function jsonOf(call: RestCall, bearer: string, answer: BufferedResponse): unknown {
  if (!isSuccess(answer.status)) throw statusErrorOf(call, answer, bearer);
  try {
    return JSON.parse(answer.text ?? '');
  } catch {
    // Without its cause, which quotes the body: what is in there is not known to be fit for a log.
    throw new InvalidResponseError(`${described(call)} answered something that is not JSON`);
  }
}
