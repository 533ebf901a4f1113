import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { startDyingStore } from '../../fixtures/dying-store.ts';
import { type LateShop, type Reply, startLateShop } from '../../fixtures/late-shop.ts';

// A service whose reads show a shipment later than its write, which ships each order as often as it is asked to.

const post = 'POST /v1/shipments';
const list = 'GET /v1/shipments';
/** Long enough that a search which does not wait comes too early. */
const processingMs = 100;

type Input = ReturnType<LateShop['orderToShip']>;

/** A request that pays for a shipment of an order. */
type Attempt = (
  shop: LateShop,
  input: Input,
) => Promise<{ __typename: string; message?: string; id?: string }>;

const ship =
  (idempotencyKey?: string): Attempt =>
  ({ run }, input) =>
    run('shipOrder', { ...input, idempotencyKey });
const accept =
  (idempotencyKey?: string): Attempt =>
  ({ run, quoteToShip }, { order }) =>
    run('createShipment', { ...quoteToShip(order), idempotencyKey });

const losses: [string, Reply][] = [
  ['a connection reset', 'reset'],
  ['a timeout', 'hang'],
  ['a response that is no JSON', 'no JSON'],
  ['a 500', { status: 500 }],
  ['a 502', { status: 502 }],
  ['a 503', { status: 503 }],
  ['a 504', { status: 504 }],
  ['a redirect', { status: 302 }],
];

/** Only a response that never comes needs a short timeout. */
const environmentOf = (reply: Reply) => (reply === 'hang' ? { UPSTREAM_TIMEOUT_MS: '1000' } : {});

describe.each(losses)('a shipment that REST shows late after %s', (_what, reply) => {
  test.each<[string, Attempt, Attempt, string]>([
    ['shipOrder with the same key', ship('one'), ship('one'), 'ShipOrderSuccess'],
    ['shipOrder with another key', ship('one'), ship('other'), 'Conflict'],
    ['shipOrder without a key', ship(), ship(), 'Conflict'],
    ['createShipment with another key', accept('one'), accept('other'), 'Conflict'],
    ['createShipment without a key', accept(), accept(), 'Conflict'],
    ['createShipment after shipOrder', ship('one'), accept(), 'Conflict'],
    ['shipOrder after createShipment', accept(), ship('one'), 'Conflict'],
  ])('is not bought again by %s', async (_who, first, second, expected) => {
    await using shop = await startLateShop({ environment: environmentOf(reply), processingMs });
    const input = shop.orderToShip();
    shop.hideNew();
    shop.onNext('/v1/shipments', reply);
    await first(shop, input);
    expect(shop.shipments).toHaveLength(1);
    const result = await second(shop, input);
    expect(result.__typename).toBe(expected);
    expect(JSON.stringify(result)).toContain('shipments/1');
    expect(shop.shipments).toHaveLength(1);
    expect(shop.elapsedMs(post)).toBeGreaterThanOrEqual(processingMs);
  });
});

test.each(losses)('a shipment that REST did not create is bought again after %s', async (_what, reply) => {
  await using shop = await startLateShop({ environment: environmentOf(reply), processingMs });
  const input = shop.orderToShip();
  shop.onNext('/v1/shipments', reply, false);
  await ship('one')(shop, input);
  expect((await ship('one')(shop, input)).__typename).toBe('ShipOrderSuccess');
  expect(shop.shipments).toHaveLength(1);
  expect(shop.elapsedMs(post)).toBeGreaterThanOrEqual(processingMs);
});

describe.each([400, 413])('a repeated POST that REST did, and then refused with %i', (status) => {
  const bought = { __typename: 'ShipOrderSuccess', id: 'shipments/1' };
  const conflict = { __typename: 'Conflict', message: expect.stringContaining('shipments/1') };

  test.each<[string, Attempt, Attempt, object]>([
    ['shipOrder with the same key', ship('one'), ship('one'), bought],
    ['shipOrder with another key', ship('one'), ship('two'), conflict],
    ['shipOrder without a key', ship('one'), ship(), conflict],
    ['createShipment', ship('one'), accept(), conflict],
  ])('is not bought again by %s', async (_who, first, next, expected) => {
    await using shop = await startLateShop({ processingMs });
    const input = shop.orderToShip();
    shop.onNext('/v1/shipments', 'reset', false);
    await first(shop, input);
    shop.hideNew();
    shop.onNext('/v1/shipments', { status, body: { message: 'The quote is used.' } });
    expect((await first(shop, input)).__typename).toBe('InvalidInput');
    expect(shop.shipments).toHaveLength(1);
    shop.calls();
    expect(await next(shop, input)).toMatchObject(expected);
    expect(shop.calls().filter((call) => call.startsWith('POST'))).toEqual([]);
    expect(shop.shipments).toHaveLength(1);
  });

  test('is not bought again by createShipment with the same quote', async () => {
    await using shop = await startLateShop({ processingMs });
    const quote = shop.quoteToShip();
    shop.onNext('/v1/shipments', 'reset', false);
    await shop.run('createShipment', quote);
    shop.hideNew();
    shop.onNext('/v1/shipments', { status, body: { message: 'The quote is used.' } });
    expect((await shop.run('createShipment', quote)).__typename).toBe('InvalidInput');
    shop.calls();
    expect(await shop.run('createShipment', quote)).toMatchObject(conflict);
    expect(shop.calls().filter((call) => call.startsWith('POST'))).toEqual([]);
    expect(shop.shipments).toHaveLength(1);
  });
});

describe('a POST that REST did, and then refused with 400,', () => {
  const path = '/v1/shipments';
  const refusal: Reply = { status: 400, body: { message: 'The quote is used.' } };
  const conflict = { __typename: 'Conflict', message: expect.stringContaining('shipments/1') };
  const isPost = (call: string) => call.startsWith('POST');

  test.each<[string, Attempt]>([
    ['the other key', ship('two')],
    ['a third key', ship('three')],
    ['no key', ship()],
    ['createShipment', accept()],
  ])('is not bought again by %s after another key has lost a quote', async (_who, next) => {
    await using shop = await startLateShop({ processingMs });
    const input = shop.orderToShip();
    shop.unnameShipments();
    for (const key of ['one', 'two']) {
      shop.onNext(path, 'reset', false);
      await ship(key)(shop, input);
    }
    shop.hideNew();
    shop.onNext(path, refusal);
    expect((await ship('one')(shop, input)).__typename).toBe('InvalidInput');
    shop.calls();
    expect(await next(shop, input)).toMatchObject(conflict);
    expect(shop.calls().filter(isPost)).toEqual([]);
    expect(shop.shipments).toHaveLength(1);
  });

  test('is not bought again if its quote was new, and another key has lost one', async () => {
    await using shop = await startLateShop({ processingMs });
    const input = shop.orderToShip();
    shop.unnameShipments();
    shop.onNext(path, 'reset', false);
    await ship('one')(shop, input);
    shop.hideNew();
    shop.onNext(path, refusal);
    expect((await ship('two')(shop, input)).__typename).toBe('InvalidInput');
    shop.calls();
    expect(await ship('two')(shop, input)).toMatchObject(conflict);
    expect(shop.calls().filter(isPost)).toEqual([]);
    expect(shop.shipments).toHaveLength(1);
  });

  test('is not bought again by a key that first lost a quote', async () => {
    await using shop = await startLateShop({ processingMs });
    const input = shop.orderToShip();
    shop.onNext('/v1/quotes', 'reset', false);
    await ship('one')(shop, input);
    shop.hideNew();
    shop.onNext(path, refusal);
    expect((await ship('one')(shop, input)).__typename).toBe('InvalidInput');
    shop.calls();
    expect(await ship('one')(shop, input)).toEqual({ __typename: 'ShipOrderSuccess', id: 'shipments/1' });
    expect(shop.calls().filter(isPost)).toEqual([]);
    expect(shop.shipments).toHaveLength(1);
  });

  test('is not bought again if another key shipped the order hours ago', async () => {
    await using shop = await startLateShop({ processingMs });
    const input = shop.orderToShip();
    shop.unnameShipments();
    shop.onNext(path, 'reset', false);
    await ship('one')(shop, input);
    expect((await ship('two')(shop, input)).__typename).toBe('ShipOrderSuccess');
    shop.advanceClock(2 * 3_600_000);
    await shop.ask('{ organization { id } }');
    shop.hideNew();
    shop.onNext(path, refusal);
    expect((await ship('one')(shop, input)).__typename).toBe('InvalidInput');
    shop.calls();
    expect(await ship('one')(shop, input)).toEqual({ __typename: 'ShipOrderSuccess', id: 'shipments/2' });
    expect(shop.calls().filter(isPost)).toEqual([]);
    expect(shop.shipments).toHaveLength(2);
  });
});

describe('a process that died during the POST', () => {
  test.each<[string, Attempt, Attempt]>([
    ['shipOrder with the same key', ship('died'), ship('died')],
    ['shipOrder without a key', ship('died'), ship()],
    ['createShipment without a key', accept(), accept()],
  ])('makes a retry search as long as the shipment may still appear: %s', async (_who, first, second) => {
    const { keyStore, recover } = startDyingStore();
    // Longer than the store may take for the time of the first look.
    const wholeMs = 1_000;
    await using shop = await startLateShop({ processingMs: wholeMs, keyStore });
    const input = shop.orderToShip();
    shop.hideNew(1, Number.POSITIVE_INFINITY);
    shop.onNext('/v1/shipments', 'reset');
    await first(shop, input);
    recover();
    await sleep(wholeMs);
    const startMs = performance.now();
    expect(JSON.stringify(await second(shop, input))).toContain('shipments/1');
    // A timer may end a millisecond early.
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(wholeMs - 2);
    expect(shop.shipments).toHaveLength(1);
  });
});

describe('a retry without enough time to wait', () => {
  test.each<[string, Attempt, RegExp]>([
    [
      'shipOrder with the same key',
      ship('one'),
      /Send the request again with the same idempotencyKey in \d+ seconds\.$/,
    ],
    [
      'shipOrder with another key',
      ship('two'),
      /Send the request again with the same idempotencyKey in \d+ seconds\.$/,
    ],
    ['shipOrder without a key', ship(), /Send the request again in \d+ seconds\.$/],
    [
      'createShipment with a key',
      accept('x'),
      /Send the request again with the same idempotencyKey in \d+ seconds\.$/,
    ],
    ['createShipment without a key', accept(), /Send the request again in \d+ seconds\.$/],
  ])('gets a message that says when to retry: %s', async (_who, retry, expected) => {
    await using shop = await startLateShop({
      environment: { OPERATION_TIMEOUT_MS: '5000' },
      processingMs: 60_000,
    });
    const input = shop.orderToShip();
    shop.hideNew(2);
    shop.onNext('/v1/shipments', { status: 503 });
    await ship('one')(shop, input);
    shop.calls();
    const result = await retry(shop, input);
    expect(result).toEqual({ __typename: 'OutcomeUnknown', message: expect.stringMatching(expected) });
    const calls = shop.calls();
    expect(calls.filter((call) => call.startsWith('POST'))).toEqual([]);
    expect(calls.filter((call) => call === list)).toHaveLength(1);
    // The same request gets the result once REST shows the shipment, also with a key that was new.
    shop.showAll();
    const again = await retry(shop, input);
    expect(again.__typename).toMatch(/^(ShipOrderSuccess|Conflict)$/);
    expect(JSON.stringify(again)).toContain('shipments/1');
    expect(shop.shipments).toHaveLength(1);
  });
});

test('a retry does not wait if REST already shows the shipment', async () => {
  await using shop = await startLateShop({
    environment: { OPERATION_TIMEOUT_MS: '5000' },
    processingMs: 60_000,
  });
  const input = shop.orderToShip();
  shop.onNext('/v1/shipments', { status: 503 });
  await ship('one')(shop, input);
  shop.calls();
  expect(await ship('one')(shop, input)).toEqual({ __typename: 'ShipOrderSuccess', id: 'shipments/1' });
  expect(shop.calls()).toEqual(['GET /v1/orders/1', 'GET /v1/shipments/1']);
});

test.each(losses)('a retry does not wait if POST /v1/quotes ended with %s', async (_what, reply) => {
  await using shop = await startLateShop({
    environment: { ...environmentOf(reply), OPERATION_TIMEOUT_MS: '5000' },
  });
  const input = shop.orderToShip();
  shop.onNext('/v1/quotes', reply);
  await ship('one')(shop, input);
  expect((await ship('one')(shop, input)).__typename).toBe('ShipOrderSuccess');
  expect(shop.shipments).toHaveLength(1);
});

describe('a quote without an order', () => {
  test.each<[string, string | undefined]>([
    ['a key', 'one'],
    ['no key', undefined],
  ])('is shipped only once if REST shows its shipment late: %s', async (_how, idempotencyKey) => {
    await using shop = await startLateShop({ processingMs });
    const quote = shop.quoteToShip();
    shop.hideNew();
    shop.onNext('/v1/shipments', { status: 500 });
    await shop.run('createShipment', { ...quote, idempotencyKey });
    const second = await shop.run('createShipment', quote);
    expect(second).toMatchObject({ __typename: 'Conflict', message: expect.stringContaining('shipments/1') });
    expect(shop.shipments).toHaveLength(1);
    expect(shop.elapsedMs(post)).toBeGreaterThanOrEqual(processingMs);
  });
});

describe('shipOrders', () => {
  test('ships an order while another order waits for its lost shipment', async () => {
    await using shop = await startLateShop({ processingMs: 1_000 });
    const [lost, fresh] = [shop.orderToShip(), shop.orderToShip()];
    const input = { ...lost, idempotencyKey: 'lost' };
    shop.hideNew();
    shop.onNext('/v1/shipments', 'reset');
    await shop.run('shipOrder', input);
    shop.calls();
    const results = await shop.runList('shipOrders', [input, { ...fresh, idempotencyKey: 'fresh' }]);
    expect(results).toEqual([
      { __typename: 'ShipOrderSuccess', id: 'shipments/1' },
      { __typename: 'ShipOrderSuccess', id: 'shipments/2' },
    ]);
    const calls = shop.calls();
    expect(calls.indexOf(post)).toBeLessThan(calls.lastIndexOf('GET /v1/orders/1'));
    expect(shop.shipments).toHaveLength(2);
  });

  test('reads the list of shipments for all lost orders together', async () => {
    await using shop = await startLateShop({ processingMs: 0 });
    const inputs = Array.from({ length: 12 }, (_, index) => ({
      ...shop.orderToShip(),
      idempotencyKey: `key ${index}`,
    }));
    for (const _input of inputs) shop.onNext('/v1/shipments', 'reset', false);
    await shop.runList('shipOrders', inputs);
    shop.calls();

    // The first list waits until the searches of all orders have begun.
    const { promise: allAreRead, resolve: noteAllRead } = Promise.withResolvers<void>();
    let reads = 0;
    for (const { order } of inputs) {
      shop.onRead(`/v1/${order}`, () => {
        reads += 1;
        if (reads === inputs.length) noteAllRead();
        return undefined;
      });
    }
    shop.onRead('/v1/shipments', async () => {
      await allAreRead;
      // The responses to the reads of the orders leave before the response to this query.
      await shop.ask('{ organization { id } }');
      return undefined;
    });
    const results = await shop.runList('shipOrders', inputs);
    expect(results.map(({ __typename }) => __typename)).toEqual(inputs.map(() => 'ShipOrderSuccess'));
    const calls = shop.calls().filter((call) => call !== 'GET /v1/organizations/mine');
    const lists = calls.filter((call) => call === list);
    // The first search, and all others.
    expect(lists.length).toBeLessThanOrEqual(2);
    expect(calls.toSorted()).toEqual(
      [...inputs.map(({ order }) => `GET /v1/${order}`), ...lists, ...inputs.map(() => post)].sort(),
    );
    expect(shop.shipments).toHaveLength(inputs.length);
  });

  test('says when to retry if no read is left for the second search', async () => {
    await using shop = await startLateShop({
      // The first search takes two.
      environment: { UPSTREAM_READS_PER_OPERATION: '3' },
      // Longer than the second request may take to begin.
      processingMs: 5_000,
    });
    const lost = { ...shop.orderToShip(), idempotencyKey: 'lost' };
    shop.onNext('/v1/shipments', 'reset', false);
    await shop.runList('shipOrders', [lost]);
    shop.calls();
    expect(await shop.runList('shipOrders', [lost])).toEqual([
      {
        __typename: 'OutcomeUnknown',
        message: expect.stringMatching(/Send the request again with the same idempotencyKey in 1 second\.$/),
      },
    ]);
    expect(shop.calls()).toEqual(['GET /v1/orders/1', list, 'GET /v1/orders/1']);
    expect(await shop.runList('shipOrders', [lost])).toEqual([
      { __typename: 'ShipOrderSuccess', id: 'shipments/1' },
    ]);
    expect(shop.calls()).toEqual(['GET /v1/orders/1', list, post]);
  });

  test('does not call a shipment unreadable if its second read was not sent', async () => {
    await using shop = await startLateShop({
      environment: { UPSTREAM_READS_PER_OPERATION: '3' },
      processingMs,
    });
    const inputs = ['a', 'b'].map((idempotencyKey) => ({ ...shop.orderToShip(), idempotencyKey }));
    for (const input of inputs) await shop.run('shipOrder', input);
    for (const id of [1, 2]) {
      let isFirst = true;
      shop.onRead(`/v1/shipments/${id}`, () => {
        const answer = isFirst ? 404 : undefined;
        isFirst = false;
        return answer;
      });
    }
    shop.calls();
    const results = await shop.runList('shipOrders', inputs);
    expect(results.sort((one, other) => one.__typename.localeCompare(other.__typename))).toEqual([
      { __typename: 'ShipOrderSuccess', id: expect.stringMatching(/^shipments\/[12]$/) },
      { __typename: 'WriteFailed', message: expect.stringMatching(/ was not sent: .* at most 3 REST reads/) },
    ]);
    expect(shop.calls()).toHaveLength(3);
  });

  test('returns OutcomeUnknown for each order if the time limit leaves no time to wait', async () => {
    await using shop = await startLateShop({
      environment: { OPERATION_TIMEOUT_MS: '5000' },
      processingMs: 60_000,
    });
    const inputs = ['a', 'b', 'c'].map((key) => ({ ...shop.orderToShip(), idempotencyKey: key }));
    shop.hideNew(100);
    for (const _input of inputs) shop.onNext('/v1/shipments', 'reset');
    await shop.runList('shipOrders', inputs);
    const results = await shop.runList('shipOrders', inputs);
    expect(results.map(({ __typename }) => __typename)).toEqual(inputs.map(() => 'OutcomeUnknown'));
    expect(shop.shipments).toHaveLength(3);
  });
});

test.each([422, 404])(
  'a search that REST rejects with %i uses up no new key of createShipment',
  async (status) => {
    await using shop = await startLateShop({ processingMs });
    const input = shop.orderToShip();
    shop.hideNew(1, Number.POSITIVE_INFINITY);
    shop.onNext('/v1/shipments', 'reset');
    await ship()(shop, input);
    let isRejected = true;
    shop.onRead('/v1/shipments', () => (isRejected ? status : undefined));
    const { order } = input;
    const retry = { ...shop.quoteToShip(order), idempotencyKey: 'new' };
    expect((await shop.run('createShipment', retry)).__typename).toBe('OutcomeUnknown');
    isRejected = false;
    shop.showAll();
    expect(await shop.run('createShipment', retry)).toMatchObject({
      __typename: 'Conflict',
      message: expect.stringContaining('shipments/1'),
    });
    expect(shop.shipments).toHaveLength(1);
  },
);
