import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { BadInputError } from '../../../src/rest/errors.ts';
import { silentLog } from '../../../src/telemetry/log.ts';
import { startTelemetry } from '../../../src/telemetry/telemetry.ts';
import { memoryStore } from '../../fixtures/memory-store.ts';
import { order } from '../../fixtures/order-to-create.ts';
import { startApp } from '../../fixtures/start-app.ts';
import { type StartOptions, startServer } from '../../fixtures/start-server.ts';
import { type Answer, startWaybill } from '../../harness.ts';

const waybill = await startWaybill();
const { ask, sandbox } = waybill;

afterEach(() => sandbox.faults.clear());
afterAll(() => waybill[Symbol.asyncDispose]());

/** All that an error may hold, and all that its `extensions` may. */
const errorKeys = ['message', 'locations', 'path', 'extensions'];
const extensionKeys = ['code', 'retryable', 'retryAfterMs', 'upstreamStatus', 'requestId', 'fields'];

/** The one error of an answer, once it is seen to hold nothing that is not meant for a client. */
function onlyError({ errors }: Answer<unknown>) {
  expect(errors).toHaveLength(1);
  const [error] = errors ?? [];
  if (error === undefined) throw new Error('there is no error');
  expect(errorKeys).toEqual(expect.arrayContaining(Object.keys(error)));
  expect(extensionKeys).toEqual(expect.arrayContaining(Object.keys(error.extensions)));
  const text = JSON.stringify(error);
  for (const secret of [sandbox.tokens.first, '?', '<', '    at ', '.ts:', '.js:', 'Bearer', 'stack']) {
    expect(text).not.toContain(secret);
  }
  return error;
}

const list = '{ orders(first: 1, search: "Lucía") { nodes { id } } }';
const lookup = '{ organization { id } origins(first: 1) { nodes { id } } }';

describe('an error status of a read', () => {
  // A status 400 before the first success tells of a wrong setting.
  beforeAll(() => ask(list));

  test.each([
    [302, 'UPSTREAM_INVALID_RESPONSE', false],
    [400, 'BAD_USER_INPUT', false],
    [401, 'UNAUTHENTICATED', false],
    [403, 'FORBIDDEN', false],
    [404, 'NOT_FOUND', false],
    [409, 'CONFLICT', false],
    [410, 'NOT_FOUND', false],
    [412, 'CONFLICT', false],
    [422, 'BAD_USER_INPUT', false],
    [429, 'RATE_LIMITED', true],
    [500, 'UPSTREAM_ERROR', false],
    [502, 'UPSTREAM_UNAVAILABLE', true],
    [503, 'UPSTREAM_UNAVAILABLE', true],
    [504, 'UPSTREAM_TIMEOUT', true],
  ])('%i becomes %s', async (status, code, retryable) => {
    sandbox.faults.add({
      path: '/v1/orders',
      kind: 'status',
      status,
      headers: { location: 'http://127.0.0.1:1/' },
    });
    const answer = await ask(list);
    expect(answer).toMatchObject({
      status: 200,
      data: { orders: null },
      calls: ['GET /v1/orders?pageSize=1&search=Lucía'],
    });
    expect(onlyError(answer)).toEqual({
      message: `GET /v1/orders returned ${status}`,
      locations: [{ line: 1, column: 3 }],
      path: ['orders'],
      extensions: { code, retryable, upstreamStatus: status },
    });
  });

  test.each([404, 410])('%i for a single record becomes null without an error', async (status) => {
    sandbox.faults.add({ path: '/v1/organizations/mine', kind: 'status', status });
    const { data, errors } = await ask(lookup);
    expect({ data, errors }).toEqual({
      data: { organization: null, origins: { nodes: [{ id: 'origins/ca1' }] } },
      errors: undefined,
    });
  });

  test('does not affect sibling fields', async () => {
    sandbox.faults.add({ path: '/v1/organizations/mine', kind: 'status', status: 500 });
    const answer = await ask(lookup);
    expect(answer.data).toEqual({ organization: null, origins: { nodes: [{ id: 'origins/ca1' }] } });
    expect(onlyError(answer)).toMatchObject({
      path: ['organization'],
      extensions: { code: 'UPSTREAM_ERROR' },
    });
  });

  test.each([
    ['7', 7_000],
    ['0', 0],
    ['3600', 3_600_000],
    ['Sat, 01 Jan 2000 00:00:00 GMT', 0],
    ['soon', undefined],
    ['-1', undefined],
    ['1.5', 1_500],
  ])('429 with Retry-After "%s" becomes an error with retryAfterMs %s', async (header, retryAfterMs) => {
    sandbox.faults.add({ kind: 'status', status: 429, headers: { 'retry-after': header } });
    expect(onlyError(await ask(list)).extensions).toEqual({
      code: 'RATE_LIMITED',
      retryable: true,
      upstreamStatus: 429,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
  });

  test.each([400, 422])('%i becomes BAD_USER_INPUT with the field errors of the body', async (status) => {
    const details = [
      { field: 'pageSize', message: 'must be at most 1000' },
      { field: 'search', message: 'is too long' },
    ];
    const body = { error: { message: 'The request is invalid', details } };
    sandbox.faults.add({ kind: 'status', status, body });
    expect(onlyError(await ask(list))).toMatchObject({
      message: `GET /v1/orders returned ${status}: The request is invalid`,
      extensions: {
        code: 'BAD_USER_INPUT',
        retryable: false,
        upstreamStatus: status,
        fields: [
          { path: 'pageSize', message: 'must be at most 1000' },
          { path: 'search', message: 'is too long' },
        ],
      },
    });
  });

  test.each([
    ['HTML', '<html><body><h1>nginx</h1></body></html>', 'text/html', ''],
    ['plain text', 'Error: no\n    at app.js:1:1', 'text/plain', ''],
    ['no content', '', 'application/json', ''],
    ['JSON of an unknown structure', '[{"stack":"x"}]', 'application/json', ''],
    [
      'a stack trace in JSON',
      '{"message":"boom\\n    at app.js:1:1","stack":"x"}',
      'application/json',
      ': boom',
    ],
    ['a URL', '{"message":"no https://h.example/x"}', 'application/json', ': no <URL>'],
    [
      'an IP address',
      '{"message":"no 10.0.0.1:80 and no ::1"}',
      'application/json',
      ': no <IP address>:80 and no <IP address>',
    ],
    [
      'the host of the REST service',
      '{"message":"127.0.0.1 is busy"}',
      'application/json',
      ': <IP address> is busy',
    ],
    ['the access token', '{"message":"no sandbox-cafe-andino"}', 'application/json', ': no <access token>'],
  ])('shows clients a safe message if the body has %s', async (_what, body, contentType, told) => {
    sandbox.faults.add({ kind: 'status', status: 409, body, contentType });
    const { errors } = await ask(list);
    expect(errors?.map(({ message, extensions }) => ({ message, extensions }))).toEqual([
      {
        message: `GET /v1/orders returned 409${told}`,
        extensions: { code: 'CONFLICT', retryable: false, upstreamStatus: 409 },
      },
    ]);
  });
});

describe('the status of a write', () => {
  const record = `mutation ($input: CreateOrderInput!) {
    createOrder(input: $input) { __typename ... on UserError { message } }
  }`;

  test.each([
    [302, 'UPSTREAM_INVALID_RESPONSE', false],
    [429, 'RATE_LIMITED', true],
    [500, 'UPSTREAM_ERROR', false],
    // A gateway's word, which says nothing for certain of what became of the write.
    [502, 'UPSTREAM_UNAVAILABLE', false],
    [503, 'UPSTREAM_UNAVAILABLE', false],
    [504, 'UPSTREAM_ERROR', false],
  ])('%i becomes %s with retryable: %s', async (status, code, retryable) => {
    sandbox.faults.add({ path: '/v1/orders', kind: 'status', status });
    const answer = await ask(record, { input: order });
    expect(answer).toMatchObject({ status: 200, data: { createOrder: null }, calls: ['POST /v1/orders'] });
    expect(onlyError(answer)).toMatchObject({
      message: `POST /v1/orders returned ${status}`,
      path: ['createOrder'],
      extensions: { code, retryable, upstreamStatus: status },
    });
  });

  test('2xx with invalid JSON becomes OutcomeUnknown', async () => {
    sandbox.faults.add({ path: '/v1/orders', kind: 'cut-json' });
    const { data, errors, calls } = await ask(record, { input: order });
    expect({ data, errors, calls }).toEqual({
      data: { createOrder: { __typename: 'OutcomeUnknown', message: expect.any(String) } },
      errors: undefined,
      calls: ['POST /v1/orders'],
    });
  });
});

describe('a failed read', () => {
  test('reports a missing response as UPSTREAM_TIMEOUT', async () => {
    await using impatient = await startWaybill({ UPSTREAM_TIMEOUT_MS: '100' });
    impatient.sandbox.faults.add({ path: '/v1/orders', kind: 'hang' });
    const start = performance.now();
    const answer = await impatient.ask(list);
    // Far before the time limit of the operation.
    expect(performance.now() - start).toBeLessThan(25_000);
    expect(onlyError(answer)).toMatchObject({
      message: 'GET /v1/orders was not answered within 100 ms',
      path: ['orders'],
      extensions: { code: 'UPSTREAM_TIMEOUT', retryable: true },
    });
  });

  test('reports a refused connection as UPSTREAM_UNAVAILABLE', async () => {
    await using alone = await startWaybill();
    await alone.sandbox.close();
    expect(onlyError(await alone.ask(list))).toMatchObject({
      message: 'GET /v1/orders got no response (ECONNREFUSED)',
      extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: true },
    });
  });

  test.each([
    ['reset', 'UPSTREAM_UNAVAILABLE', true],
    ['reset-in-body', 'UPSTREAM_UNAVAILABLE', true],
    ['short', 'UPSTREAM_UNAVAILABLE', true],
    ['cut-json', 'UPSTREAM_INVALID_RESPONSE', false],
  ] as const)('reports the fault "%s" as %s', async (kind, code, retryable) => {
    sandbox.faults.add({ path: '/v1/orders', kind });
    expect(onlyError(await ask(list))).toMatchObject({ path: ['orders'], extensions: { code, retryable } });
  });

  test.each(['null', '[]', '{}', '{"orders":{}}', '"orders"', '<html></html>', ''])(
    'reports the invalid list body %j as UPSTREAM_INVALID_RESPONSE',
    async (body) => {
      sandbox.faults.add({ path: '/v1/orders', kind: 'status', status: 200, body });
      const { extensions } = onlyError(await ask(list));
      expect(extensions).toEqual({ code: 'UPSTREAM_INVALID_RESPONSE', retryable: false });
    },
  );
});

describe('an internal error', async () => {
  class Leak extends TypeError {
    // Not to be told.
    readonly extensions = { secret: 'connection string', http: { status: 418 } };
  }
  const leak = () => new Leak('secret of src/app.ts:1');
  const telemetry = await startTelemetry({ metrics: false, tracing: false }, silentLog);
  const throwing = {
    check() {
      throw leak();
    },
  };
  const createWithKey =
    'mutation ($input: CreateOrderInput!) { __typename createOrder(input: $input) { __typename } }';

  test.each<[string, string, string, Partial<StartOptions>]>([
    [
      'a thrown exception',
      'organization',
      '{ __typename organization { id } }',
      { telemetry: { ...telemetry, drift: throwing } },
    ],
    [
      'a rejected promise',
      'createOrder',
      createWithKey,
      { keyStore: { ...memoryStore, claim: () => Promise.reject(leak()) } },
    ],
  ])('is masked for the client and reported: %s', async (_what, field, query, parts) => {
    const reported: unknown[][] = [];
    const report = (...told: unknown[]) => reported.push(told);
    await using server = await startServer(new URL(sandbox.url), {}, { ...parts, report });
    const response = await server.fetch('/graphql', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${sandbox.tokens.first}`,
        'x-request-id': 'request-7',
      },
      body: JSON.stringify({ query, variables: { input: { ...order, idempotencyKey: 'a key' } } }),
    });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      data: { __typename: expect.any(String), [field]: null },
      errors: [
        {
          message: 'Something went wrong in this server.',
          locations: [{ line: 1, column: query.indexOf(field) + 1 }],
          path: [field],
          extensions: { code: 'INTERNAL_SERVER_ERROR', retryable: false, requestId: 'request-7' },
        },
      ],
    });
    expect(reported).toEqual([
      [
        expect.objectContaining({
          name: 'TypeError',
          message: expect.stringContaining('secret of src/app.ts:1'),
        }),
        'request-7',
      ],
    ]);
  });
});

test('only unexpected errors have a stack trace', () => {
  expect(new BadInputError('No such id.').stack).toBe('BadInputError: No such id.');
  expect(new Error('another').stack).toMatch(/^ +at /m);
});

test('errors are sorted by path, whichever call fails first', async () => {
  await using waybill = await startApp(async ({ url = '' }, response) => {
    await sleep(url.endsWith('a') ? 40 : 0);
    response.writeHead(500).end();
  });
  const { errors } = await waybill.ask(
    '{ a: order(id: "a") { notes } b: order(id: "b") { notes } c: nodes(ids: ["orders/c", "orders/a"]) { id } }',
  );
  expect(errors?.map(({ path }) => path)).toEqual(['a', 'b', 'c.0', 'c.1']);
});
