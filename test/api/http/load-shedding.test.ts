import type { ServerResponse } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { openRaw } from '../../fixtures/raw-http.ts';
import { until } from '../../fixtures/rest-service.ts';
import { startApp } from '../../fixtures/start-app.ts';

const held: ServerResponse[] = [];
// Of four requests, one token has two, and tokens that the REST service has not accepted have three.
const waybill = await startApp(
  (request, response) =>
    request.url === '/v1/orders/accept' ? response.end('{"name":"orders/accept"}') : held.push(response),
  { GRAPHQL_REQUESTS_AT_ONCE: '4' },
  { labelRequestsAtOnce: 2 },
);
const authorization = 'Bearer token';
let tokens = 0;

afterAll(() => waybill[Symbol.asyncDispose]());

const query = (id: string) => JSON.stringify({ query: `{ order(id: "${id}") { id } }` });
/** Sends a query, by default with a token of its own. */
const post = (
  id: string,
  { signal, token = `token-${++tokens}` }: { signal?: AbortSignal; token?: string } = {},
) =>
  fetch(new URL('/graphql', waybill.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: query(id),
    ...(signal && { signal }),
  });
const label = () => fetch(new URL('/labels/a.pdf', waybill.url), { headers: { authorization } });

async function overloaded(response: Response, message: string) {
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await response.json()).toEqual({
    errors: [{ message, extensions: { code: 'OVERLOADED', retryable: true, retryAfterMs: 1_000 } }],
  });
}

const called = () =>
  waybill.service
    .lines()
    .filter((line) => line !== 'GET /v1/orders/accept')
    .sort();

test('unknown tokens are limited to three quarters of the concurrent requests', async () => {
  for (const token of ['ana', 'eva']) await (await post('accept', { token })).text();
  const gone = new AbortController();
  const unknown = [post('a'), post('b'), post('c', { signal: gone.signal })];
  await until(() => held.length === 3);
  const tooMany = (scope: string) =>
    `The server is at its limit of GraphQL requests for ${scope}. Retry later.`;
  await overloaded(await post('d'), tooMany('tokens that the REST service has not accepted yet'));
  expect(called()).toEqual(['a', 'b', 'c'].map((id) => `GET /v1/orders/${id}`));
  const accepted = post('e', { token: 'ana' });
  await until(() => held.length === 4);
  await overloaded(await post('f', { token: 'eva' }), tooMany('all tokens'));

  // The routes are apart from each other, and health is never refused.
  const labelled = label();
  await until(() => held.length === 5);
  for (const path of ['/health/live', '/health/ready']) {
    expect((await fetch(new URL(path, waybill.url))).status).toBe(200);
  }
  expect(called()).toHaveLength(5);

  // A client that leaves makes room, and so does a response that is written.
  gone.abort();
  await expect(unknown.pop()).rejects.toThrow('aborted');
  await until(() => held.some(({ req, closed }) => req.url === '/v1/orders/c' && closed));
  const next = [post('g')];
  await until(() => held.length === 6);
  held.find((response) => response.req.url === '/v1/orders/e')?.end('{"name":"orders/e"}');
  expect(await (await accepted).json()).toEqual({ data: { order: { id: 'orders/e' } } });
  next.push(post('h', { token: 'eva' }));
  await until(() => held.length === 7);
  for (const response of held) response.end('{"name":"orders/none"}');
  const statuses = (await Promise.all([...unknown, ...next])).map(({ status }) => status);
  expect([statuses, (await labelled).status]).toEqual([[200, 200, 200, 200], 502]);
});

test('a pipelined request counts as concurrent only until its response is ready', async () => {
  const before = held.length;
  const client = await openRaw(waybill);
  // The responses to the others are written, and none of them can be sent before the first one.
  client.socket.write(pipelined(query('slow')) + pipelined(query('accept')));
  await until(() => held.length === before + 1);
  await new Promise((resolve) => setTimeout(resolve, 100));
  // Two requests of the same token would be refused while both count.
  const next = post('next', { token: 'token' });
  await until(() => held.length === before + 2);
  expect(client.received()).toBe('');
  for (const response of held) response.end('{"name":"orders/none"}');
  expect((await next).status).toBe(200);
  client.socket.destroy();
});

const pipelined = (body: string) =>
  `POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\nauthorization: ${authorization}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

test.each([
  // One token has two of the four requests.
  ['valid queries', query('slow'), 2],
  ['invalid queries', JSON.stringify({ query: '{ nope }' }), 1],
  ['queries without a REST call', JSON.stringify({ query: '{ __typename }' }), 1],
])('pipelined requests of one token do not block other requests: %s', async (_what, body, calls) => {
  const before = held.length;
  const client = await openRaw(waybill);
  // The first one waits for REST, and all other responses wait behind its response.
  client.socket.write(pipelined(query('slow')) + pipelined(body).repeat(5));
  await until(() => held.length === before + calls);
  const schema = await fetch(new URL('/graphql?query={__typename}', waybill.url), {
    headers: { accept: 'application/json', 'graphql-require-preflight': 'yes' },
  });
  expect(schema.status).toBe(200);
  const other = post('f');
  await until(() => held.length === before + calls + 1);
  for (const response of held) response.end('{"name":"orders/none"}');
  expect((await other).status).toBe(200);
  await until(() => client.received().match(/HTTP\/1\.1 \d/g)?.length === 6);
  client.socket.destroy();
});

test('pipelined label requests without a token do not block other label requests', async () => {
  const before = held.length;
  const client = await openRaw(waybill);
  const head = 'GET /labels/a.pdf HTTP/1.1\r\nhost: a\r\n';
  client.socket.write(pipelined(query('slow')) + `${head}\r\n`.repeat(5));
  await until(() => held.length === before + 1);
  const labelled = label();
  await until(() => held.length === before + 2);
  for (const response of held) response.end('{"name":"orders/none"}');
  expect((await labelled).status).toBe(502);
  client.socket.destroy();
});
