import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { CreateOrderInput } from '../../documents.generated.ts';
import { learnMerchants } from '../../fixtures/known-merchant.ts';
import { order, post, recorded } from '../../fixtures/order-to-create.ts';
import { tooManyWrites } from '../../fixtures/too-many-writes.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

let waybill: Waybill;
beforeAll(async () => {
  waybill = await startWaybill();
  await learnMerchants(waybill, waybill.sandbox.tokens.first);
});
afterEach(() => waybill.sandbox.faults.clear());
afterAll(() => waybill[Symbol.asyncDispose]());

const document = `mutation CreateOrders($inputs: [CreateOrderInput!]!) {
  createOrders(inputs: $inputs) {
    __typename
    ... on CreateOrderSuccess { order { id } }
    ... on Conflict { reason }
    ... on WriteFailed { code }
  }
}`;

type Result = { __typename: string; order?: { id: string } };
const create = (...fields: Partial<CreateOrderInput>[]) =>
  waybill.ask<{ createOrders: Result[] | null }, object>(document, {
    inputs: fields.map((more) => ({ ...order, ...more })),
  });
const duplicate = { __typename: 'Conflict', reason: 'DUPLICATE_REFERENCE' };
const fail = (status: number) =>
  waybill.sandbox.faults.add({ kind: 'status', status, method: 'POST', path: '/v1/orders', times: 1 });

describe('createOrders', () => {
  test('returns one result per input, in input order', async () => {
    const { data, calls } = await create({ referenceId: 'list 1' }, { notes: '' }, { referenceId: 'list 2' });
    expect(data.createOrders).toEqual([recorded, { __typename: 'InvalidInput' }, recorded]);
    expect(calls).toEqual([post, post]);
  });

  test('creates one order if two inputs have the same referenceId', async () => {
    const { data, calls } = await create({ referenceId: 'twice' }, { referenceId: 'twice', notes: 'Again' });
    expect(data.createOrders).toEqual([recorded, duplicate]);
    expect(calls).toEqual([post]);
  });

  test('accepts a repeated referenceId if the first input is invalid', async () => {
    const { data, calls } = await create({ referenceId: 'second', notes: '' }, { referenceId: 'second' });
    expect(data.createOrders).toEqual([{ __typename: 'InvalidInput' }, recorded]);
    expect(calls).toEqual([post]);
  });

  test('rejects a repeated referenceId if the first outcome is unknown', async () => {
    fail(500);
    const { data, calls } = await create({ referenceId: 'unclear' }, { referenceId: 'unclear' });
    expect(data.createOrders).toEqual([{ __typename: 'WriteFailed', code: 'UPSTREAM_ERROR' }, duplicate]);
    expect(calls).toEqual([post]);
  });

  test('creates one order if two equal inputs have the same idempotency key', async () => {
    const input = { referenceId: 'key and reference', idempotencyKey: 'key and reference' };
    const { data, calls } = await create(input, input);
    const [first, second] = data.createOrders ?? [];
    expect([first, second]).toEqual([recorded, first]);
    expect(calls.filter((call) => call === post)).toEqual([post]);
  });

  test.each([
    ['another value', 'Other notes', { __typename: 'Conflict', reason: 'KEY_REUSED' }],
    ['an invalid value', '', { __typename: 'InvalidInput' }],
  ])('creates one order if a second input repeats the key with %s', async (value, notes, result) => {
    const first = { referenceId: value, idempotencyKey: value };
    const { data, calls } = await create(first, { ...first, notes }, { referenceId: value });
    expect(data.createOrders).toEqual([recorded, result, duplicate]);
    expect(calls.filter((call) => call === post)).toEqual([post]);
  });

  test('creates one order per input if equal inputs have no referenceId', async () => {
    const { data, calls } = await create({}, {}, {});
    expect(data.createOrders).toEqual([recorded, recorded, recorded]);
    expect(calls).toEqual([post, post, post]);
  });

  test('accepts 100 inputs of the largest valid size', async () => {
    const text = '☕'.repeat(128);
    const largest = Array.from({ length: 100 }, (_, index) => ({
      contentDescription: text,
      notes: '🫘'.repeat(2048),
      paymentMethods: ['PSE', 'NEQUI'],
      referenceId: `large ${index}`,
      idempotencyKey: `${index} ${'k'.repeat(250)}`,
    }));
    const { data, errors, calls } = await create(...largest);
    expect(errors).toBeUndefined();
    expect(new Set(data.createOrders?.map(({ __typename }) => __typename))).toEqual(
      new Set(['CreateOrderSuccess']),
    );
    expect(calls).toHaveLength(100);
  });

  test('rejects 101 inputs without a call', async () => {
    const inputs = Array.from({ length: 101 }, () => ({}));
    expect(await create(...inputs)).toMatchObject(tooManyWrites(101));
  });
});
