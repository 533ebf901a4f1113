import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Fault } from '../../../src/sandbox/sandbox.ts';
import { type ShipOrderInput, ShipOrdersDocument } from '../../documents.generated.ts';
import { learnMerchants } from '../../fixtures/known-merchant.ts';
import { type OrderToShip, orderInput, orderToShip, parcel } from '../../fixtures/order-to-ship.ts';
import { tooManyWrites } from '../../fixtures/too-many-writes.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

/** Makes one call at a time and for one order, so that it is certain which one a fault befalls, and what comes after what. */
let waybill: Waybill;
beforeAll(async () => {
  // A search counts at once.
  const environment = { UPSTREAM_CONNECTIONS: '1', UPSTREAM_LISTS_FOR_BATCHES: 'no' };
  waybill = await startWaybill(environment, { processingMs: 0 });
  await learnMerchants(waybill, waybill.sandbox.tokens.first);
});
afterEach(() => waybill.sandbox.faults.clear());
afterAll(() => waybill[Symbol.asyncDispose]());

const fail = (fault: Fault) => waybill.sandbox.faults.add(fault);
const ship = (inputs: ShipOrderInput[], server = waybill) => server.ask(ShipOrdersDocument, { inputs });

const origins = 'GET /v1/origins?pageSize=1000';
const postQuote = 'POST /v1/quotes';
const postShipment = 'POST /v1/shipments';
const read = ({ order }: OrderToShip) => `GET /v1/${order}`;
const times = (count: number, call: string) => Array.from({ length: count }, () => call);

const id = (collection: string) => expect.stringMatching(`^${collection}/ca\\d{4}$`);
const success = ({ order }: OrderToShip) => ({
  __typename: 'ShipOrderSuccess',
  order: { id: order, shipment: { id: id('shipments') } },
  quote: { id: id('quotes') },
  shipment: { id: id('shipments') },
});
const shippedAlready = ({ order }: OrderToShip) => ({
  __typename: 'Conflict',
  message: expect.stringMatching(`^${order} is already shipped as shipments/ca\\d{4}\\.`),
});
const failed = (message: string, code: string, retryAfterMs: number | null = null) => ({
  __typename: 'WriteFailed',
  message,
  code,
  retryable: retryAfterMs !== null,
  retryAfterMs,
});
const answered = (results: object[], calls: string[]) => ({
  status: 200,
  data: { shipOrders: results },
  errors: undefined,
  calls,
});

async function newOrders(count: number): Promise<[OrderToShip, ...OrderToShip[]]> {
  const orders: [OrderToShip, ...OrderToShip[]] = [await orderToShip(waybill)];
  while (orders.length < count) orders.push(await orderToShip(waybill));
  return orders;
}

/** Starts a server that reads 10 shipped orders as one page, because their reads by id would be too many. */
async function startWithFewReads(): Promise<Waybill> {
  const { sandbox } = waybill;
  const server = await startWaybill({ UPSTREAM_READS_PER_OPERATION: '20' }, { sandbox });
  await learnMerchants(server, sandbox.tokens.first);
  return server;
}

/** Changes these fields in all rows of the list of orders, until the returned function is called. */
const changeOrderRows = (fields: object) =>
  fail({
    kind: 'change',
    method: 'GET',
    path: '/v1/orders',
    change: (answer) => {
      const rows: object[] = Object(answer).orders;
      return { ...Object(answer), orders: rows.map((row) => ({ ...row, ...fields })) };
    },
  });

describe('shipOrders', () => {
  test('returns one result per input, in input order', async () => {
    const orders = await newOrders(3);
    expect(await ship(orders)).toEqual(
      answered(orders.map(success), [
        ...orders.map(read),
        origins,
        ...times(3, postQuote),
        ...times(3, postShipment),
        ...orders.map(read),
      ]),
    );
  });

  test('returns the result of every order even if some orders fail', async () => {
    const [cut, good, dear, limited, broken] = await newOrders(5);
    if (!good || !dear || !limited || !broken) throw new Error('expected 5 orders');
    const missing: OrderToShip = { order: 'orders/nosuch', origin: 'origins/ca4', package: parcel };
    const shipped: OrderToShip = { order: 'orders/ca2481', origin: 'origins/ca4', package: parcel };
    fail({ kind: 'reset', method: 'POST', path: '/v1/shipments', times: 1 });
    fail({ kind: 'status', status: 500, path: `/v1/${broken.order}` });
    fail({ kind: 'status', status: 429, path: `/v1/${limited.order}`, headers: { 'retry-after': '2' } });

    const inputs = [
      cut,
      good,
      { ...dear, maxShipmentCostCents: 0 },
      limited,
      broken,
      { ...good, order: '', maxShipmentCostCents: -1 },
      missing,
      shipped,
    ].map((input, index) => ({ ...input, idempotencyKey: `mixed ${index}` }));
    const answer = await ship(inputs);

    const results = [
      {
        __typename: 'OutcomeUnknown',
        message:
          'The response of the REST service was lost, so the write may or may not have happened. Retry with the same ' +
          `idempotencyKey: Waybill then looks for the shipment before it creates one. Or check whether order(id: "${cut.order}") has a shipment.`,
        idempotencyKey: 'mixed 0',
      },
      success(good),
      {
        __typename: 'NoOffer',
        message: expect.stringMatching(
          /^Nothing was shipped: every available offer costs more than 0 cents\. /,
        ),
        quote: { id: id('quotes') },
      },
      failed(`${read(limited)} returned 429`, 'RATE_LIMITED', 2000),
      failed(`${read(broken)} returned 500`, 'UPSTREAM_ERROR'),
      {
        __typename: 'InvalidInput',
        message: expect.stringMatching(
          /^The input is invalid, and nothing was written: order must be an id of the form /,
        ),
        fields: [
          { path: 'order', message: expect.stringMatching(/^must be an id of the form "orders/) },
          { path: 'maxShipmentCostCents', message: 'must be at least 0, but is -1' },
        ],
      },
      {
        __typename: 'NotFound',
        message: 'orders/nosuch does not exist. Check the id.',
        missingId: 'orders/nosuch',
      },
      shippedAlready(shipped),
    ];
    expect(answer).toEqual(
      answered(results, [
        ...[cut, good, dear, limited, broken, missing, shipped].map(read),
        origins,
        ...times(3, postQuote),
        ...times(2, postShipment),
        read(good),
      ]),
    );

    waybill.sandbox.faults.clear();
    // What was cut goes on, what failed is done, and what is known is read.
    const again = await ship(inputs);
    const { shipOrders } = answer.data;
    const shipmentIds = shipOrders.flatMap((result) => ('shipment' in result ? [result.shipment.id] : []));
    const [, ...known] = results;
    known.splice(2, 2, success(limited), success(broken));
    expect(again).toEqual(
      answered(
        [success(cut), ...known],
        [
          ...shipmentIds.map((id) => `GET /v1/${id}`),
          ...[limited, broken, missing, shipped, cut].map(read),
          origins,
          'GET /v1/shipments?pageSize=1000',
          ...times(2, postQuote),
          ...times(3, postShipment),
          ...[cut, good, limited, broken].map(read),
        ],
      ),
    );
  });

  test('ships an order once if the list has its full id and its bare identifier', async () => {
    const [order] = await newOrders(1);
    const bare = { ...order, order: order.order.replace('orders/', '') };
    expect(await ship([order, bare])).toEqual(
      answered(
        [success(order), shippedAlready(order)],
        [read(order), origins, postQuote, postShipment, read(order), read(order)],
      ),
    );
  });

  test('returns the same shipment for two equal inputs with the same key', async () => {
    const [order] = await newOrders(1);
    const keyed = { ...order, idempotencyKey: 'twice in a list' };
    const answer = await ship([keyed, keyed]);
    expect(answer).toEqual(
      answered(
        [success(order), success(order)],
        // The second request reads the order of the result for itself.
        [read(order), origins, postQuote, postShipment, read(order), read(order)],
      ),
    );
    const [first, second] = answer.data.shipOrders;
    expect(second).toEqual(first);
  });

  test('returns Conflict for a second order with the same key', async () => {
    const [one, other] = await newOrders(2);
    if (!other) throw new Error('expected 2 orders');
    const idempotencyKey = 'for two orders';
    const { data, calls } = await ship([
      { ...one, idempotencyKey },
      { ...other, idempotencyKey },
    ]);
    const message = expect.stringMatching(/^This idempotencyKey was used with another input\./);
    expect(data).toEqual({ shipOrders: [success(one), { __typename: 'Conflict', message }] });
    expect(calls).toEqual([read(one), origins, postQuote, postShipment, read(one)]);
  });

  test('reads 100 unshipped orders by their ids, and the shipped orders as one page', async () => {
    await using fast = await startWaybill({}, { sandbox: waybill.sandbox });
    await learnMerchants(fast, waybill.sandbox.tokens.first);
    const orders = await newOrders(100);
    const { data, errors, calls } = await ship(orders, fast);
    expect([data, errors]).toEqual([{ shipOrders: orders.map(success) }, undefined]);
    expect(calls.sort()).toEqual([
      // All of them, and once they are shipped the middle one, which the page is held against.
      ...[...orders.map(read), `GET /v1/${orders[50]?.order}`].sort(),
      'GET /v1/orders?pageSize=200',
      origins,
      ...times(100, postQuote),
      ...times(100, postShipment),
    ]);
  });

  test('depends on no row of a list, which may be older than an update by another token', async () => {
    await using fast = await startWaybill({}, { sandbox: waybill.sandbox });
    await learnMerchants(fast, waybill.sandbox.tokens.first);
    const orders = await newOrders(6);
    const end = changeOrderRows({ status: 'CANCELLED' });
    const { data, calls } = await ship(orders, fast);
    end();
    expect(data).toEqual({ shipOrders: orders.map(success) });
    expect(calls.filter((call) => orders.map(read).includes(call))).toHaveLength(12);
  });

  test('shows each shipment in its order even if a row of the list is older', async () => {
    await using fast = await startWithFewReads();
    const orders = await newOrders(10);
    const end = changeOrderRows({ shipment: undefined });
    const { data, calls } = await ship(orders, fast);
    end();
    expect(data).toEqual({ shipOrders: orders.map(success) });
    expect(calls).toContain('GET /v1/orders?pageSize=20');
  });

  test('shows each order as it was bought by if a row of the list is older', async () => {
    await using fast = await startWithFewReads();
    const orders = await newOrders(10);
    const end = changeOrderRows({ updateTime: '2020-01-01T00:00:00Z', notes: 'Before the update' });
    const document = `mutation ($inputs: [ShipOrderInput!]!) {
      shipOrders(inputs: $inputs) { ... on ShipOrderSuccess { order { id notes shipment { id } } } }
    }`;
    const { data, calls } = await fast.ask<object, unknown>(document, { inputs: orders });
    end();
    expect(data).toEqual({
      shipOrders: orders.map(({ order }) => ({
        order: { id: order, notes: orderInput.notes, shipment: { id: id('shipments') } },
      })),
    });
    expect(calls).toContain('GET /v1/orders?pageSize=20');
  });

  test('accepts an empty list', async () => {
    expect(await ship([])).toEqual(answered([], []));
  });
});

test('shipOrders rejects a list of 101 orders without a call', async () => {
  const inputs = Array.from({ length: 101 }, () => ({ order: 'ca2496', origin: 'ca1', package: parcel }));
  expect(await ship(inputs)).toEqual(tooManyWrites(101));
});

describe('the field shipOrders', () => {
  test('fails with one error if all orders fail with the same error', async () => {
    const orders = await newOrders(2);
    fail({ kind: 'status', status: 503, path: '/v1/origins' });
    const { data, errors, calls } = await ship(orders);
    expect(data).toEqual({ shipOrders: null });
    expect(errors).toMatchObject([
      {
        message: 'GET /v1/origins returned 503',
        path: ['shipOrders'],
        extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: true, upstreamStatus: 503 },
      },
    ]);
    expect(calls).toEqual([...orders.map(read), origins]);
  });

  test('has a result for each order if only some of the errors are retryable', async () => {
    const [first, second] = await newOrders(2);
    const inputs = [first, second].filter((input) => input !== undefined);
    fail({ kind: 'status', status: 503, path: `/v1/${first?.order}` });
    fail({ kind: 'status', status: 502, method: 'POST', path: '/v1/shipments' });
    const { data, errors } = await ship(inputs);
    expect(errors).toBeUndefined();
    expect(data.shipOrders).toMatchObject([
      { __typename: 'WriteFailed', code: 'UPSTREAM_UNAVAILABLE', retryable: true },
      { __typename: 'WriteFailed', code: 'UPSTREAM_UNAVAILABLE', retryable: false },
    ]);
  });
});
