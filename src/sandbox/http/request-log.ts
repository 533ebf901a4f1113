import type { IncomingMessage } from 'node:http';

/** Whose token a request carried. The token itself is not kept. */
export type BearerKind = 'first' | 'second' | 'none' | 'unknown';

/** A request that came in, in whatever way it was answered. */
export interface RequestEntry {
  method: string;
  /** As it was sent, without the query. */
  path: string;
  /** By name; a parameter sent twice shows the last. */
  query: Record<string, string>;
  /** The JSON sent; undefined for none, and for none that could be read. */
  body: unknown;
  /** Undefined where no answer was given: it is still to come, or a fault kept it back. */
  status: number | undefined;
  bearer: BearerKind;
  /** Without `authorization`. */
  headers: Record<string, string>;
}

export interface RequestLog {
  /** The last 10,000 requests, in order of arrival; without those whose URL cannot be decoded. */
  entries(): RequestEntry[];
  /** The same as text, the query decoded for reading: `GET /v1/orders/a%3Ab`, `GET /v1/orders?status=NEW,READY`. */
  lines(): string[];
  clear(): void;
}

/** The log as the server sees it. */
export interface RequestSink {
  add(entry: RequestEntry): void;
}

const maxEntries = 10_000;

export function createRequestLog(): RequestLog & RequestSink {
  let entries: RequestEntry[] = [];
  return {
    entries: () => [...entries],
    lines: () => entries.map(lineOf),
    clear() {
      entries = [];
    },
    add(entry) {
      entries.push(entry);
      if (entries.length > maxEntries) entries.shift();
    },
  };
}

/** The entry of a request that has just come in; body and status are added as they become known. */
export function entryOf(
  { method = '', url = '', headers }: IncomingMessage,
  bearer: BearerKind,
): RequestEntry {
  const [path = '', ...query] = url.split('?');
  const { authorization, ...others } = headers;
  return {
    method,
    path,
    query: Object.fromEntries(new URLSearchParams(query.join('?'))),
    body: undefined,
    status: undefined,
    bearer,
    headers: Object.fromEntries(Object.entries(others).map(([name, value]) => [name, String(value)])),
  };
}

function lineOf({ method, path, query }: RequestEntry): string {
  const parameters = Object.entries(query).map(([name, value]) => `${name}=${value}`);
  return `${method} ${path}${parameters.length === 0 ? '' : '?'}${parameters.join('&')}`;
}
