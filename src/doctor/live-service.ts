import { setTimeout as sleep } from 'node:timers/promises';
import { decodeText } from '../base/decode-text.ts';
import { parseJson } from '../base/json-object.ts';
import { callRoute, queryString } from '../rest/call.ts';
import { createDispatcher, failureCode, type ProxyOptions, userAgent } from '../rest/connection-pools.ts';
import { isOfGateway } from '../rest/gateway-statuses.ts';

/** The response to a GET, read to its end. */
export interface Answer {
  /** The call without identifiers and values, such as `GET /v1/orders/{id} with limit`. */
  call: string;
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Without a charset. */
  contentType: string;
  body: Buffer;
  /** Undefined if the body is not text in its charset, by default UTF-8. */
  text: string | undefined;
  /** Undefined if the body is no JSON. */
  json: unknown;
  /** From the request to the last byte. */
  ms: number;
  receivedAt: Date;
}

/** A call without a usable response, or that was not sent. `cause` is why: `TIMEOUT`, `503`, `ECONNREFUSED`. */
export class CallFailedError extends Error {
  constructor(call: string, cause: string) {
    super(`${call} failed (${cause})`, { cause });
  }
}

export interface LiveServiceOptions {
  url: URL;
  token: string;
  proxy?: ProxyOptions | undefined;
  /** The conversation to read, `channels/<id>/conversations/<id>`. */
  conversation?: string | undefined;
  /** Called before each call. */
  onCall?: (number: number, call: string) => void;
  /** The pause before each call but the first. */
  spacingMs?: number;
  /** The time limit of a call, by default that of the server. */
  timeoutMs?: number;
}

export const maxCalls = 80;
export const spacingMs = 100;
const maxFailuresInARow = 3;
const maxBodyBytes = 16_777_216;

/** Sends GETs over the server's own transport, one after the other, without retries. */
export class LiveService {
  readonly options: LiveServiceOptions;
  readonly timeoutMs: number;
  /** The milliseconds of each call with a usable response: no 429, no 5xx and no status of a gateway. */
  readonly durations: number[] = [];
  calls = 0;
  readonly #dispatcher: ReturnType<typeof createDispatcher>;
  #failuresInARow = 0;

  constructor(options: LiveServiceOptions) {
    this.options = options;
    this.timeoutMs = options.timeoutMs ?? 10_000;
    this.#dispatcher = createDispatcher(options.url, { connections: 1, proxy: options.proxy });
  }

  /**
   * Sends a GET. `basePath` replaces the path of the base address.
   * @throws CallFailedError. A 429, 80 calls, or three failures in a row end the run: no further call is sent.
   */
  async get(
    path: string,
    query: Record<string, string> = {},
    { token = this.options.token, accept = 'application/json', basePath = this.options.url.pathname } = {},
  ): Promise<Answer> {
    const request = { method: 'GET', path, query } as const;
    const names = Object.keys(query).join(', ');
    const call = `GET ${callRoute(request)}${names === '' ? '' : ` with ${names}`}`;
    if (this.calls >= maxCalls)
      throw new CallFailedError(call, `not sent, because the doctor stopped after ${maxCalls} calls`);
    if (this.#failuresInARow >= maxFailuresInARow)
      throw new CallFailedError(call, 'not sent, because the doctor stopped after an earlier failure');
    if (this.calls > 0) await sleep(this.options.spacingMs ?? spacingMs);
    this.calls += 1;
    this.options.onCall?.(this.calls, call);
    const target = `${basePath.replace(/\/$/, '')}${path}${queryString(request)}`;
    const answer = await this.#send(call, target, { authorization: `Bearer ${token}`, accept });
    this.#failuresInARow = 0;
    return answer;
  }

  close(): Promise<void> {
    return this.#dispatcher.destroy();
  }

  async #send(call: string, path: string, given: Record<string, string>): Promise<Answer> {
    const startedAtMs = performance.now();
    const signal = AbortSignal.timeout(this.timeoutMs);
    const headers = { ...given, 'accept-encoding': 'identity', 'user-agent': userAgent };
    try {
      const request = { origin: this.options.url.origin, method: 'GET', path, headers, signal } as const;
      const { statusCode: status, headers: received, body: stream } = await this.#dispatcher.request(request);
      const body = await readBody(stream);
      const ms = performance.now() - startedAtMs;
      if (status === 429) this.#failuresInARow = maxFailuresInARow;
      if (status === 429 || status >= 500 || isOfGateway(status))
        throw new CallFailedError(call, String(status));
      this.durations.push(ms);
      const [contentType = ''] = String(received['content-type'] ?? 'no content type').split(';', 1);
      const text = decodeText([body], received['content-type']);
      const json = text === undefined ? undefined : parseJson(text);
      return { call, status, headers: received, contentType, body, text, json, ms, receivedAt: new Date() };
    } catch (error) {
      this.#failuresInARow += 1;
      if (error instanceof CallFailedError) throw error;
      // Errors of the HTTP parser have no code.
      const code = failureCode(error).replace('unknown error', String(Object(error).name));
      throw new CallFailedError(call, signal.aborted ? 'TIMEOUT' : code);
    }
  }
}

async function readBody(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) throw Object.assign(new Error(), { code: 'TOO_LARGE' });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
