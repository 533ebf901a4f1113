import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { multipart, sse, watchLive } from '../../fixtures/live-client.ts';
import { openRaw } from '../../fixtures/raw-http.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

let waybill: Waybill;
beforeAll(async () => {
  waybill = await startWaybill({ LIVE_INTERVAL_MS: '30', MAX_CONNECTIONS: '40' });
});
afterAll(() => waybill[Symbol.asyncDispose]());

const order = 'subscription { order(id: "ca2496") { id } }';

const refusals: [what: string, request: object, code: string, message: RegExp][] = [
  ['a syntax error', { query: 'subscription {' }, 'GRAPHQL_PARSE_FAILED', /Syntax Error/],
  ['an unknown field', { query: 'subscription { ordr { id } }' }, 'GRAPHQL_VALIDATION_FAILED', /ordr/],
  [
    'two root fields',
    { query: 'subscription { organization { id } order(id: "a") { id } }' },
    'GRAPHQL_VALIDATION_FAILED',
    /must select only one top level field/,
  ],
  ['no token', { query: order, authorization: null }, 'UNAUTHENTICATED', /it is missing/],
  [
    'a filter that needs a scan',
    { query: 'subscription { shipments(status: [WITH_ERROR]) { nodes { id } } }' },
    'BAD_USER_INPUT',
    /^A subscription cannot use "status" of Subscription.shipments, because this argument needs a scan of the list. Query the list once/,
  ],
  [
    'a variable of a filter that needs a scan',
    {
      query: 'subscription ($since: DateTime) { orders(updatedSince: $since) { nodes { id } } }',
      variables: { since: '2026-11-01T00:00:00Z' },
    },
    'BAD_USER_INPUT',
    /"updatedSince" of Subscription.orders/,
  ],
  [
    'too many objects',
    {
      query:
        'subscription { orders(first: 1000) { nodes { id recipient { orders(first: 100) { nodes { id } } } } } }',
    },
    'GRAPHQL_LIMIT_EXCEEDED',
    /The limit "nodes" allows/,
  ],
  [
    'a page that is too large',
    { query: 'subscription { orders(first: 1001) { nodes { id } } }' },
    'GRAPHQL_LIMIT_EXCEEDED',
    /Expected "first" of Subscription.orders to be from 0 to 1000/,
  ],
  [
    'a variable of a wrong type',
    { query: 'subscription ($id: ID!) { order(id: $id) { id } }', variables: { id: null } },
    'BAD_USER_INPUT',
    /\$id/,
  ],
  [
    'an unknown name of the operation',
    { query: order, operationName: 'X' },
    'BAD_REQUEST',
    /no operation with the given name/,
  ],
  ['no document', { variables: {} }, 'BAD_REQUEST', /no "query"/],
  ['an unknown parameter', { query: order, more: 1 }, 'BAD_REQUEST', /The body must be a JSON object/],
  [
    'an unknown hash',
    { extensions: { persistedQuery: { version: 1, sha256Hash: '0'.repeat(64) } } },
    'PERSISTED_QUERY_NOT_FOUND',
    /PersistedQueryNotFound/,
  ],
];

describe.each([
  ['SSE', sse],
  ['multipart', multipart],
])('a refused stream by %s', (_name, accept) => {
  test.each(refusals)(
    'gets status 200, one error event and the end of the stream: %s',
    async (_what, request, code, message) => {
      waybill.sandbox.requests.clear();
      const client = await watchLive(waybill.url, { accept, query: '', ...request });
      expect(await client.ended()).toBe('complete');
      expect(client.status).toBe(200);
      expect(client.events).toEqual([
        {
          errors: [
            expect.objectContaining({
              message: expect.stringMatching(message),
              extensions: expect.objectContaining({ code }),
            }),
          ],
        },
      ]);
      expect(waybill.sandbox.requests.lines()).toEqual([]);
    },
  );
});

test('a stream request with a malformed body gets one error event, and then ends', async () => {
  const response = await waybill.fetch('/graphql', {
    method: 'POST',
    headers: { accept: sse, 'content-type': 'application/json', authorization: waybill.authorization },
    body: '{"query":',
  });
  expect(response.status).toBe(200);
  expect(await response.text()).toMatch(
    /event: next\ndata: \{"errors":.*"BAD_REQUEST".*\n\nevent: complete\n/,
  );
});

test.each([
  ['application/json', 'POST', 406, 'The response to a subscription is a stream'],
  ['application/graphql-response+json', 'POST', 406, 'The response to a subscription is a stream'],
  ['application/json', 'GET', 405, 'Send a subscription by POST, with its document in a JSON body.'],
  ['text/event-stream', 'GET', 405, 'Send a subscription by POST, with its document in a JSON body.'],
])(
  'a subscription with Accept: %s by %s gets the status %i and an explanation',
  async (accept, method, status, message) => {
    const path = method === 'GET' ? `/graphql?query=${encodeURIComponent(order)}` : '/graphql';
    for (let count = 0; count < 2; count += 1) {
      const response = await waybill.fetch(path, {
        method,
        headers: {
          accept,
          'graphql-require-preflight': '1',
          authorization: waybill.authorization,
          ...(method === 'POST' && { 'content-type': 'application/json' }),
        },
        ...(method === 'POST' && { body: JSON.stringify({ query: order }) }),
      });
      const { errors } = await response.json();
      expect([response.status, errors[0].message]).toEqual([status, expect.stringContaining(message)]);
    }
  },
);

test('a stream is refused if an earlier response of the connection is pending', async () => {
  const { socket, received } = await openRaw(waybill);
  const request = (query: string) => {
    const body = JSON.stringify({ query });
    return `POST /graphql HTTP/1.1\r\nhost: x\r\naccept: text/event-stream, application/json\r\nauthorization: ${waybill.authorization}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  };
  const end = waybill.sandbox.faults.add({ kind: 'delay', path: '/v1/organizations/mine', delayMs: 200 });
  socket.write(request('{ organization { id } }') + request(order));
  await expect.poll(received, { timeout: 90_000 }).toContain('waits for an earlier response');
  end();
  socket.destroy();
});

test.each([
  [
    'variables that are nested too deeply',
    `{"a":${'['.repeat(40_000)}${']'.repeat(40_000)}}`,
    'nested too deeply',
  ],
  ['variables of more than 65,536 characters', `{"a":"${'x'.repeat(65_536)}"}`, 'at most 65536 characters'],
])('%s are refused before the stream is open', async (_title, variables, message) => {
  waybill.sandbox.requests.clear();
  const response = await waybill.fetch('/graphql', {
    method: 'POST',
    headers: {
      authorization: waybill.authorization,
      'content-type': 'application/json',
      accept: 'text/event-stream',
    },
    body: `{"query":${JSON.stringify(order)},"variables":${variables}}`,
  });
  expect(response.status).toBe(200);
  expect(await response.text()).toContain(message);
  expect(waybill.sandbox.requests.lines()).toEqual([]);
});

// The last test: its streams may still make a call when it has ended.
test('a stream beyond the limit of its token gets an error that names the limit', async () => {
  const clients = [];
  // A quarter of MAX_CONNECTIONS.
  for (let count = 0; count < 10; count += 1) clients.push(await watchLive(waybill.url, { query: order }));
  await clients.at(-1)?.event(1);
  const refused = await watchLive(waybill.url, { query: order });
  expect(await refused.ended()).toBe('complete');
  expect(refused.events).toEqual([
    {
      errors: [
        {
          message: 'The server is at its limit of 10 streams for this token. Retry later.',
          extensions: { code: 'OVERLOADED', retryable: true, retryAfterMs: 1000 },
        },
      ],
    },
  ]);
  for (const client of clients) client.close();
  // The places are free again when the connections are closed.
  await expect
    .poll(
      async () => {
        const client = await watchLive(waybill.url, { query: order });
        await client.event(1);
        client.close();
        return client.events;
      },
      { timeout: 90_000 },
    )
    .toEqual([{ data: { order: { id: 'orders/ca2496' } } }]);
});
