import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Quirks, SandboxOptions } from '../../../src/sandbox/sandbox.ts';
import { createSeed } from '../../../src/sandbox/seed/seed.ts';
import { type Client, faultsOf, newOrder, newQuote, openSandbox, smallSeed } from '../client.ts';

let client: Client;
afterEach(() => client.close());

/** Both ways to give quirks: for all requests, and as a fault of those that match. */
const ways = ['option', 'fault'] as const;

async function open(way: (typeof ways)[number], quirks: Partial<Quirks>, seed: SandboxOptions['seed']) {
  client = await openSandbox({ ...(seed && { seed }), ...(way === 'option' && { quirks }) });
  if (way === 'fault') client.sandbox.faults.add({ kind: 'quirks', quirks });
}

const read = async (name: string) => (await client.get(`/v1/${name}`)).body;
const namesIn = (rows: { name: string }[]) => rows.map(({ name }) => name);

/** The order's body, and the body of a quote for it. */
async function orderAndQuote() {
  const order = (await client.post('/v1/orders', newOrder)).body;
  return { order, quote: (await client.post('/v1/quotes', { ...newQuote, order: order.name })).body };
}

const { location: _, ...recipient } = newOrder.recipient;
const ship = ({ name, offers }: { name: string; offers: { courier: string }[] }) =>
  client.post('/v1/shipments', {
    quote: name,
    courier: offers[0]?.courier,
    origin: 'origins/fo4',
    recipient,
    requiresPickup: true,
  });

/** The three oldest of each list, the oldest first. */
const oldest = [
  ['/v1/orders?', 'orders', ['orders/ca0001', 'orders/ca0002', 'orders/ca0003']],
  ['/v1/orders?status=CANCELLED&', 'orders', ['orders/ca0003', 'orders/ca0018', 'orders/ca0019']],
  ['/v1/shipments?', 'shipments', ['shipments/ca0001', 'shipments/ca0002', 'shipments/ca0003']],
  ['/v1/origins?', 'origins', ['origins/ca4', 'origins/ca3', 'origins/ca2']],
  [
    '/v1/locations?query=vichada&',
    'locations',
    ['locations/vichada-santa-rosalia', 'locations/vichada-la-primavera', 'locations/vichada-cumaribo'],
  ],
  ['/v1/channels?', 'channels', ['channels/ca3', 'channels/ca2', 'channels/ca1']],
  [
    '/v1/channels/ca1/templates?',
    'templates',
    ['carrito_abandonado', 'novedades_de_temporada', 'novedades_de_temporada'],
  ],
  [
    '/v1/channels/ca1/conversations/ca5/messages?',
    'messages',
    ['m001', 'm002', 'm003'].map((message) => `channels/ca1/conversations/ca5/messages/${message}`),
  ],
] as const;

test.each(ways)('oldestFirst, set as %s, starts each list with its oldest record', async (way) => {
  await open(way, { oldestFirst: true }, createSeed);
  for (const [path, field, names] of oldest) {
    const first = (await client.get(`${path}pageSize=2`)).body;
    const second = (await client.get(`${path}pageSize=1&pageToken=${first.nextPageToken}`)).body;
    expect([path, namesIn([...first[field], ...second[field]])]).toEqual([path, names]);
  }
});

test('a page token is rejected if the sort order has changed', async () => {
  client = await openSandbox({ quirks: { oldestFirst: true } });
  const tokenOfPage = async () => (await client.get('/v1/orders?pageSize=1')).body.nextPageToken;
  const oldestFirst = await tokenOfPage();
  client.sandbox.faults.add({ kind: 'quirks', quirks: { oldestFirst: false }, times: 2 });
  const newestFirst = await tokenOfPage();
  const refusal = ['pageToken was not issued for this list, these filters and this merchant'];
  expect(faultsOf(await client.get(`/v1/orders?pageToken=${oldestFirst}`))).toEqual(refusal);
  expect(faultsOf(await client.get(`/v1/orders?pageToken=${newestFirst}`))).toEqual(refusal);
  expect((await client.get(`/v1/orders?pageSize=1&pageToken=${oldestFirst}`)).body.orders[0].name).toBe(
    'orders/ca0002',
  );
});

describe.each(ways)('shipsAgain, set as %s', (way) => {
  beforeEach(() => open(way, { shipsAgain: true }, smallSeed));

  test('accepts a second shipment of an order', async () => {
    const { order, quote } = await orderAndQuote();
    const [first, second] = [await ship(quote), await ship(quote)];
    expect([first.status, first.body.name]).toEqual([201, 'shipments/fo0001']);
    expect([second.status, second.body.name]).toEqual([201, 'shipments/fo0002']);
    expect(await read(order.name)).toMatchObject({ status: 'READY', shipment: 'shipments/fo0002' });
    expect(namesIn((await client.get('/v1/shipments')).body.shipments)).toEqual([
      'shipments/fo0002',
      'shipments/fo0001',
    ]);
  });

  test('accepts a shipment for a cancelled order', async () => {
    const { order, quote } = await orderAndQuote();
    await client.patch(`/v1/${order.name}`, { order: { status: 'CANCELLED' }, updateMask: ['status'] });
    expect((await ship(quote)).status).toBe(201);
    expect(await read(order.name)).toMatchObject({ status: 'READY', shipment: 'shipments/fo0001' });
  });
});

describe.each(ways)('shipmentNamedAfterMs, set as %s', (way) => {
  beforeEach(() => open(way, { shipmentNamedAfterMs: 5_000 }, smallSeed));

  const readings = async () => [await read('orders/fo0001'), (await client.get('/v1/orders')).body.orders[0]];

  test('hides the shipment of an order until the time has passed', async () => {
    const { order, quote } = await orderAndQuote();
    client.sandbox.clock.advance(1_000);
    const shipment = (await ship(quote)).body;
    expect(await readings()).toEqual([order, order]);
    client.sandbox.clock.advance(4_999);
    expect(await readings()).toEqual([order, order]);
    client.sandbox.clock.advance(1);
    const shipped = {
      ...order,
      shipment: shipment.name,
      status: 'READY',
      updateTime: '2026-11-02T14:00:01.000Z',
    };
    expect(await readings()).toEqual([shipped, shipped]);
  });

  test('still rejects a second shipment with 409', async () => {
    const { quote } = await orderAndQuote();
    await ship(quote);
    const again = await ship(quote);
    expect([again.status, again.body.error.message]).toEqual([
      409,
      'orders/fo0001 is already shipped as shipments/fo0001',
    ]);
  });

  test('returns the order with its shipment immediately after an update', async () => {
    const { order, quote } = await orderAndQuote();
    await ship(quote);
    const updated = (
      await client.patch(`/v1/${order.name}`, { order: { notes: 'Sin afán' }, updateMask: ['notes'] })
    ).body;
    expect(updated).toEqual({ ...order, notes: 'Sin afán', status: 'READY', shipment: 'shipments/fo0001' });
    expect(await readings()).toEqual([updated, updated]);
  });
});

test('an order with two shipments names each shipment only after its delay', async () => {
  client = await openSandbox({ seed: smallSeed, quirks: { shipsAgain: true, shipmentNamedAfterMs: 5_000 } });
  const { order, quote } = await orderAndQuote();
  const named = async () => (await read(order.name)).shipment;
  await ship(quote);
  client.sandbox.clock.advance(3_000);
  await ship(quote);
  expect(await named()).toBeUndefined();
  client.sandbox.clock.advance(2_000);
  expect(await named()).toBe('shipments/fo0001');
  client.sandbox.clock.advance(3_000);
  expect(await named()).toBe('shipments/fo0002');
});

describe('the Date header', () => {
  const dateOf = async (path: string) => (await client.get(path)).headers.get('date');
  /** An answer, refusals by the handler, by the bearer and by the router, and one that Fastify makes alone. */
  const paths = ['/v1/orders', '/v1/orders/none', '/v1/nothing', '/v1/orders/%zz'];

  test('follows the clock of the sandbox', async () => {
    client = await openSandbox({ seed: smallSeed });
    client.sandbox.clock.advance(61_000);
    for (const path of paths)
      expect([path, await dateOf(path)]).toEqual([path, 'Mon, 02 Nov 2026 14:01:01 GMT']);
    const refused = await client.get('/v1/orders', 'nobody');
    expect([refused.status, refused.headers.get('date')]).toEqual([401, 'Mon, 02 Nov 2026 14:01:01 GMT']);
  });

  test('can be set by a status fault', async () => {
    client = await openSandbox({ seed: smallSeed });
    client.sandbox.faults.add({ kind: 'status', status: 503, body: {}, headers: { date: 'soon' } });
    expect(await dateOf('/v1/orders')).toBe('soon');
  });

  test('is shifted by the option dateOffsetMs', async () => {
    await open('option', { dateOffsetMs: -90_000 }, smallSeed);
    for (const path of paths)
      expect([path, await dateOf(path)]).toEqual([path, 'Mon, 02 Nov 2026 13:58:30 GMT']);
  });

  test('is missing with the option hasDate: false', async () => {
    await open('option', { hasDate: false }, smallSeed);
    for (const path of paths) expect([path, await dateOf(path)]).toEqual([path, null]);
  });

  test('is changed by a fault only for matching requests', async () => {
    client = await openSandbox({ seed: smallSeed, quirks: { dateOffsetMs: 1_000 } });
    const { faults } = client.sandbox;
    faults.add({ kind: 'quirks', quirks: { dateOffsetMs: 3_600_000 }, path: '/v1/origins', times: 1 });
    faults.add({ kind: 'quirks', quirks: { hasDate: false }, path: '/v1/orders/none' });
    expect(await dateOf('/v1/origins')).toBe('Mon, 02 Nov 2026 15:00:00 GMT');
    expect(await dateOf('/v1/origins')).toBe('Mon, 02 Nov 2026 14:00:01 GMT');
    expect(await dateOf('/v1/orders/none')).toBeNull();
  });
});

describe.each(ways)('rowsLack, set as %s', (way) => {
  test('removes fields only from the rows of the given lists', async () => {
    await open(way, { rowsLack: { orders: ['notes', 'shipment'], shipments: ['quote'] } }, smallSeed);
    const { order, quote } = await orderAndQuote();
    const shipment = (await ship(quote)).body;
    const shipped = { ...order, status: 'READY', shipment: 'shipments/fo0001' };
    expect([order.notes, shipment.quote]).toEqual(['Dejar en portería', 'quotes/fo0001']);
    expect(await read(order.name)).toEqual(shipped);
    expect(await read(shipment.name)).toEqual(shipment);
    const { notes: _notes, shipment: _shipment, ...orderRow } = shipped;
    const { quote: _quote, ...shipmentRow } = shipment;
    expect((await client.get('/v1/orders')).body).toEqual({ orders: [orderRow], nextPageToken: '' });
    expect((await client.get('/v1/shipments')).body).toEqual({ shipments: [shipmentRow], nextPageToken: '' });
    expect((await client.get('/v1/origins')).body.origins).toEqual([
      {
        name: 'origins/fo4',
        location: 'locations/huila-pitalito',
        address: {
          regionCode: 'CO',
          administrativeArea: 'Huila',
          locality: 'Pitalito',
          addressLines: ['Calle 5'],
          organization: '',
        },
      },
    ]);
  });
});
