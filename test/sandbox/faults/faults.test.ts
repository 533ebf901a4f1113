import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Client, newOrder, openSandbox, smallSeed } from '../client.ts';

let client: Client;
beforeAll(async () => {
  client = await openSandbox();
});
beforeEach(() => {
  client.sandbox.faults.clear();
  client.sandbox.requests.clear();
});
afterAll(() => client.close());

const path = '/v1/orders/ca0001';
const raw = (init: RequestInit = {}) =>
  fetch(client.sandbox.url + path, {
    headers: { authorization: `Bearer ${client.sandbox.tokens.first}` },
    ...init,
  });
const newestOrder = async () => (await client.get('/v1/orders?pageSize=1')).body.orders[0].name;

test.each([
  [{ body: { a: 1 } }, 'application/json; charset=utf-8', '{"a":1}'],
  [{ body: '<h1>Bad</h1>', contentType: 'text/html' }, 'text/html', '<h1>Bad</h1>'],
  [{ body: 'null', contentType: 'application/json' }, 'application/json', 'null'],
  [{ body: null }, 'application/json; charset=utf-8', 'null'],
  [{}, null, ''],
])('the fault "status" returns %j', async (answer, contentType, text) => {
  client.sandbox.faults.add({ kind: 'status', status: 503, headers: { 'retry-after': '7' }, ...answer });
  const response = await raw();
  expect([
    response.status,
    response.headers.get('content-type'),
    response.headers.get('retry-after'),
  ]).toEqual([503, contentType, '7']);
  expect(await response.text()).toBe(text);
  expect(client.sandbox.requests.entries()[0]?.status).toBe(503);
});

test.each(['status', 'reset', 'hang'] as const)('the fault "%s" prevents the write', async (kind) => {
  const before = await newestOrder();
  client.sandbox.requests.clear();
  client.sandbox.faults.add(
    kind === 'status' ? { method: 'POST', kind, status: 500, body: {} } : { method: 'POST', kind },
  );
  const outcome = fetch(`${client.sandbox.url}/v1/orders`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${client.sandbox.tokens.first}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(newOrder),
    signal: AbortSignal.timeout(300),
  });
  const seen = await outcome.then(
    ({ status }) => status,
    (error) => error.cause?.code ?? error.name,
  );
  expect(seen).toBe({ status: 500, reset: 'ECONNRESET', hang: 'TimeoutError' }[kind]);
  expect(client.sandbox.requests.entries()).toMatchObject([
    { method: 'POST', path: '/v1/orders', body: newOrder, status: kind === 'status' ? 500 : undefined },
  ]);
  expect(await newestOrder()).toBe(before);
});

test('the fault "applied-then-cut" runs the write but sends no response', async () => {
  const before = await newestOrder();
  client.sandbox.faults.add({ method: 'POST', path: '/v1/orders', kind: 'applied-then-cut' });
  await expect(client.post('/v1/orders', newOrder)).rejects.toThrow('fetch failed');
  expect(client.sandbox.requests.entries().at(-1)?.status).toBeUndefined();
  expect(await newestOrder()).not.toBe(before);
});

test('the fault "delay" sends the response late', async () => {
  client.sandbox.faults.add({ kind: 'delay', delayMs: 150 });
  const start = performance.now();
  expect((await raw()).status).toBe(200);
  expect(performance.now() - start).toBeGreaterThan(140);
});

test('the fault "reset-in-body" sends the headers and some bytes before the reset', async () => {
  client.sandbox.faults.add({ kind: 'reset-in-body', bytes: 10 });
  const response = await raw();
  expect(response.status).toBe(200);
  const reader = response.body?.getReader();
  expect((await reader?.read())?.value).toHaveLength(10);
  await expect(reader?.read()).rejects.toThrow('terminated');
});

test('the fault "cut-json" sends a complete HTTP response with truncated JSON', async () => {
  client.sandbox.faults.add({ kind: 'cut-json', bytes: 12 });
  const response = await raw();
  expect(response.headers.get('content-length')).toBe('12');
  expect(await response.text()).toBe('{"name":"ord');
});

test('the fault "short" sends fewer bytes than the content-length header states', async () => {
  const whole = (await raw()).headers.get('content-length');
  client.sandbox.faults.add({ kind: 'short', missingBytes: 5 });
  const response = await raw();
  expect(response.headers.get('content-length')).toBe(String(Number(whole) + 5));
  await expect(response.text()).rejects.toThrow('terminated');
});

test('the fault "drip" sends the body in small chunks', async () => {
  const whole = await (await raw()).text();
  client.sandbox.faults.add({ kind: 'drip', bytes: 200, everyMs: 15 });
  const start = performance.now();
  expect(await (await raw()).text()).toBe(whole);
  expect(performance.now() - start).toBeGreaterThan((Math.floor(whole.length / 200) - 1) * 14);
});

test('the fault "content-type" changes only the content type', async () => {
  const whole = await (await raw()).text();
  client.sandbox.faults.add({ kind: 'content-type', contentType: 'text/html' });
  const response = await raw();
  expect(response.headers.get('content-type')).toBe('text/html');
  expect(await response.text()).toBe(whole);
});

test('the fault "change" replaces the body with the result of a function', async () => {
  client.sandbox.faults.add({
    kind: 'change',
    change: (answer) => ({ ...(answer as object), status: 'ODD', more: 1 }),
  });
  expect(await (await raw()).json()).toMatchObject({ name: 'orders/ca0001', status: 'ODD', more: 1 });
});

test('the fault "change" also applies to error responses', async () => {
  client.sandbox.faults.add({ kind: 'change', change: () => [] });
  const reply = await client.get('/v1/orders/none');
  expect([reply.status, reply.body]).toEqual([404, []]);
});

test('a fault applies by method and path, until its count is used up or it is removed', async () => {
  const { faults } = client.sandbox;
  const status = async (target: string) => (await client.get(target)).status;
  const fail = { kind: 'status', status: 500, body: {} } as const;
  faults.add({ ...fail, method: 'POST' });
  faults.add({ ...fail, path: '/v1/orders/ca0002' });
  faults.add({ ...fail, path: /^\/v1\/quotes\//, times: 2 });
  const remove = faults.add({ ...fail, path: '/v1/origins' });
  expect(await status('/v1/orders/ca0001?')).toBe(200);
  expect(await status('/v1/orders/ca0002')).toBe(500);
  expect([await status('/v1/quotes/ca0001'), await status('/v1/quotes/ca0002')]).toEqual([500, 500]);
  expect(await status('/v1/quotes/ca0003')).toBe(200);
  expect(await status('/v1/origins')).toBe(500);
  remove();
  expect(await status('/v1/origins')).toBe(200);
  faults.clear();
  expect(await status('/v1/orders/ca0002')).toBe(200);
});

test('faults with a token apply only to requests with that token', async () => {
  const { faults, tokens } = client.sandbox;
  const status = async (token: string) => (await client.get('/v1/origins', token)).status;
  faults.add({ kind: 'status', status: 500, body: {}, token: tokens.firstRefreshed, times: 1 });
  faults.add({ kind: 'status', status: 503, body: {}, token: 'stranger' });
  expect([await status(tokens.first), await status(tokens.second)]).toEqual([200, 200]);
  expect([await status(tokens.firstRefreshed), await status('stranger')]).toEqual([500, 503]);
  expect(await status(tokens.firstRefreshed)).toBe(200);
  expect((await fetch(`${client.sandbox.url}/v1/origins`)).status).toBe(401);
});

test('faults apply before authentication', async () => {
  client.sandbox.faults.add({ kind: 'status', status: 500, body: {} });
  expect((await client.get(path, 'nobody')).status).toBe(500);
});

test('closing the sandbox ends responses that hang, drip or are delayed', async () => {
  const other = await openSandbox({ seed: smallSeed });
  const { faults, url, tokens } = other.sandbox;
  faults.add({ path: '/v1/orders', kind: 'hang' });
  faults.add({ path: '/v1/origins', kind: 'drip', bytes: 1, everyMs: 10_000 });
  faults.add({ path: '/v1/channels', kind: 'delay', delayMs: 10_000 });
  const headers = { authorization: `Bearer ${tokens.first}` };
  const open = ['/v1/orders', '/v1/origins', '/v1/channels'].map(async (target) => {
    const response = await fetch(url + target, { headers });
    return response.text();
  });
  const settled = Promise.allSettled(open);
  await new Promise((resolve) => setTimeout(resolve, 100));
  const start = performance.now();
  await other.close();
  expect(performance.now() - start).toBeLessThan(9_000);
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
});
