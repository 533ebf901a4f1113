import { describe, expect, test } from 'vitest';
import { type LateShop, type Reply, startLateShop } from '../../fixtures/late-shop.ts';

// A proxy may send a POST twice and pass on the second answer, a refusal. The service did the first POST.

const post = 'POST /v1/shipments';
const path = '/v1/shipments';
const processingMs = 100;

const refusals: [string, Exclude<Reply, string>][] = [
  ['409', { status: 409 }],
  [
    '409 with a code',
    { status: 409, body: { code: 'FAILED_PRECONDITION', message: 'The order is shipped.' } },
  ],
  ['412', { status: 412 }],
  ['404', { status: 404 }],
  ['410', { status: 410 }],
  ['422 without a field', { status: 422, body: { message: 'The quote was already used.' } }],
  ['422 for the quote', { status: 422, body: { errors: [{ field: 'quote', message: 'was already used' }] } }],
  [
    '400 for the quote',
    { status: 400, body: { errors: [{ field: 'quote_id', message: 'was already used' }] } },
  ],
];

type Attempt = (shop: LateShop, idempotencyKey?: string) => Promise<{ __typename: string; id?: string }>;

const attempts: [string, (shop: LateShop) => Attempt, notFound: string][] = [
  [
    'shipOrder',
    ({ orderToShip }) => {
      const input = orderToShip();
      return ({ run }, idempotencyKey) => run('shipOrder', { ...input, idempotencyKey });
    },
    // The order is read before.
    'InvalidInput',
  ],
  [
    'createShipment of an order',
    ({ orderToShip, quoteToShip }) => {
      const input = quoteToShip(orderToShip().order);
      return ({ run }, idempotencyKey) => run('createShipment', { ...input, idempotencyKey });
    },
    'NotFound',
  ],
  [
    'createShipment without an order',
    ({ quoteToShip }) => {
      const input = quoteToShip();
      return ({ run }, idempotencyKey) => run('createShipment', { ...input, idempotencyKey });
    },
    'NotFound',
  ],
];

const posts = (shop: LateShop) => shop.calls().filter((call) => call === post);

describe.each(attempts)('%s', (_mutation, start, notFound) => {
  test.each(refusals)('returns a shipment that REST shows late after a %s', async (_status, reply) => {
    await using shop = await startLateShop({ processingMs });
    const attempt = start(shop);
    shop.hideNew();
    shop.onNext(path, reply);
    const result = await attempt(shop, 'one');
    expect(result).toEqual({ __typename: expect.stringMatching(/Success$/), id: 'shipments/1' });
    expect(await attempt(shop, 'one')).toEqual(result);
    expect((await attempt(shop)).__typename).toBe('Conflict');
    expect(posts(shop)).toEqual([post]);
    expect(shop.shipments).toHaveLength(1);
  });

  test('returns a shipment that REST shows late after a 409, even without a key', async () => {
    await using shop = await startLateShop({ processingMs });
    const attempt = start(shop);
    shop.hideNew();
    shop.onNext(path, { status: 409 });
    expect(await attempt(shop)).toEqual({ __typename: expect.stringMatching(/Success$/), id: 'shipments/1' });
    expect(posts(shop)).toEqual([post]);
  });

  test.each<[string, Reply, string]>([
    ['409', { status: 409, body: { message: 'The order is on hold.' } }, 'Conflict'],
    ['412', { status: 412, body: { message: 'The order is on hold.' } }, 'Conflict'],
    ['404', { status: 404, body: { message: 'No such courier.' } }, notFound],
  ])(
    'returns the refusal and frees the key if REST shows no shipment after a %s',
    async (_status, reply, expected) => {
      await using shop = await startLateShop({ processingMs });
      const attempt = start(shop);
      shop.onNext(path, reply, false);
      expect(await attempt(shop, 'one')).toMatchObject({
        __typename: expected,
        message: expect.stringMatching(/^(The order is on hold|No such courier)\.$/),
      });
      expect((await attempt(shop, 'one')).id).toBe('shipments/1');
      expect(posts(shop)).toEqual([post, post]);
    },
  );

  test.each([400, 403, 413, 429])('does not search for a shipment after a %i', async (status) => {
    await using shop = await startLateShop();
    const attempt = start(shop);
    shop.onNext(path, { status }, false);
    await attempt(shop, 'one');
    const calls = shop.calls();
    expect(calls.at(-1)).toBe(post);
    expect((await attempt(shop, 'one')).id).toBe('shipments/1');
  });

  test('returns OutcomeUnknown if it has too little time to wait after a 409', async () => {
    await using shop = await startLateShop({
      environment: { OPERATION_TIMEOUT_MS: '5000' },
      processingMs: 60_000,
    });
    const attempt = start(shop);
    shop.hideNew();
    shop.onNext(path, { status: 409, body: { message: 'The quote was used.' } });
    const message = expect.stringMatching(
      /^POST \/v1\/shipments returned 409: The quote was used\. The write may or may not have happened\. A proxy may have sent the request twice, so that the REST service rejected only the second one\. The REST service may not show the write yet\. Wait \d+ seconds\. /,
    );
    expect(await attempt(shop, 'one')).toEqual({ __typename: 'OutcomeUnknown', message });
    // By now, the service shows the shipment.
    expect((await attempt(shop, 'one')).__typename).toMatch(/^(ShipOrderSuccess|OutcomeUnknown)$/);
    expect(await attempt(shop, 'other')).toMatchObject({ __typename: 'Conflict' });
    expect(posts(shop)).toEqual([post]);
  });
});

test('shipOrder returns the refusal at once if the order names another shipment', async () => {
  await using shop = await startLateShop();
  const input = shop.orderToShip();
  // Another system ships the order while shipOrder sends its POST.
  const others = { name: 'shipments/9', quote: 'quotes/9' };
  let reads = 0;
  shop.onRead('/v1/orders/1', () => {
    reads += 1;
    return reads === 1 ? undefined : { name: input.order, shipment: others.name };
  });
  shop.onRead('/v1/shipments/9', () => others);
  shop.onNext(path, { status: 409, body: { message: 'It was shipped.' } }, false);
  expect(await shop.run('shipOrder', input)).toEqual({ __typename: 'Conflict', message: 'It was shipped.' });
  expect(shop.calls().slice(-3)).toEqual([post, 'GET /v1/orders/1', 'GET /v1/shipments/9']);
});

test.each([401, 429, 500, 503])(
  'shipOrder keeps its key if the search after a 409 fails with %i',
  async (status) => {
    await using shop = await startLateShop({ processingMs });
    const input = { ...shop.orderToShip(), idempotencyKey: 'one' };
    shop.onNext(path, { status: 409 });
    let isDown = true;
    shop.onRead('/v1/shipments/1', () => (isDown ? status : undefined));
    expect((await shop.run('shipOrder', input)).__typename).toBe('OutcomeUnknown');
    isDown = false;
    expect(await shop.run('shipOrder', input)).toEqual({ __typename: 'ShipOrderSuccess', id: 'shipments/1' });
    expect(posts(shop)).toEqual([post]);
  },
);
