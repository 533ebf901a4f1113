import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Listener, listen } from '../../fixtures/listen.ts';
import { openRaw } from '../../fixtures/raw-http.ts';
import { until } from '../../fixtures/rest-service.ts';
import { startApp } from '../../fixtures/start-app.ts';

const held: ServerResponse[] = [];
const waybill = await startApp(
  (_request, response) => held.push(response),
  { GRAPHQL_REQUESTS_AT_ONCE: '2' },
  { labelRequestsAtOnce: 1 },
);
const authorization = 'Bearer token';
let tokens = 0;

let listener: Listener;
beforeAll(async () => {
  listener = await listen(waybill.app, '127.0.0.1', 0);
});
afterAll(async () => {
  await listener.close();
  await waybill[Symbol.asyncDispose]();
});

const query = (id: string) => JSON.stringify({ query: `{ order(id: "${id}") { id } }` });
const post = (id: string, signal?: AbortSignal) =>
  fetch(new URL('/graphql', listener.url), {
    method: 'POST',
    // Each with a token of its own, because one token has half of the requests.
    headers: { authorization: `Bearer token-${++tokens}`, 'content-type': 'application/json' },
    body: query(id),
    ...(signal && { signal }),
  });
const label = () => fetch(new URL('/labels/a.pdf', listener.url), { headers: { authorization } });

async function overloaded(response: Response, message: string) {
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await response.json()).toEqual({
    errors: [{ message, extensions: { code: 'OVERLOADED', retryable: true, retryAfterMs: 1_000 } }],
  });
}

const called = () => waybill.service.lines();

test('requests beyond the limit of their route are refused at once, those of others are not, and room comes back', async () => {
  const gone = new AbortController();
  const first = post('a');
  const second = post('b', gone.signal);
  await until(() => held.length === 2);
  const tooMany = 'GraphQL requests under way: 2, which is as many as this server takes. Try again soon.';
  await overloaded(await post('c'), tooMany);
  expect(called().sort()).toEqual(['GET /v1/orders/a', 'GET /v1/orders/b']);

  // The routes are apart from each other, and health is never refused.
  const labelled = label();
  await until(() => held.length === 3);
  for (const path of ['/health/live', '/health/ready']) {
    expect((await fetch(new URL(path, listener.url))).status).toBe(200);
  }
  expect(called()).toHaveLength(3);

  // A client that goes away makes room, and so does an answer that is taken.
  gone.abort();
  await expect(second).rejects.toThrow('aborted');
  await until(() => held.some(({ req, closed }) => req.url === '/v1/orders/b' && closed));
  const third = post('d');
  await until(() => held.length === 4);
  held.find((response) => response.req.url === '/v1/orders/a')?.end('{"name":"orders/a"}');
  expect(await (await first).json()).toEqual({ data: { order: { id: 'orders/a' } } });
  const fourth = post('e');
  await until(() => held.length === 5);
  for (const response of held) response.end('{"name":"orders/none"}');
  expect([(await third).status, (await fourth).status, (await labelled).status]).toEqual([200, 200, 502]);
});

const pipelined = (body: string) =>
  `POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\nauthorization: ${authorization}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

test.each([
  ['valid', query('slow')],
  ['invalid', JSON.stringify({ query: '{ nope }' })],
  ['of the schema alone', JSON.stringify({ query: '{ __typename }' })],
])("one token's pipelined requests, %s, leave the other half to others", async (_what, body) => {
  const before = held.length;
  const client = await openRaw(listener);
  // The first one waits for REST, and all other responses wait behind its response.
  client.socket.write(pipelined(query('slow')) + pipelined(body).repeat(5));
  await until(() => held.length === before + 1);
  const schema = await fetch(new URL('/graphql?query={__typename}', listener.url), {
    headers: { accept: 'application/json', 'graphql-require-preflight': 'yes' },
  });
  expect(schema.status).toBe(200);
  const other = post('f');
  await until(() => held.length === before + 2);
  for (const response of held) response.end('{"name":"orders/none"}');
  expect((await other).status).toBe(200);
  await until(() => client.received().match(/HTTP\/1\.1 \d/g)?.length === 6);
  client.socket.destroy();
});

test('pipelined requests for labels without a token leave the route to others', async () => {
  const before = held.length;
  const client = await openRaw(listener);
  const head = 'GET /labels/a.pdf HTTP/1.1\r\nhost: a\r\n';
  client.socket.write(pipelined(query('slow')) + `${head}\r\n`.repeat(5));
  await until(() => held.length === before + 1);
  const labelled = label();
  await until(() => held.length === before + 2);
  for (const response of held) response.end('{"name":"orders/none"}');
  expect((await labelled).status).toBe(502);
  client.socket.destroy();
});
