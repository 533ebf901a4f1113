import { afterEach, beforeEach, expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { type Client, newOrder, newQuote, openSandbox, smallSeed } from '../client.ts';

let client: Client;
beforeEach(async () => {
  client = await openSandbox({ seed: smallSeed });
});
afterEach(() => client.close());

const hourMs = 3_600_000;

async function quoteFor(changes: object = {}) {
  return (await client.post('/v1/quotes', { ...newQuote, ...changes })).body;
}

async function ship(quote: string) {
  const { location: _, ...recipient } = newOrder.recipient;
  return client.post('/v1/shipments', {
    quote,
    courier: 'couriers/rutandina',
    origin: 'origins/fo4',
    recipient,
    requiresPickup: true,
  });
}

test('a shipment and its order advance to DELIVERED with the clock', async () => {
  const order = (await client.post('/v1/orders', newOrder)).body;
  const { name } = (await ship((await quoteFor({ order: order.name })).name)).body;
  const seen: string[] = [];
  for (let hour = 0; hour < 72; hour += 1) {
    const shipment = (await client.get(`/v1/${name}`)).body;
    const { status } = (await client.get(`/v1/${order.name}`)).body;
    const line = `${shipment.status} ${status} ${shipment.updateTime}`;
    if (seen.at(-1) !== line) seen.push(line);
    client.sandbox.clock.advance(hourMs);
  }
  expect(seen).toEqual([
    'LABEL_GENERATED READY 2026-11-02T14:00:00.000Z',
    'SCHEDULED_PICKUP READY 2026-11-02T16:00:00.000Z',
    'AT_ORIGIN_TERMINAL IN_PROGRESS 2026-11-02T20:00:00.000Z',
    'IN_PROGRESS IN_PROGRESS 2026-11-03T08:00:00.000Z',
    'AT_DESTINATION_TERMINAL IN_PROGRESS 2026-11-04T08:00:00.000Z',
    'OUT_FOR_DELIVERY IN_PROGRESS 2026-11-04T20:00:00.000Z',
    'DELIVERED DELIVERED 2026-11-05T02:00:00.000Z',
  ]);
});

test('the status filter finds a delivered order after one large advance of the clock', async () => {
  const order = (await client.post('/v1/orders', newOrder)).body;
  await ship((await quoteFor({ order: order.name })).name);
  client.sandbox.clock.advance(30 * 24 * hourMs);
  const { body } = await client.get('/v1/orders?status=DELIVERED&pageSize=1000');
  expect(body.orders.find(({ name }: { name: string }) => name === order.name)).toMatchObject({
    status: 'DELIVERED',
    updateTime: '2026-11-05T02:00:00.000Z',
  });
});

test('some shipments get their label 30 seconds after their creation', async () => {
  const quote = await quoteFor();
  const created = [];
  for (let count = 0; count < 12; count += 1) created.push((await ship(quote.name)).body);
  const waiting = created.filter(({ status }) => status === 'GENERATING_LABEL');
  expect(waiting.length).toBeGreaterThan(0);
  expect(waiting.length).toBeLessThan(6);
  const [{ name }] = waiting;
  expect(waiting[0]).not.toHaveProperty('label');
  expect(waiting[0]).not.toHaveProperty('labelUrl');
  expect((await client.get(`/v1/${name}/label`)).status).toBe(404);
  client.sandbox.clock.advance(30_000);
  expect((await client.get(`/v1/${name}`)).body).toMatchObject({
    status: 'LABEL_GENERATED',
    label: name.replace('shipments', 'labels'),
    updateTime: '2026-11-02T14:00:30.000Z',
  });
});

test('seeded shipments do not change their status in the first nine minutes', async () => {
  const seeded = await openSandbox();
  const statuses = async () =>
    (await seeded.get('/v1/shipments?pageSize=60')).body.shipments.map(
      ({ status }: { status: string }) => status,
    );
  const before = await statuses();
  seeded.sandbox.clock.advance(9 * 60_000);
  expect(await statuses()).toEqual(before);
  seeded.sandbox.clock.advance(40 * 24 * hourMs);
  expect([...new Set(await statuses())].sort()).toEqual(['CANCELLED', 'DELIVERED', 'RETURN', 'WITH_ERROR']);
  await seeded.close();
});

test('the clock rejects a negative or infinite advance', () => {
  for (const ms of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(() => client.sandbox.clock.advance(ms)).toThrow(`A clock advances by 0 ms or more, not by ${ms}`);
  }
});

test('the clock follows real time by default', async () => {
  const running = await startSandbox({ seed: smallSeed });
  const apart = Date.now() - running.clock.now().getTime();
  expect(Math.abs(apart)).toBeLessThan(1000);
  running.clock.advance(hourMs);
  expect(running.clock.now().getTime() - Date.now()).toBeGreaterThan(hourMs - 1000);
  await running.close();
});
