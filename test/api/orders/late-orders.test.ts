import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { startDyingStore } from '../../fixtures/dying-store.ts';
import { type Reply, startLateShop } from '../../fixtures/late-shop.ts';
import { orderInput } from '../../fixtures/order-to-ship.ts';

// A service whose searches show an order later than its write, which creates each order as often as it is asked to.

const path = '/v1/orders';
const post = 'POST /v1/orders';
const search = 'GET /v1/orders';
const processingMs = 100;
const input = { ...orderInput, referenceId: 'late', idempotencyKey: 'one' };
const created = { __typename: 'CreateOrderSuccess', id: 'orders/1' };

const losses: [string, Reply][] = [
  ['a connection reset', 'reset'],
  ['a timeout', 'hang'],
  ['a response that is no JSON', 'no JSON'],
  ['a 500', { status: 500 }],
  ['a 502', { status: 502 }],
  ['a 503', { status: 503 }],
  ['a 504', { status: 504 }],
];

describe.each(losses)('a retry of createOrder with a key and a referenceId after %s', (_what, reply) => {
  const environment: Record<string, string> = reply === 'hang' ? { UPSTREAM_TIMEOUT_MS: '1000' } : {};

  test('returns an order that REST shows late', async () => {
    await using shop = await startLateShop({ environment, processingMs });
    shop.hideNew();
    shop.onNext(path, reply);
    await shop.run('createOrder', input);
    expect(await shop.run('createOrder', input)).toEqual(created);
    expect(shop.elapsedMs(post)).toBeGreaterThanOrEqual(processingMs);
    expect(shop.orders).toHaveLength(1);
  });

  test('returns OutcomeUnknown only after REST had enough time to show the order', async () => {
    await using shop = await startLateShop({ environment, processingMs });
    shop.onNext(path, reply, false);
    await shop.run('createOrder', input);
    expect(await shop.run('createOrder', input)).toEqual({
      __typename: 'OutcomeUnknown',
      message: expect.stringContaining('Waybill found no order with this referenceId'),
    });
    expect(shop.elapsedMs(post)).toBeGreaterThanOrEqual(processingMs);
    expect(shop.orders).toHaveLength(0);
  });
});

test('a retry waits the full time for an order if the first process died at the POST', async () => {
  const { keyStore, recover } = startDyingStore();
  // Longer than the store may take for the time of the first look.
  const wholeMs = 1_000;
  await using shop = await startLateShop({ processingMs: wholeMs, keyStore });
  shop.hideNew(1, Number.POSITIVE_INFINITY);
  shop.onNext(path, 'reset');
  const dying = { ...input, idempotencyKey: 'died' };
  await shop.run('createOrder', dying);
  recover();
  await sleep(wholeMs);
  const startMs = performance.now();
  expect(await shop.run('createOrder', dying)).toEqual(created);
  // A timer may end a millisecond early.
  expect(performance.now() - startMs).toBeGreaterThanOrEqual(wholeMs - 2);
  expect(shop.orders).toHaveLength(1);
});

const refusals: [string, Exclude<Reply, string>][] = [
  ['409', { status: 409 }],
  ['409 with a code', { status: 409, body: { code: 'FAILED_PRECONDITION', message: 'It is taken.' } }],
  ['412', { status: 412 }],
  [
    '422 for the reference',
    { status: 422, body: { errors: [{ field: 'referenceId', message: 'is taken' }] } },
  ],
  [
    '400 for the reference',
    { status: 400, body: { errors: [{ field: 'reference_id', message: 'is taken' }] } },
  ],
];

describe('a refusal that may come from a repeated POST', () => {
  test.each(refusals)('leads to the created order, even if it appears late: %s', async (_status, reply) => {
    await using shop = await startLateShop({ processingMs });
    shop.hideNew();
    shop.onNext(path, reply);
    expect(await shop.run('createOrder', input)).toEqual(created);
    expect(await shop.run('createOrder', input)).toEqual(created);
    expect(shop.orders).toHaveLength(1);
  });

  test('leads to the created order even without a key', async () => {
    await using shop = await startLateShop({ processingMs });
    // From now on, the time of the service is known.
    await shop.run('createOrder', orderInput);
    shop.hideNew();
    shop.onNext(path, { status: 409 });
    const result = await shop.run('createOrder', { ...input, idempotencyKey: null });
    expect(result).toEqual({ ...created, id: 'orders/2' });
    expect(shop.orders).toHaveLength(2);
  });

  test.each(refusals)('frees the key if REST shows no order: %s', async (_status, reply) => {
    await using shop = await startLateShop({ processingMs });
    shop.onNext(path, reply, false);
    expect((await shop.run('createOrder', input)).__typename).toMatch(/^(Conflict|InvalidInput)$/);
    expect(await shop.run('createOrder', { ...input, notes: 'Otra' })).toEqual(created);
  });

  test('is returned at once if an older order has the reference', async () => {
    await using shop = await startLateShop();
    await shop.run('createOrder', { ...input, idempotencyKey: null });
    for (const older of shop.orders) older.createTime = '2020-01-01T00:00:00Z';
    shop.calls();
    shop.onNext(path, { status: 409, body: { message: 'The reference is taken.' } }, false);
    const conflict = { __typename: 'Conflict', message: 'The reference is taken.' };
    expect(await shop.run('createOrder', input)).toEqual(conflict);
    expect(shop.calls()).toEqual(['GET /v1/organizations/mine', post, search]);
  });

  test('becomes OutcomeUnknown if another new order has the reference', async () => {
    await using shop = await startLateShop({ processingMs });
    await shop.run('createOrder', { ...input, notes: 'Otra', idempotencyKey: null });
    shop.onNext(path, { status: 409 }, false);
    expect((await shop.run('createOrder', input)).__typename).toBe('OutcomeUnknown');
    expect((await shop.run('createOrder', input)).__typename).toBe('OutcomeUnknown');
    expect(shop.calls().filter((call) => call === post)).toHaveLength(2);
  });

  test('keeps the key if the time limit leaves too little time to wait', async () => {
    await using shop = await startLateShop({
      environment: { OPERATION_TIMEOUT_MS: '5000' },
      processingMs: 60_000,
    });
    shop.hideNew();
    shop.onNext(path, { status: 409 });
    expect(await shop.run('createOrder', input)).toEqual({
      __typename: 'OutcomeUnknown',
      message: expect.stringMatching(
        /^POST \/v1\/orders returned 409\. .* may not show the write yet\. Wait \d+ seconds\. /,
      ),
    });
    // By now, the service shows the order.
    expect(await shop.run('createOrder', input)).toEqual(created);
    expect(shop.orders).toHaveLength(1);
  });
});

describe('a conflict status for a write that no search can find', () => {
  const message = { conversation: 'channels/1/conversations/1', content: { text: 'Hola' } };
  const toPhone = { channel: 'channels/1', phone: '+573104567890', name: 'Lucía', text: 'Hola' };
  const withoutReference = { ...orderInput };
  const writes: [string, string, object][] = [
    ['sendMessage', '/v1/channels/1/conversations/1/messages', message],
    ['sendMessageToPhone', '/v1/channels/1/messages', toPhone],
    ['createOrder', path, withoutReference],
  ];

  describe.each(writes)('in response to %s', (mutation, endpoint, fields) => {
    test.each([409, 412])('causes OutcomeUnknown and keeps the key: %i', async (status) => {
      await using shop = await startLateShop();
      const keyed = { ...fields, idempotencyKey: 'one' };
      shop.onNext(endpoint, { status, body: { message: 'It was sent.' } });
      const unknown = (text: string) => ({
        __typename: 'OutcomeUnknown',
        message: expect.stringContaining(text),
      });
      const refused = `POST ${endpoint} returned ${status}: It was sent. The write may or may not have happened.`;
      expect(await shop.run(mutation, keyed)).toEqual(unknown(refused));
      shop.calls();
      expect(await shop.run(mutation, keyed)).toEqual(unknown('use a new idempotencyKey'));
      expect(shop.calls()).toEqual([]);
    });

    test('causes OutcomeUnknown even without a key', async () => {
      await using shop = await startLateShop();
      shop.onNext(endpoint, { status: 409 });
      expect((await shop.run(mutation, fields)).__typename).toBe('OutcomeUnknown');
    });

    test.each(['FAILED_PRECONDITION', 'CHANNEL_INACTIVE'])(
      'causes Conflict and frees the key if the code is %s',
      async (code) => {
        await using shop = await startLateShop();
        const keyed = { ...fields, idempotencyKey: 'one' };
        shop.onNext(endpoint, { status: 409, body: { code, message: 'Not now.' } }, false);
        expect(await shop.run(mutation, keyed)).toEqual({ __typename: 'Conflict', message: 'Not now.' });
        expect((await shop.run(mutation, keyed)).__typename).toMatch(/Success$/);
      },
    );
  });
});
