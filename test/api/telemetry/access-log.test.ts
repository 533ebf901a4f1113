import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { recordedLog } from '../../fixtures/recorded-log.ts';
import { answerJson, until } from '../../fixtures/rest-service.ts';
import { startApp } from '../../fixtures/start-app.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const disposable of open.splice(0)) await disposable[Symbol.asyncDispose]();
});

/** A server and its log. */
async function start(level: 'info' | 'debug' | 'error' = 'info', environment: Record<string, string> = {}) {
  const kept = recordedLog(level);
  const waybill = await startWaybill(environment, { log: kept.log });
  open.push(waybill);
  return { ...kept, waybill };
}

/** Sends an operation, and answers the response with its header alone. */
async function post(
  { fetch, sandbox }: Waybill,
  body: Record<string, unknown> | string,
  headers: Record<string, string> = {},
) {
  const response = await fetch('/graphql', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${sandbox.tokens.first}`,
      'x-request-id': 'mine',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  await response.text();
  return { status: response.status, requestId: response.headers.get('x-request-id') };
}

const tenant: string = expect.stringMatching(/^[\w-]{12}$/);
const bytes: number = expect.any(Number);
const nothing = { calls: 0, cached: 0, savedByList: 0, bytes: 0, retries: 0 };

/** The line of an operation that ran. */
const ran = (fields: object) => ({
  level: 'info',
  requestId: 'mine',
  route: 'graphql',
  type: 'query',
  tenant,
  status: 200,
  ms: 'a time',
  restMs: 'a time',
  ...nothing,
  msg: 'a request ended',
  ...fields,
});

/** The line of a request that was refused before anything ran. */
const refused = (fields: object) => ({
  level: 'info',
  requestId: 'mine',
  route: 'graphql',
  ms: 'a time',
  msg: 'a request ended',
  ...fields,
});

/** The line of a query that needs only the schema. */
const ranWithoutRest = (fields: object) => refused({ type: 'query', status: 200, ...fields });

describe('the access log line of an operation', () => {
  test('reports the operation name, REST calls, cached reads and bytes', async () => {
    const { waybill, lines } = await start('info', { REFERENCE_DATA_MS: '60000' });
    const query = `query OrderPage {
      order(id: "ca2481") { shipment { status origin { id address { addressLines } } } }
    }`;
    const ask = async () => {
      const headers = {
        'content-type': 'application/json',
        authorization: `Bearer ${waybill.sandbox.tokens.first}`,
        'x-request-id': 'mine',
        'x-upstream-cost': '1',
      };
      const body = JSON.stringify({ query });
      const response = await waybill.fetch('/graphql', { method: 'POST', headers, body });
      return (await response.json()).extensions.upstream.requests;
    };
    const weight = (requests: { bytes: number }[]) => requests.reduce((sum, { bytes }) => sum + bytes, 0);
    const cold = weight(await ask());
    const warm = weight(await ask());
    expect(lines()).toEqual([
      ran({ operation: 'OrderPage', calls: 3, bytes: cold }),
      ran({ operation: 'OrderPage', calls: 2, cached: 1, bytes: warm }),
    ]);
    expect(cold).toBeGreaterThan(warm);
  });

  test('reports the number of calls that list pages have saved', async () => {
    const { waybill, lines } = await start();
    await post(waybill, { query: '{ orders(first: 10) { nodes { recipient { location { locality } } } } }' });
    expect(lines()).toEqual([ran({ calls: 3, savedByList: 10, bytes })]);
  });

  test('reports the operation name if the name has at most 64 characters', async () => {
    const { waybill, lines } = await start();
    const name = 'N'.repeat(64);
    await post(waybill, { query: '{ __typename }' });
    await post(waybill, { query: `query ${name} { __typename }` });
    await post(waybill, { query: `query ${name}N { __typename }` });
    await post(waybill, { query: 'query A { __typename } query B { __typename }', operationName: 'B' });
    expect(lines()).toEqual([
      ranWithoutRest({}),
      ranWithoutRest({ operation: name }),
      ranWithoutRest({}),
      ranWithoutRest({ operation: 'B' }),
    ]);
  });

  test('reports the operation type and a count per error code', async () => {
    const { waybill, lines } = await start();
    waybill.sandbox.faults.add({ path: '/v1/orders', kind: 'status', status: 403 });
    await post(waybill, {
      query: 'mutation Ship($input: ShipOrderInput!) { shipOrder(input: $input) { __typename } }',
      variables: { input: {} },
    });
    await post(waybill, {
      query: '{ a: nodes(ids: ["orders/x/y"]) { id } b: order(id: "") { id } organization { id } }',
    });
    await post(waybill, { query: '{ orders(first: 1) { nodes { id } } }' });
    expect(lines()).toEqual([
      ran({
        operation: 'Ship',
        type: 'mutation',
        status: 400,
        errors: { BAD_USER_INPUT: expect.any(Number) },
      }),
      ran({ calls: 1, bytes, errors: { BAD_USER_INPUT: 2 } }),
      ran({ calls: 1, bytes, errors: { FORBIDDEN: 1 }, failedCalls: ['GET /v1/orders 403'] }),
    ]);
  });

  test('is written for a GET request', async () => {
    const { waybill, lines } = await start();
    const response = await waybill.fetch('/graphql?query=query+Q{__typename}', {
      headers: { accept: 'application/json', 'x-request-id': 'mine' },
    });
    expect(await response.json()).toEqual({ data: { __typename: 'Query' } });
    expect(lines()).toEqual([ranWithoutRest({ operation: 'Q' })]);
  });

  test('is written even if the client disconnects', async () => {
    const { log, lines } = recordedLog();
    let answer = () => {};
    const waybill = await startApp(
      (request, response, body) => {
        answer = () => answerJson({ name: 'organization/a' })(request, response, body);
      },
      {},
      { log },
    );
    open.push(waybill);
    const client = new AbortController();
    const headers = { 'content-type': 'application/json', authorization: 'Bearer t', 'x-request-id': 'mine' };
    const body = JSON.stringify({ query: 'query Gone { organization { id } }' });
    const gone = waybill.fetch('/graphql', {
      method: 'POST',
      headers,
      body,
      signal: client.signal,
    });
    await until(() => waybill.service.requests.length === 1);
    client.abort();
    await expect(gone).rejects.toThrow('aborted');
    await until(() => lines().length === 1);
    expect(lines()).toEqual([
      ran({ operation: 'Gone', calls: 1, aborted: true, errors: { REQUEST_ABORTED: 1 } }),
    ]);
    answer();
  });
});

describe('a rejected request', () => {
  test.each([
    [
      'no access token',
      { query: 'query Q { organization { id } }' },
      401,
      { UNAUTHENTICATED: 1 },
      {
        authorization: '',
      },
      { operation: 'Q', type: 'query' },
    ],
    ['a syntax error', { query: '{ order(' }, 200, { GRAPHQL_PARSE_FAILED: 1 }, {}, {}],
    ['an unknown field', { query: '{ a b }' }, 200, { GRAPHQL_VALIDATION_FAILED: 2 }, {}, {}],
    ['no document', {}, 400, { BAD_REQUEST: 1 }, {}, {}],
    ['a body that is not JSON', '{', 400, { BAD_REQUEST: 1 }, {}, {}],
    [
      'a body that is XML',
      '<a/>',
      415,
      { UNSUPPORTED_MEDIA_TYPE: 1 },
      { 'content-type': 'application/xml' },
      {},
    ],
  ])(
    'is logged with its error codes and makes no REST call: %s',
    async (_what, body, status, errors, headers, fields) => {
      const { waybill, lines } = await start();
      expect(await post(waybill, body, headers)).toEqual({ status, requestId: 'mine' });
      expect(lines()).toEqual([refused({ status, ...fields, errors })]);
      expect(waybill.sandbox.requests.lines()).toEqual([]);
    },
  );
});

describe('the access log line of a label', () => {
  const label = { ...ran({}), route: 'label', calls: 1 };
  const fetchLabel = async (waybill: Waybill, authorization = `Bearer ${waybill.sandbox.tokens.first}`) => {
    const headers = { authorization, 'x-request-id': 'mine' };
    const response = await waybill.fetch('/labels/ca2036.pdf', { headers });
    await response.bytes();
    return response.headers.get('x-request-id');
  };
  const { type: _, ...line } = label;

  test('does not name the shipment', async () => {
    const { waybill, lines } = await start();
    expect(await fetchLabel(waybill)).toBe('mine');
    expect(lines()).toEqual([line]);
  });

  test('reports the error code', async () => {
    const { waybill, lines } = await start();
    waybill.sandbox.faults.add({ kind: 'status', status: 503, body: 'no' });
    expect(await fetchLabel(waybill)).toBe('mine');
    expect(await fetchLabel(waybill, '')).toBe('mine');
    expect(lines()).toEqual([
      {
        ...line,
        status: 503,
        bytes: 2,
        errors: { UPSTREAM_UNAVAILABLE: 1 },
        failedCalls: ['GET /v1/shipments/{id}/label 503'],
      },
      refused({ route: 'label', status: 401, errors: { UNAUTHENTICATED: 1 } }),
    ]);
  });
});

describe('a request id', () => {
  test.each([
    ['one letter', 'a'],
    ['each kind of character', 'A-z_0.9'],
    ['128 characters', 'x'.repeat(128)],
  ])('is taken from the client if valid: %s', async (_what, requestId) => {
    const { waybill, lines } = await start();
    const answer = await post(waybill, { query: '{ __typename }' }, { 'x-request-id': requestId });
    expect(answer.requestId).toBe(requestId);
    expect(lines()).toEqual([ranWithoutRest({ requestId })]);
  });

  test.each([
    ['an empty string', ''],
    ['129 characters', 'x'.repeat(129)],
    ['a blank', 'a b'],
    ['a comma', 'a,b'],
    ['a quotation mark', 'a"b'],
    ['an accent', 'é'],
    ['angle brackets', '<a>'],
    ['a phone number', '+573104567890'],
  ])('is generated if the client sends an invalid request id: %s', async (_what, given) => {
    const { waybill, lines } = await start();
    const answer = await post(waybill, { query: '{ __typename }' }, { 'x-request-id': given });
    expect(answer.requestId).toMatch(/^[\w-]{8}-1$/);
    expect(lines()).toEqual([ranWithoutRest({ requestId: answer.requestId })]);
  });

  test('is unique across requests and servers', async () => {
    const ids = new Set<string | null>();
    for (const { waybill } of [await start(), await start()]) {
      for (const _ of Array(40)) {
        ids.add((await post(waybill, { query: '{ __typename }' }, { 'x-request-id': '' })).requestId);
      }
    }
    expect(ids.size).toBe(80);
  });

  test.each([
    ['GET', '/', 302, 'text/html'],
    ['GET', '/graphql', 200, 'text/html'],
    ['GET', '/graphiql/none.js', 404, '*/*'],
    ['GET', '/nothing', 404, '*/*'],
    ['PUT', '/graphql', 405, '*/*'],
    ['POST', '/labels/ca1.pdf', 405, '*/*'],
    ['GET', '/health', 404, '*/*'],
  ])('is in the response to %s %s', async (method, path, status, accept) => {
    const { waybill } = await start();
    const response = await waybill.fetch(path, { method, headers: { accept, 'x-request-id': 'mine' } });
    expect([response.status, response.headers.get('x-request-id')]).toEqual([status, 'mine']);
  });

  test('is in one response header even if the request has two x-request-id headers', async () => {
    const { waybill, lines } = await start();
    const body = '{"query":"{ __typename }"}';
    const socket = connect(Number(waybill.url.port), '127.0.0.1');
    socket.write(
      `POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\nconnection: close\r\n` +
        `x-request-id: one\r\nx-request-id: two\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    const answer = await text(socket);
    const [requestId] = lines().map((line) => String(line.requestId));
    expect(requestId).toMatch(/^[\w-]{8}-1$/);
    expect(answer.match(/x-request-id: .*/gi)).toEqual([`x-request-id: ${requestId}`]);
  });
});

describe('the log level', () => {
  test('"debug" logs each REST call and each request for an unknown path', async () => {
    const { waybill, lines } = await start('debug');
    await post(waybill, { query: '{ order(id: "ca2481") { shipment { status } } }' });
    await waybill.fetch('/nothing?search=huila', { headers: { 'x-request-id': 'other' } });
    const call = (path: string) => ({
      level: 'debug',
      requestId: 'mine',
      method: 'GET',
      path,
      status: 200,
      startMs: 'a time',
      durationMs: 'a time',
      bytes,
      retries: 0,
      msg: 'called REST',
    });
    expect(lines()).toEqual([
      ran({ calls: 2, bytes }),
      call('/v1/orders/{id}'),
      call('/v1/shipments/{id}'),
      {
        level: 'debug',
        requestId: 'other',
        status: 404,
        ms: 'a time',
        errors: { BAD_REQUEST: 1 },
        msg: 'a request ended',
      },
    ]);
  });

  test('"info" logs no request for the GraphiQL page or an unknown path', async () => {
    const { waybill, lines } = await start();
    await waybill.fetch('/nothing');
    await waybill.fetch('/graphql', { headers: { accept: 'text/html' } });
    expect(lines()).toEqual([]);
  });

  test('"error" logs no request that succeeds or is rejected', async () => {
    const { waybill, lines } = await start('error');
    await post(waybill, { query: '{ order(' });
    await post(waybill, { query: '{ __typename }' });
    expect(lines()).toEqual([]);
  });
});
