import { afterAll, describe, expect, test } from 'vitest';
import { type KeyStore, StoreUnavailableError } from '../../../src/writes/store/key-store.ts';
import { type KeyedMutation, keyedMutation, keyedMutations } from '../../fixtures/keyed-mutations.ts';
import { organizationCall } from '../../fixtures/known-merchant.ts';
import { memoryStore } from '../../fixtures/memory-store.ts';
import { inputFor, literal } from '../../fixtures/mutation-inputs.ts';
import { order } from '../../fixtures/order-to-create.ts';
import { orderToShip } from '../../fixtures/order-to-ship.ts';
import { startWaybill } from '../../harness.ts';

const { sandbox, ...waybill } = await startWaybill();
afterAll(() => waybill[Symbol.asyncDispose]());

/** A server with a key store that fails in these methods. */
const startWith = (methods: Partial<KeyStore>) =>
  startWaybill({}, { sandbox, keyStore: { ...memoryStore, ...methods } });

const full = 'The disk of the key store is full.';
const unavailable = async () => {
  throw new StoreUnavailableError(full);
};
const overloaded = { code: 'OVERLOADED', retryable: true, retryAfterMs: 1_000 };

const createOrder = (fields: object) =>
  `mutation { createOrder(input: ${literal({ ...inputFor('createOrder'), ...fields })}) { __typename } }`;
const created = { createOrder: { __typename: 'CreateOrderSuccess' } };
const post = 'POST /v1/orders';

describe('a server whose key store fails', () => {
  test.each<[string, Partial<KeyStore>]>([
    ['claiming the key', { claim: unavailable }],
    ['the checkpoint before the write', { checkpoint: unavailable }],
    ['recording the organization', { noteOrganizationShown: unavailable }],
  ])('rejects a keyed write with OVERLOADED if %s fails', async (what, methods) => {
    await using failing = await startWith(methods);
    const { data, errors, calls } = await failing.ask(createOrder({ idempotencyKey: what }));
    expect([data, calls]).toEqual([{ createOrder: null }, [organizationCall]]);
    expect(errors).toMatchObject([{ message: full, path: ['createOrder'], extensions: overloaded }]);
    // The same key works with a store that works.
    await using working = await startWith({});
    expect(await working.ask(createOrder({ idempotencyKey: what }))).toMatchObject({
      data: created,
      calls: [organizationCall, post],
    });
  });

  test.each<[string, () => Promise<never>]>([
    ['fails', unavailable],
    ['never responds', () => new Promise(() => {})],
  ])('still accepts queries and writes without a key if the store %s', async (_what, operation) => {
    await using failing = await startWith({
      claim: operation,
      noteOrganizationShown: operation,
      wasOrganizationShown: operation,
    });
    expect(await failing.ask(createOrder({}))).toMatchObject({ data: created, calls: [post] });
    const { data } = await failing.ask('{ organization { id } }');
    expect(data).toEqual({ organization: { id: 'organization/cafe-andino' } });
  });
});

test('a retry of createOrder is sent if the first attempt left no checkpoint', async () => {
  // The first server dies before its checkpoint.
  await using dying = await startWith({ checkpoint: unavailable, release: memoryStore.abandon });
  const ask = (waybill: typeof dying) => waybill.ask(createOrder({ idempotencyKey: 'no checkpoint' }));
  expect(await ask(dying)).toMatchObject({ data: { createOrder: null }, calls: [organizationCall] });
  await using next = await startWith({});
  expect(await ask(next)).toMatchObject({ data: created, calls: [organizationCall, post] });
});

test('a write is not sent if the claim on its key is lost', async () => {
  let isHeld = false;
  await using losing = await startWith({ holds: (claim) => isHeld && memoryStore.holds(claim) });
  const ask = () => losing.ask(createOrder({ idempotencyKey: 'lost claim' }));
  const { data, errors, calls } = await ask();
  expect([data, calls]).toEqual([{ createOrder: null }, [organizationCall]]);
  expect(errors).toMatchObject([
    {
      message:
        'This server could not keep the idempotencyKey reserved. Send the request again with the same key.',
      extensions: overloaded,
    },
  ]);
  isHeld = true;
  expect(await ask()).toMatchObject({ data: created, calls: [post] });
});

test('a new key is rejected with RATE_LIMITED if the merchant is at its limit of keys', async () => {
  await using crowded = await startWith({ claim: async () => ({ state: 'full' }) });
  const { data, errors, calls } = await crowded.ask(createOrder({ idempotencyKey: 'no room' }));
  expect([data, calls]).toEqual([{ createOrder: null }, [organizationCall]]);
  expect(errors).toMatchObject([
    {
      message:
        'This merchant has reached its limit of idempotency keys. Nothing was written. A key expires 24 hours after ' +
        'its last write.',
      extensions: { code: 'RATE_LIMITED', retryable: false },
    },
  ]);
});

describe('a server whose key store is not open', () => {
  const problem = 'Another process uses the file of the key store.';
  const startClosed = () =>
    startWith({
      secret() {
        throw new StoreUnavailableError(problem);
      },
    });
  const withKey = keyedMutations.map((mutation): [string, KeyedMutation, object] => [
    `${mutation.name} with a key`,
    mutation,
    { idempotencyKey: 'k' },
  ]);
  const withoutKey = ['shipOrder', 'createShipment'].map((name): [string, KeyedMutation, object] => [
    `${name} without a key`,
    keyedMutation(name),
    {},
  ]);

  test.each([...withKey, ...withoutKey])(
    'rejects %s with OVERLOADED and without a REST call',
    async (_what, { document, newInput }, fields) => {
      const input = { ...(await newInput({ sandbox, ...waybill })), ...fields };
      await using closed = await startClosed();
      const { data, errors, calls } = await closed.ask<object, { input: object }>(document, { input });
      expect([data, calls]).toEqual([{ result: null }, []]);
      expect(errors).toMatchObject([{ message: problem, path: ['result'], extensions: overloaded }]);
    },
  );

  test.each<[string, string, () => Promise<object>]>([
    ['shipOrders', 'ShipOrderInput', () => orderToShip({ sandbox, ...waybill })],
    ['createOrders with keys', 'CreateOrderInput', async () => ({ ...order, idempotencyKey: 'k' })],
  ])('rejects %s with OVERLOADED and without a REST call', async (what, type, newInput) => {
    const inputs = [await newInput(), { ...(await newInput()), idempotencyKey: 'other' }];
    const [name = ''] = what.split(' ');
    const document = `mutation ($inputs: [${type}!]!) { ${name}(inputs: $inputs) { __typename } }`;
    await using closed = await startClosed();
    const { data, errors, calls } = await closed.ask<object, object>(document, { inputs });
    expect([data, calls]).toEqual([{ [name]: null }, []]);
    expect(errors).toMatchObject([{ message: problem, path: [name], extensions: overloaded }]);
  });

  test('still accepts queries and writes without a key', async () => {
    await using closed = await startClosed();
    expect(await closed.ask(createOrder({}))).toMatchObject({ data: created, calls: [post] });
    expect((await closed.ask('{ orders(first: 1) { nodes { id } } }')).errors).toBeUndefined();
  });
});
