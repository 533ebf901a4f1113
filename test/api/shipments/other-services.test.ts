import { describe, expect, test } from 'vitest';
import type { ShippingNote, ShippingProgress } from '../../../src/writes/earlier-shipment-search.ts';
import type { KeyStore } from '../../../src/writes/store/key-store.ts';
import {
  CreateOrderDocument,
  OrderByReferenceDocument,
  ShipOrderDocument,
} from '../../documents.generated.ts';
import { learnMerchants, organizationCall } from '../../fixtures/known-merchant.ts';
import { memoryStore } from '../../fixtures/memory-store.ts';
import { order as orderToCreate } from '../../fixtures/order-to-create.ts';
import { type OrderToShip, orderToShip } from '../../fixtures/order-to-ship.ts';
import { onceEach, shipmentsByOrder } from '../../fixtures/rest-shipments.ts';
import { startSeededSandbox } from '../../fixtures/seeded-sandbox.ts';
import { startOfTime, startWaybill, type Waybill } from '../../harness.ts';

// What the REST interface leaves open, and other services of it do otherwise than the sandbox does by itself.

const origins = 'GET /v1/origins?pageSize=1000';
const postQuote = 'POST /v1/quotes';
const postShipment = 'POST /v1/shipments';
const shipmentPage = 'GET /v1/shipments?pageSize=1000';
const nextPage = expect.stringMatching(/^GET \/v1\/shipments\?pageSize=1000&pageToken=/);

/** Ships an order; the calls in an order of their own, where they are made at the same time. */
async function ship(waybill: Waybill, input: OrderToShip) {
  const { data, calls } = await waybill.ask(ShipOrderDocument, { input });
  return { result: data.shipOrder, calls };
}

/** The id of the shipment in a result. @throws if the result is another member. */
function shipmentIdOf(result: Awaited<ReturnType<typeof ship>>['result']): string {
  if (result.__typename === 'ShipOrderSuccess') return result.shipment.id;
  throw new Error(JSON.stringify(result));
}

/** An order whose shipment is created and whose answer is lost. */
async function lose(waybill: Waybill, idempotencyKey: string | null = 'lost'): Promise<OrderToShip> {
  const input = { ...(await orderToShip(waybill)), idempotencyKey };
  waybill.sandbox.faults.add({ kind: 'applied-then-cut', method: 'POST', path: '/v1/shipments', times: 1 });
  expect((await ship(waybill, input)).result).toMatchObject({ __typename: 'OutcomeUnknown', idempotencyKey });
  return input;
}

const late = { shipsAgain: true, shipmentNamedAfterMs: 5_000 };

describe('a retry of shipOrder after a lost response', () => {
  // A search counts at once.
  const processingMs = 0;
  test.each([
    ['on the first page if the list starts with the newest shipment', false, [shipmentPage]],
    [
      'on the last page if the list starts with the oldest shipment',
      true,
      [shipmentPage, nextPage, nextPage],
    ],
  ])('finds the shipment %s', async (_where, oldestFirst, pages) => {
    await using waybill = await startWaybill({}, { quirks: { ...late, oldestFirst } });
    const input = await lose(waybill);
    const { result, calls } = await ship(waybill, input);
    expect(result).toMatchObject({ __typename: 'ShipOrderSuccess', order: { id: input.order } });
    expect(calls).toEqual([`GET /v1/${input.order}`, ...pages]);
    expect((await ship(waybill, input)).calls).toEqual([`GET /v1/${shipmentIdOf(result)}`]);
    expect(await shipmentsByOrder(waybill.sandbox, startOfTime)).toEqual(onceEach([input.order]));
  });

  test('searches for the shipment again if REST rejected the previous retry', async () => {
    await using waybill = await startWaybill({}, { quirks: late, processingMs });
    const input = await orderToShip(waybill);
    const failNext = (fault: { kind: 'reset' } | { kind: 'status'; status: number }) =>
      waybill.sandbox.faults.add({ ...fault, method: 'POST', path: '/v1/shipments', times: 1 });
    failNext({ kind: 'reset' });
    expect((await ship(waybill, input)).result.__typename).toBe('OutcomeUnknown');
    failNext({ kind: 'status', status: 400 });
    expect((await ship(waybill, input)).result.__typename).toBe('InvalidInput');
    const { result, calls } = await ship(waybill, input);
    expect(result.__typename).toBe('ShipOrderSuccess');
    expect(calls).toContain(shipmentPage);
  });

  test('returns Conflict if the first request had no idempotency key', async () => {
    await using waybill = await startWaybill({}, { quirks: late, processingMs });
    const input = await lose(waybill, null);
    const first = await ship(waybill, input);
    const named = expect.stringMatching(
      /^orders\/ca\d+ is already shipped as shipments\/ca\d+, but the order/,
    );
    expect(first.result).toEqual({ __typename: 'Conflict', message: named });
    expect(first.calls).toEqual([`GET /v1/${input.order}`, shipmentPage]);
    // What was found is noted, and needs no search again.
    const second = await ship(waybill, { ...input, idempotencyKey: 'another' });
    expect(second.result).toEqual(first.result);
    expect(second.calls).toEqual([`GET /v1/${input.order}`]);
    expect(await shipmentsByOrder(waybill.sandbox, startOfTime)).toEqual(onceEach([input.order]));
  });

  test('returns OutcomeUnknown if the listed shipments have no quotes', async () => {
    await using waybill = await startWaybill({}, { quirks: { ...late, rowsLack: { shipments: ['quote'] } } });
    const input = await lose(waybill);
    const { result, calls } = await ship(waybill, input);
    expect(result).toMatchObject({ __typename: 'OutcomeUnknown', idempotencyKey: 'lost' });
    expect(calls).toEqual([`GET /v1/${input.order}`, shipmentPage]);
    // Once the order names it, it is known.
    waybill.sandbox.clock.advance(5_000);
    const known = await ship(waybill, input);
    expect(known.result).toMatchObject({ __typename: 'ShipOrderSuccess' });
    expect(known.calls).toHaveLength(2);
    expect(known.calls).not.toContain(postShipment);
  });

  test('returns OutcomeUnknown if the list of shipments never ends', async () => {
    await using waybill = await startWaybill({}, { quirks: { ...late, oldestFirst: true }, processingMs });
    const input = await lose(waybill);
    waybill.sandbox.faults.add({
      kind: 'change',
      method: 'GET',
      path: '/v1/shipments',
      change: (page) => ({ ...(page as object), shipments: [], nextPageToken: 'again' }),
    });
    const { result, calls } = await ship(waybill, input);
    expect(result).toMatchObject({ __typename: 'OutcomeUnknown' });
    expect(calls).not.toContain(postShipment);
  });

  test('creates the shipment if the whole list does not contain it', async () => {
    await using waybill = await startWaybill({}, { quirks: { ...late, oldestFirst: true }, processingMs });
    const input = { ...(await orderToShip(waybill)), idempotencyKey: 'never' };
    waybill.sandbox.faults.add({ kind: 'reset', method: 'POST', path: '/v1/shipments', times: 1 });
    expect((await ship(waybill, input)).result).toMatchObject({ __typename: 'OutcomeUnknown' });
    const { result, calls } = await ship(waybill, input);
    expect(result).toMatchObject({ __typename: 'ShipOrderSuccess' });
    expect(calls).toEqual([`GET /v1/${input.order}`, shipmentPage, nextPage, nextPage, postShipment]);
    expect(await shipmentsByOrder(waybill.sandbox, startOfTime)).toEqual(onceEach([input.order]));
  });
});

describe('an order that shows its shipment with a delay', () => {
  test('is not shipped again by a second request', async () => {
    await using waybill = await startWaybill({}, { quirks: late });
    const input = await orderToShip(waybill);
    const first = await ship(waybill, input);
    if (first.result.__typename !== 'ShipOrderSuccess') throw new Error(JSON.stringify(first));
    const { id } = first.result.shipment;
    const second = await ship(waybill, input);
    expect(second).toEqual({
      result: {
        __typename: 'Conflict',
        message:
          `${input.order} is already shipped as ${id}, but the order does not show this shipment yet. No new shipment was created. ` +
          `Read shipment(id: "${id}").`,
      },
      calls: [`GET /v1/${input.order}`],
    });
    waybill.sandbox.clock.advance(5_000);
    const third = await ship(waybill, input);
    expect(third.result).toEqual({
      __typename: 'Conflict',
      message: `${input.order} is already shipped as ${id}. No new shipment was created. Read the field "shipment" of the order.`,
    });
    expect(third.calls).toEqual([`GET /v1/${input.order}`, origins]);
  });

  /** A server before which the times of stored attempts are `age.ms` milliseconds earlier. */
  async function startAging() {
    const age = { ms: 0 };
    const keyStore: KeyStore = {
      ...memoryStore,
      async claim(key, fingerprint) {
        const claimed = await memoryStore.claim(key, fingerprint);
        if (claimed.state !== 'claimed' || claimed.progress === undefined) return claimed;
        // Here, all progress is of shipOrder and its lock.
        const progress = claimed.progress as ShippingProgress | ShippingNote;
        const { earliestMs = 0 } = progress;
        const aged = { ...progress, earliestMs: earliestMs - age.ms };
        if (!('postedAtMs' in progress)) return { ...claimed, progress: aged };
        const { postedAtMs = 0 } = progress;
        return { ...claimed, progress: { ...aged, postedAtMs: postedAtMs - age.ms } };
      },
    };
    return { age, waybill: await startWaybill({}, { quirks: late, keyStore, processingMs: 0 }) };
  }

  test('is shipped again if it still shows no shipment after an hour', async () => {
    const { age, waybill } = await startAging();
    await using _waybill = waybill;
    const input = await orderToShip(waybill);
    expect((await ship(waybill, input)).result.__typename).toBe('ShipOrderSuccess');
    age.ms = 3_590_000;
    expect((await ship(waybill, input)).result.__typename).toBe('Conflict');
    // REST's clock has whole seconds.
    age.ms = 3_601_000;
    const { result, calls } = await ship(waybill, input);
    expect(result.__typename).toBe('ShipOrderSuccess');
    expect(calls).toEqual([`GET /v1/${input.order}`, origins, postQuote, postShipment]);
  });

  test('is not shipped again within an hour of the last attempt with a key', async () => {
    const { age, waybill } = await startAging();
    await using _waybill = waybill;
    const input = { ...(await orderToShip(waybill)), idempotencyKey: 'an hour later' };
    waybill.sandbox.faults.add({ kind: 'reset', method: 'POST', path: '/v1/shipments', times: 1 });
    expect((await ship(waybill, input)).result.__typename).toBe('OutcomeUnknown');
    age.ms = 3_600_000;
    expect((await ship(waybill, input)).result.__typename).toBe('ShipOrderSuccess');
    age.ms = 0;
    const other = await ship(waybill, { ...input, idempotencyKey: 'another key' });
    expect(other.result.__typename).toBe('Conflict');
    expect(await shipmentsByOrder(waybill.sandbox, startOfTime)).toEqual(onceEach([input.order]));
  });
});

describe('a shipment that is created after the timeout', () => {
  // Long enough for the other calls on a busy machine.
  const slow = { UPSTREAM_TIMEOUT_MS: '4000' };
  const processingMs = 9_000;
  const delay = ({ sandbox }: Waybill) =>
    sandbox.faults.add({ kind: 'delay', delayMs: 6_000, method: 'POST', path: '/v1/shipments', times: 1 });

  test('is not created again by a concurrent request', async () => {
    await using waybill = await startWaybill(slow, { quirks: late, processingMs });
    const input = await orderToShip(waybill);
    delay(waybill);
    const both = await Promise.all([ship(waybill, input), ship(waybill, input)]);
    expect(both.map(({ result }) => result.__typename).sort()).toEqual(['Conflict', 'OutcomeUnknown']);
    expect(await shipmentsByOrder(waybill.sandbox, startOfTime)).toEqual(onceEach([input.order]));
  });

  test('is found by a retry with the same key', async () => {
    await using waybill = await startWaybill(slow, { quirks: late, processingMs });
    const input = { ...(await orderToShip(waybill)), idempotencyKey: 'given up' };
    delay(waybill);
    expect((await ship(waybill, input)).result.__typename).toBe('OutcomeUnknown');
    const { result, calls } = await ship(waybill, input);
    expect(result.__typename).toBe('ShipOrderSuccess');
    const search = [`GET /v1/${input.order}`, shipmentPage];
    expect(calls).toEqual([...search, ...search]);
    expect(await shipmentsByOrder(waybill.sandbox, startOfTime)).toEqual(onceEach([input.order]));
  });

  test('is reported as OutcomeUnknown if a retry has too little time to wait for it', async () => {
    await using waybill = await startWaybill(
      { UPSTREAM_TIMEOUT_MS: '1500', OPERATION_TIMEOUT_MS: '5000' },
      { quirks: late },
    );
    const input = { ...(await orderToShip(waybill)), idempotencyKey: 'no time' };
    delay(waybill);
    expect((await ship(waybill, input)).result.__typename).toBe('OutcomeUnknown');
    const { result, calls } = await ship(waybill, input);
    expect(result).toMatchObject({
      __typename: 'OutcomeUnknown',
      message: expect.stringMatching(/Send the request again with the same idempotencyKey in \d+ seconds\.$/),
    });
    expect(calls).toEqual([`GET /v1/${input.order}`, shipmentPage]);
  });
});

test('a search for a shipment does not share a list request that began earlier', async () => {
  const sandbox = await startSeededSandbox({ quirks: late });
  const start = () => startWaybill({}, { sandbox, keyStore: memoryStore });
  await using one = await start();
  await using other = await start();
  for (const server of [one, other]) await learnMerchants(server, sandbox.tokens.first);
  const input = await orderToShip(one);
  sandbox.faults.add({
    kind: 'drip',
    bytes: 500_000,
    everyMs: 150,
    path: '/v1/shipments',
    method: 'GET',
    times: 1,
  });
  const before = other.ask('{ shipments(first: 1000) { nodes { id } } }');
  await expect.poll(() => sandbox.requests.lines(), { interval: 1 }).toEqual([shipmentPage]);
  sandbox.faults.add({ kind: 'applied-then-cut', method: 'POST', path: '/v1/shipments', times: 1 });
  const [first, second] = await Promise.all([ship(one, input), ship(other, input)]);
  expect([first.result.__typename, second.result.__typename]).toEqual(['OutcomeUnknown', 'Conflict']);
  expect((await before).errors).toBeUndefined();
  expect(await shipmentsByOrder(sandbox, startOfTime)).toEqual(onceEach([input.order]));
  await sandbox.close();
});

describe('shipOrder as a later field of a mutation', () => {
  const document = `mutation ($order: ID!, $input: ShipOrderInput!) {
    first: updateOrder(input: { id: $order, notes: "read by now" }) { __typename }
    slow: updateOrder(input: { id: "ca2490", notes: "slow" }) { __typename }
    shipped: shipOrder(input: $input) { __typename ... on UserError { message } }
  }`;

  test.each<[string, (waybill: Waybill, input: OrderToShip) => Promise<unknown>, string]>([
    ['shipped', (waybill, input) => ship(waybill, input), 'is already shipped'],
    [
      'cancelled',
      ({ ask }, { order }) =>
        ask(`mutation { updateOrder(input: { id: "${order}", status: CANCELLED }) { __typename } }`),
      'is CANCELLED',
    ],
  ])('returns Conflict if another request has %s the order meanwhile', async (_what, change, message) => {
    await using waybill = await startWaybill({}, { quirks: { shipsAgain: true } });
    const input = await orderToShip(waybill);
    waybill.sandbox.faults.add({ kind: 'delay', delayMs: 400, path: '/v1/orders/ca2490', times: 1 });
    const operation = waybill.ask<{ shipped: { message: string } }, unknown>(document, {
      order: input.order,
      input,
    });
    await expect.poll(() => waybill.sandbox.requests.lines()).toContain('PATCH /v1/orders/ca2490');
    await change(waybill, input);
    const { data } = await operation;
    expect(data.shipped).toMatchObject({ __typename: 'Conflict', message: expect.stringContaining(message) });
    expect(
      Object.values(await shipmentsByOrder(waybill.sandbox, startOfTime)).every((count) => count === 1),
    ).toBe(true);
  });
});

describe('shipOrder with a REST service that ships orders of every status', () => {
  test.each(['CANCELLED', 'DELIVERED', 'RETURN'])(
    'returns Conflict without a POST if the status of the order is %s',
    async (status) => {
      await using waybill = await startWaybill({}, { quirks: { shipsAgain: true } });
      const input = await orderToShip(waybill);
      waybill.sandbox.faults.add({
        kind: 'change',
        method: 'GET',
        path: `/v1/${input.order}`,
        change: (order) => ({ ...(order as object), status }),
      });
      const { result, calls } = await ship(waybill, input);
      const message = `${input.order} is ${status} and can't be shipped. Nothing was shipped.`;
      expect(result).toEqual({ __typename: 'Conflict', message });
      expect(calls.toSorted()).toEqual([`GET /v1/${input.order}`, organizationCall, origins].sort());
    },
  );
});

describe('a retry of createOrder after a lost response', () => {
  // A search counts at once.
  const processingMs = 0;
  const search = 'GET /v1/orders?pageSize=1000&search=again';
  const input = { ...orderToCreate, referenceId: 'again' };
  const create = async ({ ask }: Waybill, idempotencyKey: string) => {
    const { data, calls } = await ask(CreateOrderDocument, { input: { ...input, idempotencyKey } });
    return { result: data.createOrder, calls };
  };
  const cut = ({ sandbox }: Waybill, kind: 'applied-then-cut' | 'reset') =>
    sandbox.faults.add({ kind, method: 'POST', path: '/v1/orders', times: 1 });

  test('does not return an equal order that is older than the first attempt', async () => {
    await using waybill = await startWaybill({}, { processingMs });
    const older = await create(waybill, 'older');
    expect(older.result.__typename).toBe('CreateOrderSuccess');
    waybill.sandbox.clock.advance(60_000);
    await waybill.ask('{ organization { id } }');
    cut(waybill, 'reset');
    expect((await create(waybill, 'new')).result.__typename).toBe('OutcomeUnknown');
    const again = await create(waybill, 'new');
    expect(again.result.__typename).toBe('OutcomeUnknown');
    expect(again.calls).toEqual([search]);
  });

  test.each([
    ['exact', { dateOffsetMs: 0 }],
    ['an hour ahead', { dateOffsetMs: 3_600_000 }],
  ])('finds the new order despite an equal older one if the REST clock is %s', async (_how, quirks) => {
    await using waybill = await startWaybill({}, { quirks, processingMs });
    if (quirks.dateOffsetMs !== 0) {
      waybill.sandbox.faults.add({
        kind: 'change',
        method: 'GET',
        path: '/v1/orders',
        change: (page) => inAnHour(page),
      });
    }
    await create(waybill, 'older');
    waybill.sandbox.clock.advance(60_000);
    await waybill.ask('{ organization { id } }');
    cut(waybill, 'applied-then-cut');
    expect((await create(waybill, 'new')).result.__typename).toBe('OutcomeUnknown');
    const again = await create(waybill, 'new');
    expect(again.result.__typename).toBe('CreateOrderSuccess');
    expect(again.calls).toEqual([search]);
  });

  test.each([
    ['ignores an order that was created 3.5 seconds before the first attempt', 3_500, 'OutcomeUnknown'],
    ['returns an order that was created 1 second before the first attempt', 1_000, 'CreateOrderSuccess'],
  ])('%s', async (_when, beforeMs, expected) => {
    await using waybill = await startWaybill({}, { processingMs });
    await create(waybill, 'older');
    waybill.sandbox.clock.advance(beforeMs);
    await waybill.ask('{ organization { id } }');
    cut(waybill, 'reset');
    expect((await create(waybill, 'new')).result.__typename).toBe('OutcomeUnknown');
    expect((await create(waybill, 'new')).result.__typename).toBe(expected);
  });

  test('finds the order if createOrder was the first operation of the server', async () => {
    await using waybill = await startWaybill({}, { processingMs });
    cut(waybill, 'applied-then-cut');
    expect((await create(waybill, 'first')).result.__typename).toBe('OutcomeUnknown');
    expect((await create(waybill, 'first')).result.__typename).toBe('CreateOrderSuccess');
  });

  test('returns OutcomeUnknown if the REST service sends no Date header', async () => {
    await using waybill = await startWaybill({}, { quirks: { hasDate: false }, processingMs });
    await waybill.ask('{ organization { id } }');
    cut(waybill, 'applied-then-cut');
    expect((await create(waybill, 'timeless')).result.__typename).toBe('OutcomeUnknown');
    const again = await create(waybill, 'timeless');
    expect(again.result.__typename).toBe('OutcomeUnknown');
    expect(again.calls).toEqual([]);
  });

  /** A page of orders that the service says to have created an hour later. */
  function inAnHour(page: unknown): object {
    const { orders, ...rest } = page as { orders: { createTime: string }[] };
    const later = (time: string) => new Date(Date.parse(time) + 3_600_000).toISOString();
    return { ...rest, orders: orders.map((order) => ({ ...order, createTime: later(order.createTime) })) };
  }
});

test.each([
  ['newest first', false],
  ['oldest first', true],
])('orderByReference returns the newest of three orders if the list is %s', async (_order, oldestFirst) => {
  await using waybill = await startWaybill({}, { quirks: { oldestFirst } });
  const ids: string[] = [];
  for (const _time of [1, 2, 3]) {
    ids.push((await orderToShip(waybill, { referenceId: 'three times' })).order);
    waybill.sandbox.clock.advance(1_000);
  }
  const { data, calls } = await waybill.ask(OrderByReferenceDocument, { referenceId: 'three times' });
  expect(data).toEqual({ orderByReference: { id: ids[2], referenceId: 'three times' } });
  // This token has just written the order.
  expect(calls).toEqual(['GET /v1/orders?pageSize=100&search=three times', `GET /v1/${ids[2]}`]);
});
