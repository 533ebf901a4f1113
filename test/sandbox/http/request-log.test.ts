import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Client, newOrder, openSandbox, smallSeed } from '../client.ts';

let client: Client;
beforeAll(async () => {
  client = await openSandbox({ seed: smallSeed });
});
beforeEach(() => client.sandbox.requests.clear());
afterAll(() => client.close());

test('the lines of the request log contain the raw path and the decoded query', async () => {
  await client.get('/v1/orders?pageSize=20&status=NEW%2CREADY');
  await client.get('/v1/orders?search=Jos%C3%A9+P%C3%A9rez%20x');
  await client.get('/v1/orders/50%25%3F%23%63a0001');
  await client.post('/v1/orders', newOrder);
  expect(client.sandbox.requests.lines()).toEqual([
    'GET /v1/orders?pageSize=20&status=NEW,READY',
    'GET /v1/orders?search=José Pérez x',
    'GET /v1/orders/50%25%3F%23%63a0001',
    'POST /v1/orders',
  ]);
  client.sandbox.requests.clear();
  expect(client.sandbox.requests.lines()).toEqual([]);
});

test('request log entries identify a token even after the token has ended', async () => {
  const { sandbox } = client;
  const { first, firstRefreshed, second } = sandbox.tokens;
  const issued = sandbox.issueToken(second);
  sandbox.endToken(issued);
  for (const token of [first, firstRefreshed, second, issued]) await client.get('/v1/origins', token);
  expect(sandbox.requests.entries()).toMatchObject([
    { bearer: 'first', tokenNumber: 1, status: 200 },
    { bearer: 'first', tokenNumber: 2, status: 200 },
    { bearer: 'second', tokenNumber: 1, status: 200 },
    { bearer: 'second', tokenNumber: 2, status: 401 },
  ]);
});

test('request log entries contain all parts of a request except the token', async () => {
  await client.post('/v1/orders?x=1', { a: 1 }, client.sandbox.tokens.second);
  await client.get('/v1/nothing');
  await client.get('/v1/origins', 'wrong');
  await fetch(`${client.sandbox.url}/openapi.json`);
  const entries = client.sandbox.requests.entries();
  expect(entries).toMatchObject([
    { method: 'POST', path: '/v1/orders', query: { x: '1' }, body: { a: 1 }, status: 400, bearer: 'second' },
    { method: 'GET', path: '/v1/nothing', query: {}, status: 404, bearer: 'first' },
    { method: 'GET', path: '/v1/origins', status: 401, bearer: 'unknown', tokenNumber: undefined },
    { method: 'GET', path: '/openapi.json', status: 200, bearer: 'none' },
  ]);
  expect(entries[0]?.headers['content-type']).toBe('application/json');
  expect(JSON.stringify(entries)).not.toContain('token-of');
});
