import { createHash } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { silentLog } from '../../../src/telemetry/log.ts';
import { startTelemetry, type Telemetry } from '../../../src/telemetry/telemetry.ts';
import { openRaw, parseRaw, type RawAnswer } from '../../fixtures/raw-http.ts';
import { recordedLog } from '../../fixtures/recorded-log.ts';
import { until } from '../../fixtures/rest-service.ts';
import { startApp } from '../../fixtures/start-app.ts';

// Two servers, one without the fast path, get the same requests and must answer the same.

const order = (id: string) => ({
  name: `orders/${id}`,
  createTime: '2026-11-02T14:00:00Z',
  status: id === 'broken' ? 7 : 'READY',
  contentDescription: 'Camisetas de algodón',
});

interface Server {
  waybill: Awaited<ReturnType<typeof startApp>>;
  lines: ReturnType<typeof recordedLog>['lines'];
}

async function start(
  isFast: boolean,
  environment: Record<string, string>,
  telemetry?: Telemetry,
): Promise<Server> {
  const { log, lines } = recordedLog('info');
  const waybill = await startApp(
    async (request, response) => {
      const id = request.url?.split('/')[3];
      const status = id === 'fails' ? 500 : id === 'gone' ? 404 : 200;
      // Long enough for others to come in meanwhile.
      await new Promise((resolve) => setTimeout(resolve, id === 'slow' ? 300 : 0));
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(order(id ?? '')));
    },
    { PUBLIC_URL: 'https://waybill.test', SHOW_COST: 'no', ...environment },
    { log, fastPath: isFast, telemetry },
  );
  return { waybill, lines };
}

/** Servers with and without the fast path, with the same settings. */
async function startBoth(environment: Record<string, string> = {}) {
  const servers = await Promise.all([start(true, environment), start(false, environment)]);
  return {
    servers,
    async [Symbol.asyncDispose]() {
      for (const { waybill } of servers) {
        await waybill[Symbol.asyncDispose]();
      }
    },
  };
}

type Both = Awaited<ReturnType<typeof startBoth>>;

interface Sent {
  body?: object | string | Buffer;
  headers?: Record<string, string | string[] | undefined>;
  line?: string;
}

function bytesOf({ body = '', headers = {}, line = 'POST /graphql HTTP/1.1' }: Sent): Buffer[] {
  const bytes = Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const all = {
    host: '127.0.0.1',
    connection: 'close',
    'content-type': 'application/json',
    'content-length': String(bytes.length),
    authorization: 'Bearer token',
    'x-request-id': 'mine',
    ...headers,
  };
  const head = Object.entries(all).flatMap(([name, values]) =>
    [values ?? []].flat().map((value) => `${name}: ${value}\r\n`),
  );
  return [Buffer.from(`${line}\r\n${head.join('')}\r\n`), bytes];
}

interface Seen {
  answer: RawAnswer;
  calls: string[];
  lines: object[];
}

async function ask({ waybill, lines }: Server, sent: Sent): Promise<Seen> {
  const callsBefore = waybill.calls().length;
  const linesBefore = lines().length;
  const { socket, ended } = await openRaw(waybill);
  for (const part of bytesOf(sent)) socket.write(part);
  const answer = parseRaw((await ended()).replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, ''));
  const { date: _date, ...headers } = answer.headers;
  return {
    answer: { ...answer, headers },
    calls: waybill.calls().slice(callsBefore),
    // Its key is another one for each server.
    lines: lines()
      .slice(linesBefore)
      .map(({ tenant, ...line }) => ({ ...line, tenant: typeof tenant })),
  };
}

/** Only the fast path writes the headers first that all responses have. */
const isFast = ({ answer }: Seen) => Object.keys(answer.headers).indexOf('cache-control') === 0;

async function askBoth({ servers: [fast, fallback] }: Both, sent: Sent): Promise<[Seen, Seen]> {
  if (fast === undefined || fallback === undefined) throw new Error('Expected two servers');
  return [await ask(fast, sent), await ask(fallback, sent)];
}

const query = 'query Order($id: ID!) { order(id: $id) { id status contentDescription } }';
const known = { query, variables: { id: 'a1' } };
const mutation = 'mutation Note($id: ID!) { updateOrder(input: { id: $id, notes: "Nada" }) { __typename } }';
const hash = createHash('sha256').update(query).digest('hex');

describe('the fast path', () => {
  let both: Both;
  beforeAll(async () => {
    both = await startBoth();
    // The first time a query is asked for it is read and compiled by the fallback.
    for (const text of [
      query,
      '{ __typename }',
      '{ orders { nodes { id } } }',
      twoOperations,
      withDefault,
      mutation,
    ]) {
      await askBoth(both, { body: { query: text, variables: { id: 'a1' }, operationName: nameIn(text) } });
    }
  });
  afterAll(() => both[Symbol.asyncDispose]());

  const twoOperations =
    'query A($id: ID!) { order(id: $id) { id } } query B($id: ID!) { order(id: $id) { status } }';
  const withDefault = 'query Order($id: ID! = "a2") { order(id: $id) { id } }';
  const nameIn = (text: string) => (text === twoOperations ? 'B' : undefined);

  test.each<[what: string, sent: Sent]>([
    ['a query with variables', { body: known }],
    ['a mutation', { body: { query: mutation, variables: { id: 'a1' } } }],
    ['an operation selected by name', { body: { ...known, operationName: 'Order' } }],
    [
      'one of several operations',
      { body: { query: twoOperations, variables: { id: 'a1' }, operationName: 'B' } },
    ],
    ['no optional parameters', { body: { query: '{ __typename }' } }],
    ['null for optional parameters', { body: { ...known, operationName: null, extensions: null } }],
    ['the default value of a variable', { body: { query: withDefault } }],
    ['a query with its hash', { body: { ...known, extensions: persisted(hash) } }],
    ['a hash without the query', { body: { variables: { id: 'a1' }, extensions: persisted(hash) } }],
    [
      'an introspection field without a token',
      { body: { query: '{ __typename }' }, headers: { authorization: undefined } },
    ],
    ['a missing order', { body: { query, variables: { id: 'gone' } } }],
    ['a field that fails', { body: { query, variables: { id: 'fails' } } }],
    ['an invalid value in the REST response', { body: { query, variables: { id: 'broken' } } }],
    ['an invalid id', { body: { query, variables: { id: '../a1' } } }],
    ['null as data', { body: { query: '{ orders { nodes { id } } }' } }],
    [
      'the header x-upstream-cost',
      { body: { query: '{ __typename }' }, headers: { 'x-upstream-cost': '1' } },
    ],
    ['no request id', { body: { query: '{ __typename }' }, headers: { 'x-request-id': undefined } }],
    ...[
      undefined,
      '*/*',
      'application/json',
      'application/graphql-response+json',
      'application/graphql-response+json, application/json;q=0.9',
      'application/json, application/graphql-response+json',
      'Application/JSON ; q=0.5',
      'text/html, application/*, text/event-stream',
      'multipart/mixed, application/graphql-response+json',
    ].map((accept): [string, Sent] => [
      accept === undefined ? 'no Accept header' : `Accept: ${accept}`,
      { body: known, headers: { accept } },
    ]),
    ...[
      'application/json; charset=utf-8',
      'APPLICATION/JSON;charset="UTF-8"',
      'application/json; odata=verbose',
      'application/json; profile="https://example.com/a;b"; q=1',
    ].map((contentType): [string, Sent] => [
      `Content-Type: ${contentType}`,
      { body: known, headers: { 'content-type': contentType } },
    ]),
  ])('gives a known document the same response as the fallback: %s', async (_what, sent) => {
    const [fast, fallback] = await askBoth(both, sent);
    for (const { answer, lines } of [fast, fallback]) {
      if (sent.headers === undefined || !('x-request-id' in sent.headers)) continue;
      expect(answer.headers['x-request-id']).toMatch(/^[\w-]{8}-\w+$/);
      delete answer.headers['x-request-id'];
      expect(lines.map((line) => 'requestId' in line && delete line.requestId)).toEqual([true]);
    }
    expect(fast).toEqual(fallback);
    expect(fast.answer.status).toBe(200);
    expect([isFast(fast), isFast(fallback)]).toEqual([true, false]);
  });

  test.each<[what: string, sent: Sent]>([
    ['no token', { body: known, headers: { authorization: undefined } }],
    ['a token with the scheme Basic', { body: known, headers: { authorization: 'Basic token' } }],
    ['a body that is not JSON', { body: '{' }],
    ['no body', {}],
    ['a body that is not UTF-8', { body: Buffer.from([0x7b, 0xff, 0x7d]) }],
    ['a string as the body', { body: '"query"' }],
    ['a list as the body', { body: [known] }],
    ['no query', { body: { variables: {} } }],
    ['null as query', { body: { query: null } }],
    ['a query that is not a string', { body: { query: 7 } }],
    ['a query with a syntax error', { body: { query: '{' } }],
    ['a query with an unknown field', { body: { query: '{ nothing }' } }],
    ['an unknown operation', { body: { ...known, operationName: 'Other' } }],
    [
      'several operations without an operationName',
      { body: { query: twoOperations, variables: { id: 'a1' } } },
    ],
    ['an empty operationName', { body: { ...known, operationName: '' } }],
    ['an operationName that is not a string', { body: { ...known, operationName: 7 } }],
    ['an unknown parameter', { body: { ...known, more: 1 } }],
    ['a parameter with the name __proto__', { body: '{"query":"{ __typename }","__proto__":{}}' }],
    ['a list as variables', { body: { ...known, variables: [] } }],
    ['a string as variables', { body: { ...known, variables: '{}' } }],
    ['a string as extensions', { body: { ...known, extensions: '{}' } }],
    ['a hash that does not match the query', { body: { ...known, extensions: persisted('0'.repeat(64)) } }],
    ['an unknown hash', { body: { extensions: persisted('1'.repeat(64)) } }],
    ['a missing variable', { body: { query } }],
    ['a variable of the wrong type', { body: { query, variables: { id: {} } } }],
    ['variables over a limit', { body: { query, variables: { id: 'a1', more: Array(10_001).fill(0) } } }],
    ['a body over the limit', { body: { query, variables: { id: 'a'.repeat(1_100_000) } } }],
    ['an unsupported content type', { body: known, headers: { 'content-type': 'text/plain' } }],
    ['a compressed body', { body: known, headers: { 'content-encoding': 'gzip' } }],
    ['an unsupported Accept header', { body: known, headers: { accept: 'text/html' } }],
    ['an unknown path', { body: known, line: 'POST /graphqls HTTP/1.1' }],
    ['an unsupported method', { body: known, line: 'PUT /graphql HTTP/1.1' }],
  ])('leaves rejected requests to the fallback: %s', async (_what, sent) => {
    const [fast, fallback] = await askBoth(both, sent);
    expect(fast).toEqual(fallback);
    expect(fast.calls).toEqual([]);
    expect(isFast(fast)).toBe(false);
  });

  test.each<[what: string, sent: Sent]>([
    ['a query with a directive', { body: { query: '{ __typename @skip(if: false) }' } }],
    ['a URL with a query', { body: known, line: 'POST /graphql?a=1 HTTP/1.1' }],
    [
      'an Accept header with a charset',
      { body: known, headers: { accept: 'application/json; charset=utf-8' } },
    ],
    ['Expect: 100-continue', { body: known, headers: { expect: '100-continue' } }],
    ['HTTP/1.0', { body: known, line: 'POST /graphql HTTP/1.0' }],
  ])('gives unusual valid requests the same response as the fallback: %s', async (_what, sent) => {
    const [fast, fallback] = await askBoth(both, sent);
    expect(fast).toEqual(fallback);
    expect(fast.answer.status).toBe(200);
  });
});

function persisted(sha256Hash: string) {
  return { persistedQuery: { version: 1, sha256Hash } };
}

test.each<[what: string, environment: Record<string, string>, headers: Record<string, string>]>([
  ['an Origin in CORS_ORIGINS', { CORS_ORIGINS: 'https://shop.test' }, { origin: 'https://shop.test' }],
  ['an Origin not in CORS_ORIGINS', { CORS_ORIGINS: 'https://shop.test' }, { origin: 'https://other.test' }],
  ['no Origin header', { CORS_ORIGINS: 'https://shop.test' }, {}],
  ['a PUBLIC_URL with https', {}, {}],
  ['a private schema', { SCHEMA: 'private' }, {}],
  ['the cost in the response', { SHOW_COST: 'yes' }, {}],
])('the fast path sends the same headers as the fallback: %s', async (_what, environment, headers) => {
  await using both = await startBoth(environment);
  await askBoth(both, { body: { query: '{ __typename }' } });
  const [fast, fallback] = await askBoth(both, { body: { query: '{ __typename }' }, headers });
  expect(fast).toEqual(fallback);
  expect([isFast(fast), isFast(fallback)]).toEqual([true, false]);
});

test.each<[what: string, sent: Sent]>([
  ['a missing variable', { body: { query } }],
  ['a page size over the limit', { body: { query: '{ orders(first: 100000) { nodes { id } } }' } }],
  ['a missing token', { body: known, headers: { authorization: undefined } }],
])('a rejected operation ends its trace span exactly once: %s', async (_what, sent) => {
  const spans: string[] = [];
  const tracing = {
    calls: { onCallSent: () => undefined, onCallFinished() {} },
    begin: () => void spans.push('begin'),
    end: () => void spans.push('end'),
    close: async () => {},
  };
  const telemetry = await startTelemetry({ metrics: false, tracing: false }, silentLog);
  const server = await start(true, {}, { ...telemetry, tracing });
  try {
    // The second time, the fast path runs the document.
    for (let use = 0; use < 2; use += 1) await ask(server, sent);
    const begun = sent.headers === undefined ? ['begin'] : [];
    expect(spans).toEqual([...begun, 'end', ...begun, 'end']);
    expect(server.waybill.calls()).toEqual([]);
  } finally {
    await server.waybill[Symbol.asyncDispose]();
  }
});

test('a request is logged as aborted if the client disconnects while it sends the body', async () => {
  await using both = await startBoth();
  const told = both.servers.map(async ({ waybill, lines }) => {
    const { socket } = await openRaw(waybill);
    const [head] = bytesOf({ body: known });
    socket.write(head ?? '');
    socket.write('{"query"');
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
    await until(() => lines().length === 1);
    return lines();
  });
  const [fast, fallback] = await Promise.all(told);
  expect(fast).toEqual(fallback);
  expect(fast).toEqual([
    expect.objectContaining({ aborted: true, route: 'graphql', errors: { BAD_REQUEST: 1 } }),
  ]);
});

describe('requests that arrive together', () => {
  /** Keeps what is put off from being taken, until it is let go. */
  function holdRounds() {
    const held: (() => void)[] = [];
    const next = setImmediate;
    const defer = vi.spyOn(globalThis, 'setImmediate').mockImplementation(((step: () => void) => {
      if (step.name === 'runSteps') held.push(step);
      else next(step);
    }) as typeof setImmediate);
    return {
      held: () => held.length,
      letGo() {
        defer.mockRestore();
        for (const step of held) step();
      },
    };
  }

  interface AcceptedOperation {
    request: IncomingMessage;
    response: ServerResponse;
  }

  /** The requests that Node's server takes from now on. */
  function watchRequests() {
    const begun: AcceptedOperation[] = [];
    const note = (message: unknown) => void begun.push(message as AcceptedOperation);
    subscribe('http.server.request.start', note);
    return { begun, [Symbol.dispose]: () => void unsubscribe('http.server.request.start', note) };
  }

  test.each([
    ['run together at the end of the event-loop round', { query: '{ __typename }' }, 1],
    ['run immediately if they are large', { query: `{ __typename } #${' '.repeat(16_384)}` }, 0],
  ])('%s', async (_what, body, roundsHeld) => {
    await using both = await startBoth();
    const [fast] = both.servers;
    if (fast === undefined) throw new Error('Expected two servers');
    await askBoth(both, { body });
    using watched = watchRequests();
    const rounds = holdRounds();
    try {
      const sockets = await Promise.all([1, 2, 3].map(() => openRaw(fast.waybill)));
      for (const { socket } of sockets) for (const part of bytesOf({ body })) socket.write(part);
      await until(() => watched.begun.filter(({ request }) => request.readableEnded).length === 3);
      expect(rounds.held()).toBe(roundsHeld);
      rounds.letGo();
      const answers = await Promise.all(sockets.map(async ({ ended }) => parseRaw(await ended())));
      expect(answers.map(({ body: text }) => JSON.parse(text))).toEqual(
        Array(3).fill({ data: { __typename: 'Query' } }),
      );
    } finally {
      rounds.letGo();
    }
  });

  test('make no REST call if their client disconnects before they run', async () => {
    await using both = await startBoth({ GRAPHQL_REQUESTS_AT_ONCE: '1' });
    const [fast] = both.servers;
    if (fast === undefined) throw new Error('Expected two servers');
    await askBoth(both, { body: known });
    const linesBefore = fast.lines().length;
    const callsBefore = fast.waybill.calls().length;
    using watched = watchRequests();
    const rounds = holdRounds();
    try {
      const { socket } = await openRaw(fast.waybill);
      for (const part of bytesOf({ body: known })) socket.write(part);
      await until(() => rounds.held() === 1);
      socket.destroy();
      await until(() => watched.begun.every(({ response }) => response.closed));
    } finally {
      rounds.letGo();
    }
    await until(() => fast.lines().length === linesBefore + 1);
    expect(fast.lines().slice(linesBefore)).toEqual([expect.objectContaining({ aborted: true })]);
    expect(fast.waybill.calls().slice(callsBefore)).toEqual([]);
    expect((await ask(fast, { body: known })).answer.status).toBe(200);
  });
});
