import { type AddressInfo, createServer, type Socket } from 'node:net';
import { records } from './records.ts';

// The REST service, from memory: each answer is made once and kept as bytes, head and all. Plain sockets, as it shares its
// core with the load and must not be what is measured: of a request only what it answers by is read. It takes any bearer.
// A message sets how long each call waits, in milliseconds, and whether calls are kept; the answer to it is what came since.

/** What is told to the process. */
export interface UpstreamOrder {
  delayMs: number;
  keepsCalls: boolean;
}

export interface Call {
  /** `GET /v1/orders?pageSize=100` */
  line: string;
  /** 1, and one more than that of the last call that had been answered when this one came. */
  turn: number;
}

/** What came of calls since the last order. */
export interface CallsSeen {
  count: number;
  /** In the order in which they came, where they are kept. */
  calls: Call[];
}

const headEnd = '\r\n\r\n';
const answers = new Map<string, Buffer>();
let order: UpstreamOrder = { delayMs: 0, keepsCalls: false };
let count = 0;
let calls: Call[] = [];
let lastTurn = 0;

const server = createServer({ noDelay: true }, (socket) => {
  let text = '';
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    // One request as a rule, and several of a client that does not wait for answers.
    for (let end = text.indexOf(headEnd); end >= 0; end = text.indexOf(headEnd)) {
      take(socket, text.slice(0, end));
      text = text.slice(end + headEnd.length);
    }
  });
});

function take(socket: Socket, head: string): void {
  const path = head.slice('GET '.length, head.indexOf(' ', 'GET '.length));
  count += 1;
  const turn = lastTurn + 1;
  if (order.keepsCalls) calls.push({ line: `GET ${path}`, turn });
  const isAllowed = head.startsWith('GET ') && /\r\nauthorization: /i.test(head);
  const answer = isAllowed ? answerTo(path) : withHead('401 Unauthorized', undefined);
  // Those that wait as long as each other are sent in the order in which they came.
  if (order.delayMs > 0) setTimeout(send, order.delayMs, socket, answer, turn);
  else send(socket, answer, turn);
}

function send(socket: Socket, answer: Buffer, turn: number): void {
  lastTurn = Math.max(lastTurn, turn);
  if (!socket.destroyed) socket.write(answer);
}

function answerTo(path: string): Buffer {
  const known = answers.get(path);
  if (known !== undefined) return known;
  const json = jsonOf(path);
  const answer = withHead(json === undefined ? '404 Not Found' : '200 OK', json);
  answers.set(path, answer);
  return answer;
}

function jsonOf(path: string): unknown {
  const { pathname, searchParams } = new URL(path, 'http://upstream');
  const [, version, collection = '', id] = pathname.split('/');
  if (version !== 'v1' || !Object.hasOwn(records, collection)) return undefined;
  // Just seen to be one of them.
  const rows: { name: string }[] = records[collection as keyof typeof records];
  if (id !== undefined) return rows.find(({ name }) => name === `${collection}/${decodeURIComponent(id)}`);
  const from = Number(searchParams.get('pageToken') ?? 0);
  const until = from + Number(searchParams.get('pageSize') ?? 100);
  return {
    [collection]: rows.slice(from, until),
    nextPageToken: until < rows.length ? String(until) : '',
  };
}

/** With the headers that Node's own server sends. */
function withHead(status: string, json: unknown): Buffer {
  const body = Buffer.from(json === undefined ? '' : JSON.stringify(json));
  const head = [
    `HTTP/1.1 ${status}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
    `date: ${new Date().toUTCString()}`,
    'connection: keep-alive',
    'keep-alive: timeout=3600',
  ];
  return Buffer.concat([Buffer.from(head.join('\r\n') + headEnd), body]);
}

server.listen(0, '127.0.0.1', () => {
  // A server that listens on a TCP port has an address of this form.
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
