import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type KeyedResult, keyedMutation } from '../../fixtures/keyed-mutations.ts';
import { learnMerchants } from '../../fixtures/known-merchant.ts';
import { type OrderToShip, orderToShip } from '../../fixtures/order-to-ship.ts';
import { onceEach, shipmentsByOrder } from '../../fixtures/rest-shipments.ts';
import { startOfTime, startWaybill, type Waybill } from '../../harness.ts';

// REST does the write, and responds with the record of another request.

let waybill: Waybill;
beforeAll(async () => {
  waybill = await startWaybill();
  await learnMerchants(waybill, waybill.sandbox.tokens.first);
});
afterEach(() => waybill.sandbox.faults.clear());
afterAll(() => waybill[Symbol.asyncDispose]());

/** Fields that other requests have, and that no response may show. */
const canary = {
  notes: 'canary',
  text: 'canary',
  recipient: { firstName: 'canary', lastName: 'canary', location: 'locations/canary' },
  offers: [{ courier: 'couriers/canary', status: 'SUCCESS', shipmentCostCents: 1 }],
  shipment: 'shipments/canary',
};

/** Responds to the next POST at `path` with these fields in the record. */
function foreign(path: string, fields: object): void {
  waybill.sandbox.faults.add({
    kind: 'change',
    method: 'POST',
    path,
    times: 1,
    change: (record) => ({ ...Object(record), ...canary, ...fields }),
  });
}

const run = (name: string, input: object) =>
  waybill.ask<KeyedResult, unknown>(keyedMutation(name).document, { input });
const postsOf = (calls: string[]) => calls.filter((call) => call.startsWith('POST '));

const foreignRecords: [mutation: string, what: string, record: object][] = [
  ['createOrder', 'another reference', { name: 'orders/canary', referenceId: 'canary' }],
  ['createQuote', 'an order that the input does not name', { name: 'quotes/canary', order: 'orders/ca2490' }],
  ['createQuote', 'another origin', { name: 'quotes/canary', origin: 'locations/narino-pasto' }],
  ['createQuote', 'another destination', { name: 'quotes/canary', destination: 'locations/huila-pitalito' }],
  ['createShipment', 'another quote', { name: 'shipments/canary', quote: 'quotes/ca2100' }],
  ['createShipment', 'another courier', { name: 'shipments/canary', courier: 'couriers/canary' }],
  ['createShipment', 'another origin', { name: 'shipments/canary', origin: 'origins/ca1' }],
  ['sendMessage', 'another channel', { name: 'channels/ca2/conversations/ca53/messages/canary' }],
  ['sendMessage', 'another conversation', { name: 'channels/ca1/conversations/ca54/messages/canary' }],
  ['sendMessageToPhone', 'another channel', { name: 'channels/ca2/conversations/ca9/messages/canary' }],
];

describe.each(foreignRecords)('%s that gets a record with %s', (name, what, record) => {
  const { path } = keyedMutation(name);

  test('returns OutcomeUnknown without the record', async () => {
    const input = await keyedMutation(name).newInput(waybill);
    foreign(path, record);
    const { data, errors, calls } = await run(name, input);
    expect([data.result.__typename, errors]).toEqual(['OutcomeUnknown', undefined]);
    expect(postsOf(calls)).toEqual([`POST ${path}`]);
    expect(JSON.stringify(data)).not.toContain('canary');
  });

  test('never returns the record to a retry with the same key', async () => {
    const input = { ...(await keyedMutation(name).newInput(waybill)), idempotencyKey: `${name} ${what}` };
    foreign(path, record);
    expect((await run(name, input)).data.result.__typename).toBe('OutcomeUnknown');
    const again = await run(name, input);
    // Only the search for the order of createOrder finds what REST has done.
    const expected = name === 'createOrder' ? 'CreateOrderSuccess' : 'OutcomeUnknown';
    expect([again.data.result.__typename, postsOf(again.calls)]).toEqual([expected, []]);
    expect(JSON.stringify(again)).not.toContain('canary');
  });
});

test.each([
  ['name', { name: 'orders/ca2491' }],
  ['name and reference', { name: 'orders/ca2492', referenceId: 'canary' }],
  ['name and texts', { name: 'orders/canary' }],
])('updateOrder returns OutcomeUnknown if the record has another %s', async (_what, record) => {
  const path = '/v1/orders/ca2490';
  waybill.sandbox.faults.add({
    kind: 'change',
    method: 'PATCH',
    path,
    times: 1,
    change: (order) => ({ ...Object(order), ...canary, ...record }),
  });
  const update = (alias: string) =>
    `${alias}: updateOrder(input: { id: "ca2490", notes: "mine" }) {
      __typename ... on UpdateOrderSuccess { order { id notes } } ... on UserError { message }
    }`;
  // The second update would return a record that the first has cached.
  const { data, calls } = await waybill.ask(`mutation { ${update('first')} ${update('second')} }`);
  expect(data).toMatchObject({
    first: { __typename: 'OutcomeUnknown' },
    second: { __typename: 'UpdateOrderSuccess', order: { id: 'orders/ca2490', notes: 'mine' } },
  });
  expect(calls).toEqual([`PATCH ${path}`, `PATCH ${path}`]);
  expect(JSON.stringify(data)).not.toContain('canary');
});

test('the quote of another request is not cached for the next mutation', async () => {
  const { quote, ...shipment } = Object(await keyedMutation('createShipment').newInput(waybill));
  const input = await keyedMutation('createQuote').newInput(waybill);
  foreign('/v1/quotes', { name: quote, order: 'orders/ca2490' });
  const { data, calls } = await waybill.ask<Record<'quoted' | 'shipped', object>, unknown>(
    `mutation ($quoteInput: CreateQuoteInput!, $shipmentInput: CreateShipmentInput!) {
      quoted: createQuote(input: $quoteInput) { __typename }
      shipped: createShipment(input: $shipmentInput) {
        __typename ... on CreateShipmentSuccess { shipment { quote { id order { id } } } }
      }
    }`,
    { quoteInput: input, shipmentInput: { ...shipment, quote, idempotencyKey: 'not cached' } },
  );
  expect(data).toEqual({
    quoted: { __typename: 'OutcomeUnknown' },
    shipped: { __typename: 'CreateShipmentSuccess', shipment: { quote: { id: quote, order: null } } },
  });
  expect(calls).toEqual(['POST /v1/quotes', `GET /v1/${quote}`, 'POST /v1/shipments']);
});

describe('shipOrder', () => {
  const readsOf = ({ order }: OrderToShip) => [
    `GET /v1/${order}`,
    'GET /v1/origins?pageSize=1000',
    'POST /v1/quotes',
  ];
  let keys = 0;
  const newKeyed = async () => {
    keys += 1;
    return { ...(await orderToShip(waybill)), idempotencyKey: `ship ${keys}` };
  };

  test.each([
    ['another order', { name: 'quotes/canary', order: 'orders/ca2490' }, /its "order" differs/],
    ['another origin', { name: 'quotes/canary', origin: 'locations/canary' }, /its "origin" differs/],
    ['another destination', { name: 'quotes/canary', destination: 'canary' }, /its "destination" differs/],
    ['the name of a shipment', { name: 'shipments/canary' }, /that is not a record of quotes/],
  ])('ships nothing after a quote with %s, and leaves the key free', async (_what, quote, reason) => {
    const input = await newKeyed();
    foreign('/v1/quotes', quote);
    const { data, errors, calls } = await run('shipOrder', input);
    expect([data, calls.toSorted()]).toEqual([{ result: null }, readsOf(input).sort()]);
    expect(errors).toMatchObject([
      { path: ['result'], extensions: { code: 'UPSTREAM_INVALID_RESPONSE', retryable: false } },
    ]);
    expect(errors?.[0]?.message).toMatch(reason);
    expect(errors?.[0]?.message).toMatch(/Nothing was shipped\. Send the request again\.$/);
    expect(JSON.stringify([data, errors])).not.toContain('canary');
    // A key that is free takes another input.
    const again = await run('shipOrder', { ...input, offer: { prefer: 'FASTEST' } });
    expect(again.data.result.__typename).toBe('ShipOrderSuccess');
    // The document selects the status of the order, which the shipment has changed.
    const expected = [...readsOf(input), 'POST /v1/shipments', `GET /v1/${input.order}`];
    expect(again.calls.toSorted()).toEqual(expected.sort());
    const { [input.order]: count } = await shipmentsByOrder(waybill.sandbox, startOfTime);
    expect(count).toBe(1);
  });

  test.each([
    ['quote', { quote: 'quotes/ca2100' }],
    ['courier', { courier: 'couriers/canary' }],
    ['origin', { origin: 'origins/ca1' }],
  ])('returns its own shipment on a retry after a response with another %s', async (_what, shipment) => {
    await using own = await startWaybill({}, { processingMs: 0 });
    await learnMerchants(own, own.sandbox.tokens.first);
    const { document } = keyedMutation('shipOrder');
    const input = { ...(await orderToShip(own)), idempotencyKey: 'ship' };
    own.sandbox.faults.add({
      kind: 'change',
      method: 'POST',
      path: '/v1/shipments',
      times: 1,
      change: (record) => ({ ...Object(record), ...canary, name: 'shipments/canary', ...shipment }),
    });
    const first = await own.ask<KeyedResult, unknown>(document, { input });
    expect([first.data.result.__typename, first.errors]).toEqual(['OutcomeUnknown', undefined]);
    expect(first.calls.toSorted()).toEqual([...readsOf(input), 'POST /v1/shipments'].sort());
    const again = await own.ask<KeyedResult, unknown>(document, { input });
    expect([again.data.result.__typename, postsOf(again.calls)]).toEqual(['ShipOrderSuccess', []]);
    expect(JSON.stringify([first.data, again])).not.toContain('canary');
    expect(await shipmentsByOrder(own.sandbox, startOfTime)).toEqual(onceEach([input.order]));
  });

  test('finds its shipment in a list whose quotes lack the prefix "quotes/"', async () => {
    await using own = await startWaybill(
      {},
      { processingMs: 0, quirks: { shipsAgain: true, shipmentNamedAfterMs: 5_000 } },
    );
    await learnMerchants(own, own.sandbox.tokens.first);
    const { document } = keyedMutation('shipOrder');
    const input = { ...(await orderToShip(own)), idempotencyKey: 'ship' };
    own.sandbox.faults.add({ kind: 'applied-then-cut', method: 'POST', path: '/v1/shipments', times: 1 });
    own.sandbox.faults.add({
      kind: 'change',
      method: 'GET',
      path: '/v1/shipments',
      times: 1,
      change: (page) => ({
        shipments: Object(page).shipments.map((row: { quote: string }) => ({
          ...row,
          quote: row.quote.replace('quotes/', ''),
        })),
      }),
    });
    const first = await own.ask<KeyedResult, unknown>(document, { input });
    const again = await own.ask<KeyedResult, unknown>(document, { input });
    expect([first.data.result.__typename, again.data.result.__typename]).toEqual([
      'OutcomeUnknown',
      'ShipOrderSuccess',
    ]);
    expect(postsOf(again.calls)).toEqual([]);
    own.sandbox.clock.advance(5_000);
    expect(await shipmentsByOrder(own.sandbox, startOfTime)).toEqual(onceEach([input.order]));
  });

  test.each([
    ['empty', ''],
    ['null', null],
    ['an object', {}],
  ])('never ships again while "quote" is %s in the rows of the list', async (_what, quote) => {
    await using own = await startWaybill(
      {},
      { processingMs: 0, quirks: { shipsAgain: true, shipmentNamedAfterMs: 5_000 } },
    );
    await learnMerchants(own, own.sandbox.tokens.first);
    const { document } = keyedMutation('shipOrder');
    const input = { ...(await orderToShip(own)), idempotencyKey: 'ship' };
    own.sandbox.faults.add({ kind: 'applied-then-cut', method: 'POST', path: '/v1/shipments', times: 1 });
    const heal = own.sandbox.faults.add({
      kind: 'change',
      method: 'GET',
      path: '/v1/shipments',
      change: (page) => ({
        shipments: Object(page).shipments.map((row: object) => ({ ...row, quote })),
      }),
    });
    for (const _attempt of ['first', 'second']) {
      const { data } = await own.ask<KeyedResult, unknown>(document, { input });
      expect(data.result.__typename).toBe('OutcomeUnknown');
    }
    heal();
    own.sandbox.clock.advance(5_000);
    expect(await shipmentsByOrder(own.sandbox, startOfTime)).toEqual(onceEach([input.order]));
  });
});
