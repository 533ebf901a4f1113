import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startUpstream, type Upstream } from '../bench/peers/upstream.ts';

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream(0);
});
afterAll(() => upstream.close());
beforeEach(() => upstream.turnTo({ delayMs: 0, keepsCalls: true }));

const get = (path: string) => fetch(`${upstream.url}${path}`, { headers: { authorization: 'Bearer any' } });

const namesOf = (rows: { name: string }[]) => rows.map(({ name }) => name);

test('the REST service of the benchmark answers records and pages, one after another over a connection', async () => {
  const order = await (await get('/v1/orders/or7')).json();
  expect(order).toMatchObject({ name: 'orders/or7', contentDescription: 'Camisetas de algodón, paquete 7' });
  const page = await (await get('/v1/orders?pageSize=2')).json();
  expect(namesOf(page.orders)).toEqual(['orders/or1000', 'orders/or999']);
  expect(page.nextPageToken).toBe('2');
  const last = await (await get('/v1/orders?pageSize=2&pageToken=998')).json();
  expect(namesOf(last.orders)).toEqual(['orders/or2', 'orders/or1']);
  expect(last.nextPageToken).toBe('');
});

test('the REST service of the benchmark knows what it has not, and who shows no token', async () => {
  expect((await get('/v1/orders/none')).status).toBe(404);
  expect((await get('/v1/nothing')).status).toBe(404);
  expect((await fetch(`${upstream.url}/v1/orders/or7`)).status).toBe(401);
});

test('the REST service of the benchmark tells calls at once from calls one after another', async () => {
  await upstream.turnTo({ delayMs: 200, keepsCalls: true });
  await get('/v1/orders?pageSize=2');
  await Promise.all([get('/v1/shipments/sh1'), get('/v1/shipments/sh2')]);
  const { count, calls } = await upstream.turnTo({ delayMs: 0, keepsCalls: false });
  expect(count).toBe(3);
  expect(calls.map(({ turn, line }) => `${turn} ${line}`).sort()).toEqual([
    '1 GET /v1/orders?pageSize=2',
    '2 GET /v1/shipments/sh1',
    '2 GET /v1/shipments/sh2',
  ]);
});
