import type { Readable } from 'node:stream';
import type { Dispatcher, Pool } from 'undici';
import { acceptedEncodings, textOf } from './answer-body.ts';
import { type Attempt, createAttempt } from './attempt.ts';
import { described, isRead, queryString, type RestCall } from './call.ts';
import type { Caller } from './caller.ts';
import { untilConnected } from './connect-retry.ts';
import { type Refusal, StatusError } from './errors.ts';
import { failureOf } from './failure.ts';
import type { LedgerEntry } from './ledger.ts';
import { readRefusal, retryAfterMs } from './refusal.ts';

/** Makes something of a 2xx answer, and ends the attempt once that is whole. */
export type ReadAnswer<Answer> = (
  response: Dispatcher.ResponseData,
  attempt: Attempt,
  entry: LedgerEntry,
) => Answer | Promise<Answer>;

/** One try of a call: sends it, with `headers` besides its own, and hands its 2xx answer on. */
export type Exchange = <Answer>(
  call: RestCall,
  caller: Caller,
  entry: LedgerEntry,
  read: ReadAnswer<Answer>,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answer>;

export interface ExchangeOptions {
  baseUrl: URL;
  callTimeoutMs: number;
  /** Whether answers may come compressed; not when left out. */
  compression?: boolean;
}

// A refusal says what is wrong in far less; a larger one is not worth reading.
const maxRefusalBytes = 65_536;

export function createExchange(
  pool: Pool,
  { baseUrl, callTimeoutMs, compression = false }: ExchangeOptions,
): Exchange {
  const basePath = baseUrl.pathname.replace(/\/$/, '');

  return async (call, caller, entry, read, headers) => {
    const attempt = createAttempt(described(call), caller.signal, callTimeoutMs);
    let isSent = call.body === undefined;
    let body: Readable | undefined;
    try {
      const json = call.body === undefined ? undefined : Buffer.from(JSON.stringify(call.body));
      const send = () =>
        pool.request({
          method: call.method,
          path: `${basePath}${call.path}${queryString(call)}`,
          headers: {
            accept: call.accept ?? 'application/json',
            authorization: `Bearer ${caller.bearer}`,
            ...headers,
            ...(compression && { 'accept-encoding': acceptedEncodings }),
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
      body = response.body;
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
      // Whatever it was: a body that nobody reads to its end would keep its connection for good.
      body?.on('error', () => {}).destroy();
      throw failureOf(call, error, isSent);
    }
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

async function refusalOf(
  call: RestCall,
  caller: Caller,
  response: Dispatcher.ResponseData,
  entry: LedgerEntry,
): Promise<Refusal> {
  try {
    return readRefusal(await textOf(call, response, maxRefusalBytes, entry), caller.bearer);
  } catch {
    // Cut off, late, too large or nested too deeply: the status has been answered all the same, and it says what matters.
    return { fields: [] };
  }
}
