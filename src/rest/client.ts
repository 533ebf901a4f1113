import type { Readable } from 'node:stream';
import { type Dispatcher, Pool, errors as undiciErrors } from 'undici';
import type { Caller } from './caller.ts';
import {
  AbortedError,
  DeadlineError,
  InvalidResponseError,
  OutcomeUnknownError,
  ResponseTooLargeError,
  StatusError,
  UnavailableError,
  type WaybillError,
} from './errors.ts';
import { readRefusal } from './refusal.ts';

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
}

export interface RestCall {
  method: 'GET' | 'POST' | 'PATCH';
  /** Below the base address, made of checked identifiers only. */
  path: string;
  query?: Record<string, string | undefined>;
  /** Sent as JSON. */
  body?: unknown;
}

export interface RestStream {
  contentType: string;
  contentLength: string | undefined;
  body: Readable;
}

/** One pool of connections to REST, and what a call is: a deadline, the caller's bearer, an answer or an error. */
export interface RestClient {
  /** The JSON of any 2xx answer. @throws StatusError and the network's family of errors. */
  json(call: RestCall, caller: Caller): Promise<unknown>;
  /** The body of any 2xx answer as it arrives. The taker reads it to its end or destroys it. */
  stream(call: RestCall, caller: Caller): Promise<RestStream>;
  /** Ends every connection once the calls under way are answered. */
  close(): Promise<void>;
}

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

  async function exchange<Answer>(
    call: RestCall,
    caller: Caller,
    read: (response: Dispatcher.ResponseData) => Answer | Promise<Answer>,
  ): Promise<Answer> {
    const attempt = new AbortController();
    const giveUp = () => attempt.abort(new AbortedError(`${described(call)} was given up by its caller`));
    const deadline = setTimeout(() => {
      const text = `${described(call)} was not answered within ${options.callTimeoutMs} ms`;
      attempt.abort(new DeadlineError(text));
    }, options.callTimeoutMs);
    caller.signal.addEventListener('abort', giveUp, { once: true });
    if (caller.signal.aborted) giveUp();
    try {
      const response = await pool.request({
        method: call.method,
        path: `${basePath}${call.path}${queryString(call.query)}`,
        headers: {
          accept: 'application/json',
          authorization: `Bearer ${caller.bearer}`,
          ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: call.body === undefined ? null : JSON.stringify(call.body),
        signal: attempt.signal,
      });
      const { statusCode } = response;
      if (statusCode >= 200 && statusCode <= 299) return await read(response);
      const refusal = readRefusal(await text(call, response, options.maxResponseBytes));
      throw new StatusError(
        described(call),
        statusCode,
        refusal,
        retryAfterMs(response.headers['retry-after']),
      );
    } catch (error) {
      throw asWaybillError(call, error, attempt.signal);
    } finally {
      clearTimeout(deadline);
      caller.signal.removeEventListener('abort', giveUp);
    }
  }

  return {
    json: (call, caller) =>
      caller.schedule(() =>
        exchange(call, caller, async (response) =>
          parseJson(call, await text(call, response, options.maxResponseBytes)),
        ),
      ),
    stream: (call, caller) =>
      exchange(call, caller, (response) => ({
        contentType: String(response.headers['content-type'] ?? ''),
        contentLength: response.headers['content-length']?.toString(),
        body: response.body,
      })),
    close: () => pool.close(),
  };
}

/** How logs and errors name a call: never with its query, which may hold a person's name or phone number. */
export function described(call: RestCall): string {
  return `${call.method} ${call.path}`;
}

function queryString(query: RestCall['query'] = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, value);
  }
  return parameters.size === 0 ? '' : `?${parameters}`;
}

async function text(call: RestCall, response: Dispatcher.ResponseData, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      throw new ResponseTooLargeError(`${described(call)} answered more than ${maxBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseJson(call: RestCall, body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (cause) {
    throw new InvalidResponseError(`${described(call)} answered something that is not JSON`, { cause });
  }
}

/** The header in seconds or as a date, in milliseconds from now; undefined where it is neither. */
function retryAfterMs(header: string | string[] | undefined): number | undefined {
  if (typeof header !== 'string' || header === '') return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

// Failures at which nothing can have been sent: the connection was never made.
const neverConnected = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);

function asWaybillError(call: RestCall, error: unknown, signal: AbortSignal): WaybillError {
  const answered =
    error instanceof StatusError ||
    error instanceof InvalidResponseError ||
    error instanceof ResponseTooLargeError;
  if (answered) return error;
  const cause = signal.aborted ? signal.reason : error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'no code';
  if (call.method !== 'GET' && !neverConnected.has(code)) {
    return new OutcomeUnknownError(`${described(call)} was sent, but no answer came`, { cause });
  }
  if (cause instanceof AbortedError || cause instanceof DeadlineError) return cause;
  if (error instanceof undiciErrors.BodyTimeoutError) {
    return new DeadlineError(`${described(call)} stopped in the middle of its answer`, { cause });
  }
  return new UnavailableError(`${described(call)} got no answer (${code})`, { cause });
}
