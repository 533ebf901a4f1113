import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Client, newOrder, openSandbox } from '../client.ts';

let client: Client;
beforeAll(async () => {
  client = await openSandbox();
});
afterAll(() => client.close());

test.each([
  [undefined, 'A bearer token is required'],
  ['', 'This bearer token is unknown'],
  ['Bearer', 'This bearer token is unknown'],
  ['Bearer wrong', 'This bearer token is unknown'],
  ['Basic c2FuZGJveC1jYWZlLWFuZGlubzo=', 'This bearer token is unknown'],
  ['Bearer sandbox-cafe-andino x', 'This bearer token is unknown'],
])('a request with the header "authorization: %s" returns 401', async (authorization, message) => {
  const response = await fetch(`${client.sandbox.url}/v1/orders`, {
    headers: authorization === undefined ? {} : { authorization },
  });
  expect(response.status).toBe(401);
  expect(response.headers.get('www-authenticate')).toBe('Bearer realm="sandbox"');
  expect(await response.json()).toEqual({
    error: { code: 401, status: 'UNAUTHENTICATED', message, details: [] },
  });
});

test('the scheme of the authorization header is case-insensitive', async () => {
  const headers = { authorization: `bearer ${client.sandbox.tokens.first}` };
  expect((await fetch(`${client.sandbox.url}/v1/organizations/mine`, { headers })).status).toBe(200);
});

test('a write without a bearer token is not executed', async () => {
  const before = (await client.get('/v1/orders?pageSize=1')).body;
  const response = await fetch(`${client.sandbox.url}/v1/orders`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(newOrder),
  });
  expect(response.status).toBe(401);
  expect((await client.get('/v1/orders?pageSize=1')).body).toEqual(before);
});

test.each([
  '/v1/orders/ca0001',
  '/v1/quotes/ca0001',
  '/v1/shipments/ca0001',
  '/v1/channels/ca1/templates',
  '/v1/channels/ca1/conversations/ca5/messages',
])('GET %s returns 404 to another merchant', async (path) => {
  expect((await client.get(path)).status).toBe(200);
  const foreign = await client.get(path, client.sandbox.tokens.second);
  expect(foreign.status).toBe(404);
  const absent = await client.get(path.replaceAll('ca', 'zz'));
  expect(absent.status).toBe(404);
  const withoutName = (text: string) => text.replaceAll(/(ca|zz)\d+/g, 'id');
  expect(withoutName(foreign.body.error.message).replaceAll('zz', 'ca')).toBe(
    withoutName(absent.body.error.message).replaceAll('zz', 'ca'),
  );
});

test('another merchant gets 404 for labels, order updates and messages', async () => {
  const { second } = client.sandbox.tokens;
  expect((await client.get('/v1/shipments/ca0001/label', second)).status).toBe(404);
  const update = { order: { notes: 'abc' }, updateMask: ['notes'] };
  expect((await client.patch('/v1/orders/ca2500', update, second)).status).toBe(404);
  const message = { recipient: { phone: '+573001112233', name: 'Ana' }, text: 'Hola' };
  expect((await client.post('/v1/channels/ca1/messages', message, second)).status).toBe(404);
});

test('GET /v1/organizations/mine returns the organization of the token', async () => {
  const { first, second } = client.sandbox.tokens;
  const mine = (await client.get('/v1/organizations/mine', first)).body;
  expect(mine).toEqual({
    name: 'organization/cafe-andino',
    balanceCents: expect.any(Number),
    creditLimitCents: expect.any(Number),
  });
  expect((await client.get('/v1/organizations/mine', second)).body.name).toBe('organization/sur-textil');
});

test.each([
  ['/v1/orders/..%2F..%2Forganizations%2Fmine', 400],
  ['/v1/orders/a%2Fb', 400],
  ['/v1/orders/a%00b', 400],
  ['/v1/orders/a%C2%85b', 400],
  ['/v1/orders/%ED%A0%80', 400],
  ['/v1/orders/a%20b', 404],
  ['/v1/orders/a%252Fb', 404],
  ['/v1/orders/...', 404],
  [`/v1/orders/${'a'.repeat(256)}`, 404],
  [`/v1/orders/${'a'.repeat(257)}`, 400],
  ['/v1/orders/%zz', 400],
  ['/v1/nothing', 404],
  ['/v1/orders/ca0001/', 404],
])('GET %s returns %i', async (path, status) => {
  const reply = await client.get(path);
  expect([reply.status, reply.body.error.code]).toEqual([status, status]);
});

test.each([
  ['truncated JSON', '{', 400, 'INVALID_ARGUMENT', 'application/json'],
  ['an empty body', '', 400, 'INVALID_ARGUMENT', 'application/json'],
  ['the content type text/plain', JSON.stringify(newOrder), 415, 'UNSUPPORTED_MEDIA_TYPE', 'text/plain'],
  [
    'a body of 300 KB',
    JSON.stringify({ ...newOrder, notes: 'a'.repeat(300_000) }),
    413,
    'PAYLOAD_TOO_LARGE',
    'application/json',
  ],
])('POST /v1/orders rejects %s', async (_what, body, code, status, contentType) => {
  const response = await fetch(`${client.sandbox.url}/v1/orders`, {
    method: 'POST',
    headers: { authorization: `Bearer ${client.sandbox.tokens.first}`, 'content-type': contentType },
    body,
  });
  expect(response.status).toBe(code);
  expect((await response.json()).error).toMatchObject({ code, status });
});
