import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { type RequestParts, requestText } from '../load.ts';
import { markOf, tenants, tokenOf } from '../tenants.ts';
import { count, look, noOutcomes, outcomeOf } from './outcomes.ts';

// The attackers, on a thread of their own, so that they do not delay the timing of good requests. A message starts a
// number of attacks at a rate. All kinds take turns. The reply has the outcomes of all attacks until now.

export interface Attacks {
  total: number;
  ratePerSecond: number;
}

/** Sends one attack on a connection of its own. */
type Attack = (socket: Socket, tenant: number, index: number) => void;

// After this time the attacker closes the connection itself. The server waits 5 seconds for more of a body, and
// checks this every second.
const patienceMs = 8_000;

function request(tenant: number, parts: Partial<RequestParts>): string {
  const headers = ['connection: close', ...(parts.headers ?? ['content-type: application/json'])];
  return requestText({ path: '/graphql', token: tokenOf(tenant), ...parts, headers });
}

const body = (query: string, variables: object = {}) => JSON.stringify({ query, variables });

/** Sends a document that can differ each time. */
function asks(
  documentOf: (index: number, mark: string) => string,
  variables?: (index: number) => object,
): Attack {
  return (socket, tenant, index) => {
    const document = documentOf(index, markOf(tenant));
    socket.write(request(tenant, { body: body(document, variables?.(index)) }));
  };
}

/** Sends the same request each time, with the token of the tenant. */
function sends(parts: Partial<RequestParts>): Attack {
  return (socket, tenant) => socket.write(request(tenant, parts));
}

/** The head of a request without its body. */
const head = (tenant: number, ...headers: string[]) =>
  request(tenant, { headers: ['content-type: application/json', ...headers] });

const many = (count: number, piece: (index: number) => string) =>
  Array.from({ length: count }, (_, n) => piece(n)).join(' ');
const large = `{ ${many(4, (n) => `a${n}: shipments(first: 100) { nodes { id status recipient { fullName address { addressLines } } } }`)} }`;
const chunk = `${(100_000).toString(16)}\r\n${'x'.repeat(100_000)}\r\n`;
const someOrders = '{ orders(first: 5) { nodes { id } } }';
const faults = 'hang reset cut drip html page null array json 400 404 429 500 503'.split(' ');
const ids = [
  '..',
  '../organizations/mine',
  '%2e%2e',
  'a?x=1',
  'a#b',
  'a\0',
  'x'.repeat(10_000),
  '\ud800',
  'couriers/a',
];

const attacks: Record<string, Attack> = {
  'a depth of 2,000': sends({ body: body(`${'{ order '.repeat(2_000)}${'}'.repeat(2_000)}`) }),
  'a depth of 20': sends({
    body: body(
      `{ order(id: "a") ${'{ recipient { orders(first: 1) { nodes '.repeat(6)}{ id }${' } } }'.repeat(6)} }`,
    ),
  }),
  '5,000 aliases': sends({ body: body(`{ ${many(5_000, (n) => `a${n}: __typename`)} }`) }),
  'exponential fragments': sends({
    body: body(
      `{ ...F0 } ${many(30, (n) => `fragment F${n} on Query { ...F${n + 1} ...F${n + 1} }`)} fragment F30 on Query { a }`,
    ),
  }),
  'too many nodes': sends({
    body: body('{ orders(first: 1000) { nodes { recipient { orders(first: 1000) { nodes { id } } } } } }'),
  }),
  'no document': asks((index) => `}${index}{ "`),
  'no field of the schema': asks((index) => `{ field${index} { a b c } }`),
  'a document like no other': asks(
    (index) => `query Q${index} { order(id: "none${index}") { id ${' notes'.repeat(50)} } }`,
  ),
  'a hash like no other': (socket, tenant, index) => {
    const persistedQuery = { version: 1, sha256Hash: String(index).padStart(64, '0') };
    socket.write(request(tenant, { body: JSON.stringify({ extensions: { persistedQuery } }) }));
  },
  'broken JSON': sends({ body: '{"query":"{ a' }),
  'variables of a wrong type': asks(
    () => 'query A($v: ID!) { order(id: $v) { id } }',
    (index) => ({ v: { [`a${index}`]: [[[]]] } }),
  ),
  'a body of 2 MB': sends({ body: body('x'.repeat(2_000_000)) }),
  'a compressed body': sends({
    body: 'x',
    headers: ['content-type: application/json', 'content-encoding: gzip'],
  }),
  'a form': sends({ body: 'query={a}', headers: ['content-type: application/x-www-form-urlencoded'] }),
  'an id that is none': asks(
    () => 'query A($v: ID!) { order(id: $v) { id } }',
    (index) => ({ v: ids[index % ids.length] }),
  ),
  "another tenant's id": (socket, tenant) =>
    socket.write(
      request(tenant, { body: body(`{ order(id: "${markOf((tenant + 1) % tenants)}or900") { id notes } }`) }),
    ),
  'an unknown token': (socket, tenant, index) =>
    socket.write(request(tenant, { token: `unknown-${index}`, body: body(someOrders) })),
  'no token': sends({ token: undefined, body: body(someOrders) }),
  'a mutation that REST resets': asks(
    (_index, mark) =>
      `mutation { updateOrder(input: { id: "fault-reset-${mark}", notes: "Ring twice" }) { __typename ... on UserError { message } } }`,
  ),
  ...Object.fromEntries(
    faults.map((fault) => [
      `REST's ${fault}`,
      asks(
        (index) =>
          `{ order(id: "fault-${fault}-${index}") { id notes shipment { id } } organization { id } }`,
      ),
    ]),
  ),
  garbage: (socket) => socket.write('\u0000\u0001 garbage \r\n\r\n'),
  'no end of headers': (socket) => socket.write(`GET / HTTP/1.1\r\nx: ${'x'.repeat(20_000)}`),
  'a chunked body of 1.2 MB': (socket, tenant) => {
    socket.write(head(tenant, 'transfer-encoding: chunked'));
    for (let sent = 0; sent < 12; sent += 1) socket.write(chunk);
  },
  'a body that stops': (socket, tenant) => socket.write(`${head(tenant, 'content-length: 900')}{"query":`),
  'a slow sender': (socket, tenant) => {
    socket.write(head(tenant, 'content-length: 900'));
    const timer = setInterval(() => socket.write(' '.repeat(10)), 200);
    socket.once('close', () => clearInterval(timer));
  },
  // The label is larger than all buffers of the connection, so the server has to wait.
  'a connection that does not read': (socket, tenant) => {
    socket.pause();
    socket.write(request(tenant, { method: 'GET', path: '/labels/fault-large.pdf', headers: [] }));
    setTimeout(() => socket.destroy(), 4_000);
  },
  'gone at once': (socket, tenant) => socket.end(request(tenant, { body: body(large) })),
  'gone in mid-query': (socket, tenant) => {
    socket.write(request(tenant, { body: body(large) }));
    setTimeout(() => socket.destroy(), 3);
  },
  'gone in mid-answer': (socket, tenant) => {
    socket.write(request(tenant, { body: body(large) }));
    socket.once('data', () => socket.resetAndDestroy());
  },
  'gone in mid-body': (socket, tenant) => {
    socket.write(`${head(tenant, 'content-length: 900')}{"query":`);
    setTimeout(() => socket.resetAndDestroy(), 5);
  },
  'gone while REST hangs': (socket, tenant) => {
    socket.write(request(tenant, { body: body('{ order(id: "fault-hang-gone") { id } }') }));
    setTimeout(() => socket.destroy(), 20);
  },
};

// These attacks are the most likely to leak memory, so they are more frequent.
const leaveMost = [
  'an unknown token',
  'a document like no other',
  'a hash like no other',
  'gone in mid-query',
];
const turns = [...Object.keys(attacks), ...Array.from({ length: 5 }, () => leaveMost).flat()];
const { port }: { port: number } = workerData;
const outcomes = noOutcomes();
let index = 0;

function attackOnce(): Promise<void> {
  index += 1;
  const [kind = '', tenant] = [turns[index % turns.length], index % tenants];
  const act = attacks[kind];
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let received = '';
    let failure = 'nothing';
    let end = '';
    const timer = setTimeout(() => {
      end = ', left open';
      socket.destroy();
    }, patienceMs);
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
    });
    socket.on('error', (error) => {
      if (socket.connecting) failure = `not reached: ${error.message}`;
    });
    socket.once('connect', () => act?.(socket, tenant, index));
    socket.once('close', () => {
      clearTimeout(timer);
      look(outcomes, received, kind.endsWith(' token') ? undefined : tenant);
      count(outcomes, kind, (received === '' ? failure : outcomeOf(received)) + end);
      resolve();
    });
  });
}

parentPort?.on('message', async ({ total, ratePerSecond }: Attacks) => {
  const startedAtMs = performance.now();
  const running: Promise<void>[] = [];
  for (let begun = 0; begun < total; begun += 1) {
    await pause(Math.max(0, startedAtMs + (begun / ratePerSecond) * 1_000 - performance.now()));
    running.push(attackOnce());
  }
  await Promise.all(running);
  parentPort?.postMessage(outcomes);
});
