import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { records } from './records.ts';

// The REST service, from memory: each answer is made once and kept as bytes. It takes any bearer. A message sets how long
// each call waits, in milliseconds, and whether the lines of calls are kept; the answer to it is what came since the last.

/** What is told to the process. */
export interface UpstreamOrder {
  delayMs: number;
  keepsLines: boolean;
}

/** What came of calls since the last order. */
export interface CallsSeen {
  count: number;
  /** `GET /v1/orders?pageSize=100`, in the order in which they came, where they are kept. */
  lines: string[];
}

const answers = new Map<string, Buffer | undefined>();
let order: UpstreamOrder = { delayMs: 0, keepsLines: false };
let count = 0;
let lines: string[] = [];

const server = createServer((request, response) => {
  const { url = '' } = request;
  count += 1;
  if (order.keepsLines) lines.push(`${request.method} ${url}`);
  if (request.headers.authorization === undefined) return void response.writeHead(401).end();
  if (!answers.has(url)) answers.set(url, answerTo(url));
  const body = answers.get(url);
  if (order.delayMs > 0) setTimeout(send, order.delayMs, response, body);
  else send(response, body);
});

function send(response: ServerResponse, body: Buffer | undefined): void {
  if (body === undefined) return void response.writeHead(404).end();
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}

function answerTo(path: string): Buffer | undefined {
  const { pathname, searchParams } = new URL(path, 'http://upstream');
  const [, version, collection = '', id] = pathname.split('/');
  if (version !== 'v1' || !Object.hasOwn(records, collection)) return undefined;
  // Just seen to be one of them.
  const rows: { name: string }[] = records[collection as keyof typeof records];
  if (id !== undefined)
    return bytes(rows.find(({ name }) => name === `${collection}/${decodeURIComponent(id)}`));
  const from = Number(searchParams.get('pageToken') ?? 0);
  const until = from + Number(searchParams.get('pageSize') ?? 100);
  return bytes({
    [collection]: rows.slice(from, until),
    nextPageToken: until < rows.length ? String(until) : '',
  });
}

function bytes(json: unknown): Buffer | undefined {
  return json === undefined ? undefined : Buffer.from(JSON.stringify(json));
}

server.keepAliveTimeout = 3_600_000;
server.listen(0, '127.0.0.1', () => {
  // A server that listens on a TCP port has an address of this form.
  const { port } = server.address() as AddressInfo;
  process.send?.(`http://127.0.0.1:${port}`);
});
process.on('message', (next: UpstreamOrder) => {
  process.send?.({ count, lines } satisfies CallsSeen);
  order = next;
  count = 0;
  lines = [];
});
process.once('disconnect', () => process.exit());
