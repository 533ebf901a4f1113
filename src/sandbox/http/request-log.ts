import type { IncomingMessage } from 'node:http';
import type { Caller } from './authentication.ts';

/** The merchant of a request's token, also of a token that has ended. The log does not store the token. */
export type BearerKind = 'first' | 'second' | 'none' | 'unknown';

/** A received request. */
export interface RequestEntry {
  method: string;
  /** The path as sent, without the query. */
  path: string;
  /** Query parameters by name. Of a repeated parameter, the last value. */
  query: Record<string, string>;
  /** The parsed JSON body. Undefined if there is none or it is invalid. */
  body: unknown;
  /** The response status. Undefined before the response, or if a fault sent none. */
  status: number | undefined;
  bearer: BearerKind;
  /** Which token of its merchant the request has: 1 for the first. Undefined without a known token. */
  tokenNumber: number | undefined;
  /** The request headers without `authorization`. */
  headers: Record<string, string>;
}

/** The request log of a sandbox, for tests to read. */
export interface RequestLog {
  /** The last 10,000 requests, in order of arrival. Without requests whose URL cannot be decoded. */
  entries(): RequestEntry[];
  /** The entries as text, with a decoded query: `GET /v1/orders/a%3Ab`, `GET /v1/orders?status=NEW,READY`. */
  lines(): string[];
  clear(): void;
}

/** The request log of a sandbox, for its server to write. */
export interface RequestSink {
  add(entry: RequestEntry): void;
}

const maxEntries = 10_000;

/** Creates an empty request log. */
export function createRequestLog(): RequestLog & RequestSink {
  let entries: RequestEntry[] = [];
  return {
    entries: () => [...entries],
    lines: () => entries.map(formatEntry),
    clear() {
      entries = [];
    },
    add(entry) {
      entries.push(entry);
      if (entries.length > maxEntries) entries.shift();
    },
  };
}

/** Creates the entry of a new request. The server adds body and status later. */
export function createEntry(
  { method = '', url = '', headers }: IncomingMessage,
  { text, token }: Caller,
): RequestEntry {
  const [path = '', ...query] = url.split('?');
  const { authorization, ...others } = headers;
  return {
    method,
    path,
    query: Object.fromEntries(new URLSearchParams(query.join('?'))),
    body: undefined,
    status: undefined,
    bearer: token?.merchant.rank ?? (text === undefined ? 'none' : 'unknown'),
    tokenNumber: token?.number,
    headers: Object.fromEntries(Object.entries(others).map(([name, value]) => [name, String(value)])),
  };
}

function formatEntry({ method, path, query }: RequestEntry): string {
  const parameters = Object.entries(query).map(([name, value]) => `${name}=${value}`);
  return `${method} ${path}${parameters.length === 0 ? '' : '?'}${parameters.join('&')}`;
}
