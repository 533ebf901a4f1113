import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { OrderJson } from '../src/rest/wire-schema.ts';
import { lists, ordersWithLongTexts, organization } from './records.ts';
import {
  markOf,
  tenantOf,
  tenantWithEscapedNotes,
  tenantWithLongLists,
  tenantWithLongNotes,
  tokenStart,
} from './tenants.ts';
import type { Call, CallsSeen, UpstreamOrder } from './upstream.ts';

// The REST service in memory: each response is built once and kept as bytes with its head. The service uses plain
// sockets and reads only the needed parts of a request, because it shares a core with the load and must cost little.
// It accepts any token but `unknown-…`. The tokens of merchants see marked records. An identifier
// `fault-<kind>-<anything>` fails in this way.

type Answer = Buffer | ((socket: Socket) => void);

/** 20 pages of the largest size: 20 copies of the 1,000 records of a list. */
const manyOf = (list: string, prefix: string) =>
  Array.from({ length: 20 }, (_, page) =>
    (lists.get(list) ?? []).map((record, index) => ({
      ...record,
      name: `${list}/${prefix}${100_000 - page * 1_000 - index}`,
    })),
  ).flat();
/** The lists of merchants with other records, by their mark. */
const ownLists = new Map([
  [
    markOf(tenantWithLongLists),
    new Map([
      ['shipments', manyOf('shipments', 'sh')],
      ['orders', manyOf('orders', 'or')],
    ]),
  ],
  [markOf(tenantWithLongNotes), new Map([['orders', ordersWithLongTexts('€', 1_000)]])],
  [markOf(tenantWithEscapedNotes), new Map([['orders', ordersWithLongTexts('\u0001', 0)]])],
]);
const headEnd = '\r\n\r\n';
const answers = new Map<string, Buffer>();
const unauthorized = withHead('401 Unauthorized', '{"error":{"message":"Who is there?"}}');
const notFound = withHead('404 Not Found', '{"error":{"message":"There is none."}}');
let order: UpstreamOrder = { delayMs: 0, keepsCalls: false };
let count = 0;
let calls: Call[] = [];
let lastTurn = 0;
let createdCount = 0;

const faults: Record<string, Answer> = {
  hang: () => {},
  reset: (socket) => socket.resetAndDestroy(),
  cut(socket) {
    socket.write(
      'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"name":"or',
    );
    setTimeout(() => socket.destroy(), 5);
  },
  drip(socket) {
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n');
    const timer = setInterval(() => socket.write(' '), 50);
    socket.once('close', () => clearInterval(timer));
  },
  large: withHead('200 OK', '%PDF'.repeat(2_500_000), 'application/pdf'),
  html: withHead('502 Bad Gateway', '<html>Bad gateway</html>', 'text/html'),
  page: withHead('200 OK', '<html>Sign in</html>', 'text/html'),
  null: withHead('200 OK', 'null'),
  array: withHead('200 OK', '[]'),
  json: withHead('200 OK', '{"name":'),
  400: withHead('400 Bad Request', '{"error":{"message":"No."}}'),
  404: notFound,
  429: withHead('429 Too Many Requests\r\nretry-after: 3600', ''),
  500: withHead('500 Internal Server Error', '{"error":{"message":"A fault."}}'),
  503: withHead('503 Service Unavailable', ''),
};

const server = createServer({ noDelay: true }, (socket) => {
  let text = '';
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    // Usually one request. A client that does not wait for responses sends several.
    for (let end = text.indexOf(headEnd); end >= 0; end = text.indexOf(headEnd)) {
      const head = text.slice(0, end);
      const size = end + headEnd.length + bodySize(head);
      if (text.length < size) return;
      text = text.slice(size);
      take(socket, head);
    }
  });
});

function bodySize(head: string): number {
  return head.startsWith('GET ') ? 0 : Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
}

function take(socket: Socket, head: string): void {
  const line = head.slice(0, head.indexOf(' HTTP/'));
  count += 1;
  const turn = lastTurn + 1;
  if (order.keepsCalls) calls.push({ line, turn });
  const answer = answerTo(line, /\r\nauthorization: Bearer (\S+)/i.exec(head)?.[1]);
  // Timers with the same delay run in the order of their start.
  if (order.delayMs > 0) setTimeout(send, order.delayMs, socket, answer, turn);
  else send(socket, answer, turn);
}

function send(socket: Socket, answer: Answer, turn: number): void {
  lastTurn = Math.max(lastTurn, turn);
  if (socket.destroyed) return;
  if (typeof answer === 'function') answer(socket);
  else socket.write(answer);
}

function answerTo(asked: string, bearer: string | undefined): Answer {
  // A search is fuzzy: it finds names by the letters alone. So texts that differ in their digits share an answer.
  const line = asked.replace(/([?&]search=[a-z]+)\d+/i, '$1');
  if (bearer === undefined || bearer.startsWith('unknown-')) return unauthorized;
  const mark = bearer.startsWith(tokenStart) ? markOf(tenantOf(bearer)) : '';
  const known = answers.get(mark + line);
  if (known !== undefined) return known;
  const fault = /\/fault-(\w+)/.exec(line)?.[1];
  if (fault !== undefined) return faults[fault] ?? notFound;
  const [method, path = ''] = line.split(' ');
  const own = mark === '' ? path : path.replaceAll(`/${mark}`, '/');
  if (own.endsWith('/label'))
    return withHead('200 OK', `%PDF-1.4 ${mark} ${'x'.repeat(4_000)}`, 'application/pdf');
  // The requests name no reference.
  const created = method === 'POST' ? { ...newOrder(), referenceId: undefined } : undefined;
  const json = created ?? jsonOf(own, mark);
  if (json === undefined) return notFound;
  const answer = withHead('200 OK', mark === '' ? JSON.stringify(json) : marked(json, mark));
  if (method === 'GET') answers.set(mark + line, answer);
  // A repeated idempotency key reads the order.
  if (created !== undefined) answers.set(`${mark}GET /v1/${created.name.replace('/', `/${mark}`)}`, answer);
  return answer;
}

function jsonOf(path: string, mark: string): unknown {
  const { pathname, searchParams } = new URL(path, 'http://upstream');
  const name = decodeURIComponent(pathname.slice('/v1/'.length));
  if (name === 'organizations/mine') return organization;
  const slash = name.lastIndexOf('/');
  const list = ownLists.get(mark)?.get(name) ?? lists.get(name);
  if (list === undefined) return lists.get(name.slice(0, slash))?.find((record) => record.name === name);
  const search = searchParams.get('search')?.toLowerCase();
  const rows = list
    .filter((record) => record.name.includes(searchParams.get('query') ?? ''))
    .filter((record) => search === undefined || isFoundBy(search, record));
  const from = Number(searchParams.get('pageToken') ?? 0);
  const until = from + Number(searchParams.get('pageSize') ?? 100);
  return {
    [name.slice(slash + 1)]: rows.slice(from, until),
    nextPageToken: until < rows.length ? String(until) : '',
  };
}

/** Whether an order has a part of a name, or exactly the phone number or the reference. @param search in lower case */
function isFoundBy(search: string, { recipient, referenceId }: Partial<OrderJson>): boolean {
  const { firstName, lastName, phoneNumber } = recipient ?? {};
  if (search === phoneNumber || search === referenceId) return true;
  return `${firstName} ${lastName}`.toLowerCase().includes(search);
}

function newOrder(): { name: string } {
  createdCount += 1;
  return { ...lists.get('orders')?.[0], name: `orders/or${1_000 + createdCount}` };
}

/** JSON with the merchant's mark in identifiers and notes. Identifiers that merchants share have no mark. */
function marked(json: unknown, mark: string): string {
  return JSON.stringify(json)
    .replaceAll(/\/(or|sh|qu|og|ch|co|me)(\d+)(?=["/])/g, `/${mark}$1$2`)
    .replaceAll('"notes":"', `"notes":"${mark} `);
}

/** A response with the headers that Node's own server sends. */
function withHead(status: string, text: string, type = 'application/json'): Buffer {
  const body = Buffer.from(text);
  const head = [
    `HTTP/1.1 ${status}`,
    `content-type: ${type}`,
    `content-length: ${body.length}`,
    `date: ${new Date().toUTCString()}`,
    'connection: keep-alive',
    'keep-alive: timeout=3600',
  ];
  return Buffer.concat([Buffer.from(head.join('\r\n') + headEnd), body]);
}

server.listen(0, '127.0.0.1', () => {
  // A server on a TCP port has an address of this form.
  const { port } = server.address() as AddressInfo;
  process.send?.(`http://127.0.0.1:${port}`);
});
process.on('message', (next: UpstreamOrder) => {
  process.send?.({ count, calls } satisfies CallsSeen);
  order = next;
  count = 0;
  calls = [];
  lastTurn = 0;
});
process.once('disconnect', () => process.exit());
