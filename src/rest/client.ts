import type { Readable } from 'node:stream';
import { type Dispatcher, Pool } from 'undici';
import { type Attempt, createAttempt } from './attempt.ts';
import { described, isRead, queryString, type RestCall } from './call.ts';
import type { CallObserver } from './call-observer.ts';
import type { Caller } from './caller.ts';
import { untilConnected } from './connect-retry.ts';
import { InvalidResponseError, type Refusal, ResponseTooLargeError, StatusError } from './errors.ts';
import { failureOf } from './failure.ts';
import { enter, type LedgerEntry } from './ledger.ts';
import { readRefusal, retryAfterMs } from './refusal.ts';

export interface RestClientOptions {
  /** Where REST is; a path in it comes before every call's path. */
  baseUrl: URL;
  /** Sockets kept open to REST at most. */
  connections: number;
  connectTimeoutMs: number;
  /** From sending a call to the last byte of its answer; for a stream to its first byte, then between bytes. */
  callTimeoutMs: number;
  /** What one JSON answer may weigh. */
  maxResponseBytes: number;
  observer?: CallObserver | undefined;
}

export interface RestStream {
  contentType: string;
  contentLength: string | undefined;
  body: Readable;
}

/** One pool of connections to REST, and what a call is: a deadline, the caller's bearer, an answer or an error. */
export interface RestClient {
  /**
   * The JSON of any 2xx answer. `onEnter` hears of the call's entry in the ledger when it has left its queue.
   * @throws StatusError and the network's family of errors.
   */
  json(call: RestCall, caller: Caller, onEnter?: (entry: LedgerEntry) => void): Promise<unknown>;
  /** The body of any 2xx answer as it arrives. The taker reads it to its end or destroys it. */
  stream(call: RestCall, caller: Caller): Promise<RestStream>;
  /** Ends every connection once the calls under way are answered. */
  close(): Promise<void>;
}

// A refusal says what is wrong in far less; a larger one is not worth reading.
const maxRefusalBytes = 65_536;

/** Opens nothing until the first call. */
export function createRestClient(options: RestClientOptions): RestClient {
  const pool = new Pool(options.baseUrl.origin, {
    connections: options.connections,
    connect: { timeout: options.connectTimeoutMs },
    // The deadline of a call is the client's own; this one is for the pauses within a stream.
    headersTimeout: 0,
    bodyTimeout: options.callTimeoutMs,
  });
  const basePath = options.baseUrl.pathname.replace(/\/$/, '');

  /** Sends a call and hands its 2xx answer to `read`. */
  async function exchange<Answer>(
    call: RestCall,
    caller: Caller,
    read: (
      response: Dispatcher.ResponseData,
      attempt: Attempt,
      entry: LedgerEntry,
    ) => Answer | Promise<Answer>,
    onEnter?: (entry: LedgerEntry) => void,
  ): Promise<Answer> {
    // First, as a call whose caller has given up in the queue is none, and not for the ledger.
    const attempt = createAttempt(described(call), caller.signal, options.callTimeoutMs);
    const entry = enter(caller.ledger, call);
    onEnter?.(entry);
    const observed = options.observer?.left(entry, caller.ledger);
    let isSent = call.body === undefined;
    try {
      const json = call.body === undefined ? undefined : Buffer.from(JSON.stringify(call.body));
      const send = () =>
        pool.request({
          method: call.method,
          path: `${basePath}${call.path}${queryString(call)}`,
          headers: {
            accept: call.accept ?? 'application/json',
            authorization: `Bearer ${caller.bearer}`,
            ...observed,
            ...(json && { 'content-type': 'application/json', 'content-length': String(json.length) }),
          },
          body:
            json === undefined
              ? null
              : noticed(json, () => {
                  isSent = true;
                }),
          signal: attempt.signal,
        });
      const response = await (isRead(call)
        ? attempt.race(send())
        : untilConnected(send, attempt, {
            isSent: () => isSent,
            onRetry: () => {
              entry.retries += 1;
            },
          }));
      const { statusCode } = response;
      entry.status = statusCode;
      if (statusCode >= 200 && statusCode <= 299) return await read(response, attempt, entry);
      throw new StatusError(
        call,
        statusCode,
        await refusalOf(call, caller, response, entry),
        retryAfterMs(response.headers['retry-after']),
      );
    } catch (error) {
      attempt.end();
      throw failureOf(call, error, isSent);
    } finally {
      entry.durationMs = caller.ledger.elapsedMs() - entry.startMs;
      options.observer?.ended(entry, caller.ledger);
    }
  }

  return {
    async json(call, caller, onEnter) {
      const read = async (response: Dispatcher.ResponseData, attempt: Attempt, entry: LedgerEntry) => {
        const json = parseJson(call, await text(call, response, options.maxResponseBytes, entry));
        attempt.end();
        return json;
      };
      try {
        return await caller.schedule(call, () => exchange(call, caller, read, onEnter));
      } finally {
        if (!isRead(call)) caller.tenant.writes += 1;
      }
    },
    stream: (call, caller) =>
      exchange(call, caller, ({ headers, body }, attempt) => {
        attempt.endDeadline();
        body.once('close', attempt.end);
        return {
          contentType: String(headers['content-type'] ?? ''),
          contentLength: headers['content-length']?.toString(),
          body,
        };
      }),
    close: () => pool.close(),
  };
}

/** The body of a write, and word of its leaving: undici asks for it when it has a connection and starts to send. */
function noticed(body: Buffer, onSend: () => void): Readable {
  function* chunks() {
    onSend();
    yield body;
  }
  return chunks() as unknown as Readable; // undici takes any iterable, but its types leave that out.
}

async function text(
  call: RestCall,
  response: Dispatcher.ResponseData,
  maxBytes: number,
  entry: LedgerEntry,
): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response.body) {
    entry.bytes += chunk.length;
    if (entry.bytes > maxBytes) {
      throw new ResponseTooLargeError(`${described(call)} answered more than ${maxBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

async function refusalOf(
  call: RestCall,
  caller: Caller,
  response: Dispatcher.ResponseData,
  entry: LedgerEntry,
): Promise<Refusal> {
  try {
    return readRefusal(await text(call, response, maxRefusalBytes, entry), caller.bearer);
  } catch {
    // Cut off, late, too large or nested too deeply: the status has been answered all the same, and it says what matters.
    return { fields: [] };
  }
}

function parseJson(call: RestCall, body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    // Without its cause, which quotes the body: what is in there is not known to be fit for a log.
    throw new InvalidResponseError(`${described(call)} answered something that is not JSON`);
  }
}
