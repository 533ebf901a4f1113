import { setTimeout as sleep } from 'node:timers/promises';
import { print } from 'graphql';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Fault } from '../../../src/sandbox/sandbox.ts';
import { openSqliteStore } from '../../../src/writes/store/sqlite-store.ts';
import {
  CreateOrderDocument,
  type CreateOrderInput,
  CreateQuoteDocument,
} from '../../documents.generated.ts';
import { createGathering } from '../../fixtures/gathering.ts';
import { learnMerchants, organizationCall, otherInputMessage } from '../../fixtures/known-merchant.ts';
import {
  amongTheNewest,
  answered,
  notFoundByReference,
  order,
  post,
  recorded,
  refused,
  unknown,
  withTheSameKey,
} from '../../fixtures/order-to-create.ts';
import { until } from '../../fixtures/rest-service.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

const { gather, intercept } = createGathering();
let waybill: Waybill;
beforeAll(async () => {
  // A search counts at once.
  waybill = await startWaybill({}, { processingMs: 0, intercept });
  const { first, second } = waybill.sandbox.tokens;
  await learnMerchants(waybill, first, second);
});
afterEach(() => waybill.sandbox.faults.clear());
afterAll(() => waybill[Symbol.asyncDispose]());

const ask = (fields: Partial<CreateOrderInput>, bearer?: string) =>
  waybill.ask(CreateOrderDocument, { input: { ...order, ...fields } }, bearer);
const fail = (fault: Fault) => waybill.sandbox.faults.add({ method: 'POST', path: '/v1/orders', ...fault });
const search = (referenceId: string) => `GET /v1/orders?pageSize=1000&search=${referenceId}`;
const conflict = { __typename: 'Conflict', message: otherInputMessage };

/** The call that reads the order of an answer. */
function readOf({ data }: Awaited<ReturnType<typeof ask>>): string {
  if (data.createOrder.__typename === 'CreateOrderSuccess') return `GET /v1/${data.createOrder.order.id}`;
  throw new Error(JSON.stringify(data));
}

/** How many orders of the sandbox have this reference. */
async function countOf(referenceId: string): Promise<number> {
  const { data } = await waybill.ask<{ orders: { nodes: { referenceId: string }[] } }, unknown>(
    'query ($search: String!) { orders(first: 1000, search: $search) { nodes { referenceId } } }',
    { search: referenceId },
  );
  return data.orders.nodes.filter((node) => node.referenceId === referenceId).length;
}

/** The same as `ask`, by a client that leaves when `signal` says so. */
const leaving = (fields: Partial<CreateOrderInput>, signal: AbortSignal) =>
  waybill.fetch('/graphql', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${waybill.sandbox.tokens.first}`,
    },
    body: JSON.stringify({
      query: print(CreateOrderDocument),
      variables: { input: { ...order, ...fields } },
    }),
    signal,
  });

describe('equal inputs with the same idempotency key', () => {
  test('cost one call even in 50 concurrent requests', async () => {
    const fields = { idempotencyKey: 'at once', referenceId: 'at-once' };
    fail({ kind: 'delay', delayMs: 300, times: 1 });
    gather(50);
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask(fields)));
    const [first] = answers;
    expect(answers).toEqual(
      answers.map(() => ({ ...answered(recorded, expect.anything()), data: first?.data })),
    );
    expect(waybill.sandbox.requests.lines()).toEqual([post]);
    expect(await countOf('at-once')).toBe(1);
  });

  test('get the current order in a later request', async () => {
    const fields = { idempotencyKey: 'later' };
    const first = await ask(fields);
    expect(first).toEqual(answered(recorded, [post]));
    waybill.sandbox.clock.advance(60_000);
    expect(await ask(fields)).toEqual({ ...first, calls: [readOf(first)] });
  });

  test('can have ids in either form and fields in any sequence', async () => {
    const first = await ask({ idempotencyKey: 'other words' });
    const { recipient, ...others } = order;
    const { location: _, ...person } = recipient;
    const bare = { location: 'antioquia-medellin-laureles', ...person };
    const again = await waybill.ask(CreateOrderDocument, {
      input: { idempotencyKey: 'other words', ...others, recipient: bare },
    });
    expect(again).toEqual({ ...first, calls: [readOf(first)] });
  });

  test('create one order even in two fields of one mutation', async () => {
    const document = `mutation ($input: CreateOrderInput!) {
      first: createOrder(input: $input) { ... on CreateOrderSuccess { order { id } } }
      second: createOrder(input: $input) { ... on CreateOrderSuccess { order { id } } }
    }`;
    const input = { ...order, idempotencyKey: 'in one request' };
    const { data, calls } = await waybill.ask<{ first: object; second: object }, unknown>(document, {
      input,
    });
    expect(data.first).toEqual({ order: recorded.order });
    expect(data.second).toEqual(data.first);
    expect(calls).toEqual([post]);
  });
});

describe('a used idempotency key with a different input', () => {
  test.each<[string, Partial<CreateOrderInput>]>([
    ['a changed amount', { sellingPriceCents: 1 }],
    ['an additional field', { status: 'NEW' }],
    ['a null in place of a missing field', { recipient: { ...order.recipient, document: null } }],
    ['a string in decomposed Unicode', { notes: order.notes.normalize('NFD') }],
  ])('returns Conflict if the difference is %s', async (what, fields) => {
    const idempotencyKey = `other input: ${what}`;
    expect(await ask({ idempotencyKey })).toEqual(answered(recorded, [post]));
    expect(await ask({ idempotencyKey, ...fields })).toEqual(answered(conflict, []));
  });

  test('returns Conflict while the first request runs', async () => {
    fail({ kind: 'delay', delayMs: 50, times: 1 });
    const idempotencyKey = 'under way';
    const first = ask({ idempotencyKey });
    await until(() => waybill.sandbox.requests.lines().length === 1);
    const other = await ask({ idempotencyKey, sellingPriceCents: 1 });
    expect(other).toEqual(answered(conflict, []));
    expect(await first).toEqual(answered(recorded, []));
    expect(await ask({ idempotencyKey, sellingPriceCents: 1 })).toEqual(answered(conflict, []));
  });

  test('returns Conflict after an attempt without a response', async () => {
    fail({ kind: 'reset', times: 1 });
    const idempotencyKey = 'other input, unknown';
    expect((await ask({ idempotencyKey })).calls).toEqual([post]);
    expect(await ask({ idempotencyKey, sellingPriceCents: 1 })).toEqual(answered(conflict, []));
  });

  test('returns InvalidInput if the different input is invalid', async () => {
    const idempotencyKey = 'refused by a rule';
    const first = await ask({ idempotencyKey });
    expect(first).toEqual(answered(recorded, [post]));
    const result = refused(['notes', 'must be 3 to 2048 characters long, but has 0']);
    expect(await ask({ idempotencyKey, notes: '' })).toEqual(answered(result, []));
    expect(await ask({ idempotencyKey })).toEqual({ ...first, calls: [readOf(first)] });
  });
});

describe('idempotency keys', () => {
  test('are separate for each merchant', async () => {
    const { first, second } = waybill.sandbox.tokens;
    const fields = { idempotencyKey: 'same key' };
    expect(await ask(fields, first)).toEqual(answered(recorded, [post]));
    const result = { ...recorded, order: { id: expect.stringMatching(/^orders\/st\d{4}$/) } };
    const other = await ask(fields, second);
    expect(other).toEqual(answered(result, [post]));
    expect(await ask(fields, second)).toEqual({ ...other, calls: [readOf(other)] });
  });

  test('are separate for each mutation', async () => {
    const idempotencyKey = 'of two operations';
    expect(await ask({ idempotencyKey })).toEqual(answered(recorded, [post]));
    const { calls } = await waybill.ask(CreateQuoteDocument, {
      input: {
        origin: 'huila-pitalito',
        destination: 'narino-pasto',
        package: {
          declaredValueCents: 9_500_000,
          dimensions: { lengthCm: 30, widthCm: 20, heightCm: 12 },
          weightKg: 2.2,
          contentDescription: 'Café',
        },
        idempotencyKey,
      },
    });
    expect(calls).toEqual(['POST /v1/quotes']);
  });

  test('are case-sensitive and keep trailing spaces', async () => {
    for (const idempotencyKey of ['letters', 'Letters', 'letters ']) {
      expect(await ask({ idempotencyKey })).toEqual(answered(recorded, [post]));
    }
  });

  test('have no effect if they are null', async () => {
    const [first, second] = [await ask({ idempotencyKey: null }), await ask({ idempotencyKey: null })];
    expect([first, second]).toEqual([answered(recorded, [post]), answered(recorded, [post])]);
    expect(second.data).not.toEqual(first.data);
  });

  test('cause RATE_LIMITED if a merchant exceeds its limit of keys', async () => {
    const keyStore = await openSqliteStore({ file: 'memory', maxKeysPerMerchant: 2 });
    await using small = await startWaybill({}, { sandbox: waybill.sandbox, keyStore });
    await learnMerchants(small, waybill.sandbox.tokens.first, waybill.sandbox.tokens.second);
    const send = (idempotencyKey: string, bearer?: string) =>
      small.ask(CreateOrderDocument, { input: { ...order, idempotencyKey } }, bearer);
    const first = await send('one');
    expect([first.calls, (await send('two')).calls]).toEqual([[post], [post]]);
    const refused = await send('three');
    expect(refused).toMatchObject({
      data: { createOrder: null },
      errors: [
        { message: expect.stringMatching(/Nothing was written/), extensions: { code: 'RATE_LIMITED' } },
      ],
      calls: [],
    });
    expect((await send('one')).data).toEqual(first.data);
    expect((await send('three', waybill.sandbox.tokens.second)).calls).toEqual([post]);
    await keyStore.close();
  });
});

describe('the idempotency key of a rejected request', () => {
  test.each([400, 403, 404, 413, 422, 429])('can be used again after a %d', async (status) => {
    const idempotencyKey = `free after ${status}`;
    fail({ kind: 'status', status, times: 1 });
    expect((await ask({ idempotencyKey })).calls).toEqual([post]);
    // With another input too, as a refused one is there to be mended.
    const mended = { idempotencyKey, notes: 'Ninguna' };
    const answer = await ask(mended);
    expect(answer).toEqual(answered(recorded, [post]));
    expect(await ask(mended)).toEqual({ ...answer, calls: [readOf(answer)] });
  });

  test('can be used again after a 401 and then costs an organization call', async () => {
    const fields = { idempotencyKey: 'free after 401' };
    fail({ kind: 'status', status: 401, times: 1 });
    expect((await ask(fields)).calls).toEqual([post]);
    expect(await ask(fields)).toEqual(answered(recorded, [organizationCall, post]));
  });

  test('can be used again after an error that concurrent requests shared', async () => {
    fail({ kind: 'status', status: 400, body: { message: 'Bad.' }, times: 1 });
    const fields = { idempotencyKey: 'refused at once' };
    gather(10);
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask(fields)));
    const invalid = { __typename: 'InvalidInput', message: 'Bad.', fields: [] };
    expect(answers.map(({ data }) => data)).toEqual(answers.map(() => ({ createOrder: invalid })));
    expect(waybill.sandbox.requests.lines()).toEqual([post]);
    expect(await ask(fields)).toEqual(answered(recorded, [post]));
  });
});

describe('a keyed retry after an unknown outcome', () => {
  const statuses = [302, 408, 499, 500, 502, 503, 504].map((status): [string, Fault] => [
    String(status),
    { kind: 'status', status },
  ]);

  test.each<[string, Fault]>([
    ...statuses,
    ['a reset', { kind: 'reset' }],
    ['a truncated response', { kind: 'short' }],
    ['an invalid response', { kind: 'cut-json' }],
  ])('sends no POST if the order has no referenceId (fault: %s)', async (what, fault) => {
    const idempotencyKey = `kept after ${what}`;
    fail({ ...fault, times: 1 });
    expect((await ask({ idempotencyKey })).calls).toEqual([post]);
    const result = unknown(amongTheNewest, idempotencyKey);
    expect(await ask({ idempotencyKey })).toEqual(answered(result, []));
    expect(await ask({ idempotencyKey })).toEqual(answered(result, []));
  });

  test.each<[string, Fault]>([...statuses, ['a reset', { kind: 'reset' }]])(
    'sends no POST if the search finds no order (fault: %s)',
    async (what, fault) => {
      const fields = { idempotencyKey: `looked for after ${what}`, referenceId: `lost-${what}` };
      fail({ ...fault, times: 1 });
      expect((await ask(fields)).calls).toEqual([post]);
      const result = unknown(notFoundByReference(fields.referenceId), fields.idempotencyKey);
      expect(await ask(fields)).toEqual(answered(result, [search(fields.referenceId)]));
      expect(await countOf(fields.referenceId)).toBe(0);
    },
  );

  test('returns the order that REST creates half a second after a 504', async () => {
    await using short = await startWaybill({}, { sandbox: waybill.sandbox, processingMs: 1_500 });
    await learnMerchants(short, waybill.sandbox.tokens.first);
    const fields = { idempotencyKey: 'created late', referenceId: 'created-late' };
    const askShort = () => short.ask(CreateOrderDocument, { input: { ...order, ...fields } });
    fail({ kind: 'status', status: 504, times: 1 });
    expect((await askShort()).calls).toEqual([post]);
    const retry = askShort();
    await sleep(500);
    await ask({ referenceId: fields.referenceId });
    expect((await retry).data).toEqual({ createOrder: recorded });
    expect(await countOf(fields.referenceId)).toBe(1);
  });

  test.each<Fault>([
    { kind: 'applied-then-cut' },
    { kind: 'reset-in-body' },
    { kind: 'short' },
    { kind: 'cut-json' },
    { kind: 'change', change: () => 'recorded' },
  ])('returns the order that the search finds (fault: $kind)', async (fault) => {
    const fields = { idempotencyKey: `found after ${fault.kind}`, referenceId: `found-${fault.kind}` };
    fail({ ...fault, times: 1 });
    expect(await ask(fields)).toEqual(
      answered(unknown(withTheSameKey(fields.referenceId), fields.idempotencyKey), [post]),
    );
    const found = await ask(fields);
    expect(found).toEqual(answered(recorded, [search(fields.referenceId)]));
    expect(await ask(fields)).toEqual({ ...found, calls: [readOf(found)] });
    expect(await countOf(fields.referenceId)).toBe(1);
  });

  test.each<[string, Partial<CreateOrderInput>]>([
    ['a different price', { sellingPriceCents: 1 }],
    ['a different cash on delivery', { cashOnDeliveryRequestCents: 1 }],
    ['a different location', { recipient: { ...order.recipient, location: 'locations/narino-pasto' } }],
    ['a different customer', { recipient: { ...order.recipient, phoneNumber: '+573009998877' } }],
    ['a different address', { recipient: { ...order.recipient, address: { addressLines: ['Calle 99'] } } }],
    ['different notes', { notes: 'Otra cosa' }],
    ['different contents', { contentDescription: 'Otra cosa' }],
  ])('ignores an order with the same referenceId but %s', async (what, other) => {
    const fields = {
      idempotencyKey: `decoy of ${what}`,
      referenceId: `decoy-of-${what.replaceAll(' ', '-')}`,
    };
    expect(await ask({ referenceId: fields.referenceId, ...other })).toEqual(answered(recorded, [post]));
    fail({ kind: 'reset', times: 1 });
    expect((await ask(fields)).calls).toEqual([post]);
    const result = unknown(notFoundByReference(fields.referenceId), fields.idempotencyKey);
    expect(await ask(fields)).toEqual(answered(result, [search(fields.referenceId)]));
    expect(await countOf(fields.referenceId)).toBe(1);
  });

  test('makes no call if the referenceId is empty', async () => {
    const fields = { idempotencyKey: 'kept without a search', referenceId: '' };
    fail({ kind: 'reset', times: 1 });
    expect((await ask(fields)).calls).toEqual([post]);
    expect((await ask(fields)).calls).toEqual([]);
  });

  test('finds the order although its status has changed since', async () => {
    const fields = { idempotencyKey: 'confirmed', referenceId: 'confirmed-since', status: 'NEW' } as const;
    fail({ kind: 'applied-then-cut', times: 1 });
    expect((await ask(fields)).calls).toEqual([post]);
    waybill.sandbox.faults.add({
      kind: 'change',
      method: 'GET',
      path: '/v1/orders',
      times: 1,
      change: (body) => JSON.parse(JSON.stringify(body).replaceAll('"NEW"', '"CONFIRMED"')),
    });
    expect(await ask(fields)).toEqual(answered(recorded, [search(fields.referenceId)]));
  });

  test('finds the order among several orders with the same referenceId', async () => {
    const fields = { idempotencyKey: 'own', referenceId: 'own-and-others' };
    fail({ kind: 'applied-then-cut', times: 1 });
    expect((await ask({ ...fields, notes: 'La mía' })).calls).toEqual([post]);
    expect((await ask({ referenceId: fields.referenceId, sellingPriceCents: 1 })).calls).toEqual([post]);
    const document = `mutation ($input: CreateOrderInput!) {
      createOrder(input: $input) { ... on CreateOrderSuccess { order { notes } } }
    }`;
    const answer = await waybill.ask(document, { input: { ...order, ...fields, notes: 'La mía' } });
    expect(answer).toEqual(answered({ order: { notes: 'La mía' } }, [search(fields.referenceId)]));
  });

  test('returns OutcomeUnknown if two orders match the input', async () => {
    const referenceId = 'twins';
    fail({ kind: 'applied-then-cut', times: 2 });
    for (const idempotencyKey of ['twin a', 'twin b']) await ask({ referenceId, idempotencyKey });
    for (const idempotencyKey of ['twin a', 'twin b']) {
      const result = unknown(notFoundByReference(referenceId), idempotencyKey);
      expect(await ask({ referenceId, idempotencyKey })).toEqual(answered(result, [search(referenceId)]));
    }
    expect(await countOf(referenceId)).toBe(2);
  });

  test('makes one search for equal requests at the same time', async () => {
    const fields = { idempotencyKey: 'found at once', referenceId: 'found-at-once' };
    fail({ kind: 'applied-then-cut', times: 1 });
    await ask(fields);
    gather(10);
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask(fields)));
    expect(answers.map(({ data }) => data)).toEqual(answers.map(() => ({ createOrder: recorded })));
    expect(waybill.sandbox.requests.lines()).toEqual([search(fields.referenceId)]);
  });

  test.each([
    [401, 'UNAUTHENTICATED'],
    [429, 'RATE_LIMITED'],
    [503, 'UPSTREAM_UNAVAILABLE'],
  ])('searches again after a search that failed with %d', async (status, code) => {
    const fields = { idempotencyKey: `looked in vain: ${status}`, referenceId: `looked-in-vain-${status}` };
    fail({ kind: 'applied-then-cut', times: 1 });
    await ask(fields);
    fail({ method: 'GET', kind: 'status', status, times: 1 });
    const { data, errors, calls } = await ask(fields);
    expect([data, errors?.map(({ extensions }) => extensions.code)]).toEqual([{ createOrder: null }, [code]]);
    expect(calls).toEqual([search(fields.referenceId)]);
    const relearned = status === 401 ? [organizationCall] : [];
    expect(await ask(fields)).toEqual(answered(recorded, [...relearned, search(fields.referenceId)]));
  });

  test.each([400, 404, 409])('returns OutcomeUnknown if the search fails with %d', async (status) => {
    const fields = { idempotencyKey: `refused a look: ${status}`, referenceId: `refused-a-look-${status}` };
    fail({ kind: 'applied-then-cut', times: 1 });
    await ask(fields);
    fail({ method: 'GET', kind: 'status', status, body: { errors: { search: ['is odd'] } }, times: 1 });
    const result = unknown(withTheSameKey(fields.referenceId), fields.idempotencyKey);
    expect(await ask(fields)).toEqual(answered(result, [search(fields.referenceId)]));
    expect(await ask(fields)).toEqual(answered(recorded, [search(fields.referenceId)]));
  });

  test('finds an order that appears after the first search', async () => {
    const fields = { idempotencyKey: 'late', referenceId: 'late' };
    fail({ kind: 'reset', times: 1 });
    await ask(fields);
    expect((await ask(fields)).data).toEqual({
      createOrder: unknown(notFoundByReference('late'), 'late'),
    });
    // In the place of the one that was on its way.
    await ask({ referenceId: 'late' });
    expect(await ask(fields)).toEqual(answered(recorded, [search('late')]));
  });
});

describe('a request that waits for the result of an idempotency key', () => {
  test('gets the result if the first client disconnects during the POST', async () => {
    fail({ kind: 'delay', delayMs: 50, times: 1 });
    const fields = { idempotencyKey: 'leaves', referenceId: 'leaves' };
    const client = new AbortController();
    waybill.sandbox.requests.clear();
    const gone = leaving(fields, client.signal);
    await until(() => waybill.sandbox.requests.lines().length === 1);
    const other = ask(fields);
    client.abort();
    await expect(gone).rejects.toThrow('aborted');
    expect(await other).toEqual(answered(recorded, []));
    expect(await countOf('leaves')).toBe(1);
  });

  test('gets the result of a POST whose only client has disconnected', async () => {
    fail({ kind: 'delay', delayMs: 20, times: 1 });
    const fields = { idempotencyKey: 'comes back', referenceId: 'comes-back' };
    const client = new AbortController();
    waybill.sandbox.requests.clear();
    const gone = leaving(fields, client.signal);
    await until(() => waybill.sandbox.requests.lines().length === 1);
    client.abort();
    await expect(gone).rejects.toThrow('aborted');
    expect(await ask(fields)).toEqual(answered(recorded, []));
    expect(await countOf('comes-back')).toBe(1);
  });

  test('searches again if the first client disconnects during the search', async () => {
    const fields = { idempotencyKey: 'leaves while looking', referenceId: 'leaves-while-looking' };
    fail({ kind: 'applied-then-cut', times: 1 });
    await ask(fields);
    waybill.sandbox.faults.add({ method: 'GET', path: '/v1/orders', kind: 'hang', times: 1 });
    const client = new AbortController();
    waybill.sandbox.requests.clear();
    const gone = leaving(fields, client.signal);
    await until(() => waybill.sandbox.requests.lines().length === 1);
    const other = ask(fields);
    // Time for the other to come so far that it waits; one that comes later looks anyway.
    await sleep(10);
    client.abort();
    await expect(gone).rejects.toThrow('aborted');
    expect(await other).toEqual(answered(recorded, [search(fields.referenceId)]));
  });
});

test.each([
  ['a 504', { kind: 'status', status: 504 }],
  ['a 500', { kind: 'status', status: 500 }],
  ['a reset', { kind: 'reset' }],
] as const)(
  'a keyed retry returns OutcomeUnknown if the search comes too soon after %s',
  async (what, fault) => {
    await using waybill = await startWaybill({ OPERATION_TIMEOUT_MS: '5000' });
    const input = { ...order, idempotencyKey: `too recent: ${what}`, referenceId: 'too-recent' };
    waybill.sandbox.faults.add({ ...fault, method: 'POST', path: '/v1/orders', times: 1 });
    await waybill.ask(CreateOrderDocument, { input });
    const { data, calls } = await waybill.ask(CreateOrderDocument, { input });
    expect(data.createOrder).toEqual({
      __typename: 'OutcomeUnknown',
      message: expect.stringMatching(/Send the request again with the same idempotencyKey in \d+ seconds\.$/),
      idempotencyKey: input.idempotencyKey,
    });
    expect(calls).toEqual([search(input.referenceId)]);
  },
);
