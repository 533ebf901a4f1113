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

/** A recipient with long values, but no longer than real ones. */
const longRecipient = {
  firstName: 'María Fernanda de los Ángeles',
  lastName: 'Fernández de Córdoba y Rodríguez-Peñalosa',
  email: 'maria.fernanda.de.los.angeles.fernandez-de-cordoba@tostadora-laureles.example.com',
  phoneNumber: '+57 300 111 22 33',
  address: {
    addressLines: ['Circular 4 # 70-28, Conjunto Residencial Los Ángeles de Laureles', 'Torre 3, Apto 502'],
    organization: 'Tostadora y Comercializadora de Café Laureles S.A.S.',
  },
  location: 'locations/antioquia-medellin-laureles',
  documentType: 'NI',
  document: '900.123.456-7',
} satisfies CreateOrderInput['recipient'];

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

  test('rejects a repeated referenceId if the first input fails with 429', async () => {
    fail(429);
    const { data, calls } = await create({ referenceId: 'limited' }, { referenceId: 'limited' });
    expect(data.createOrders).toEqual([{ __typename: 'WriteFailed', code: 'RATE_LIMITED' }, duplicate]);
    expect(calls).toEqual([post]);
  });

  test('creates one order if two equal inputs have the same idempotency key', async () => {
    const input = { referenceId: 'key and reference', idempotencyKey: 'key and reference' };
    const { data, calls } = await create(input, input);
    const [first, second] = data.createOrders ?? [];
    expect([first, second]).toEqual([recorded, first]);
    expect(calls).toEqual([post]);
  });

  test.each([
    ['another value', 'Other notes', { __typename: 'Conflict', reason: 'KEY_REUSED' }],
    ['an invalid value', '', { __typename: 'InvalidInput' }],
  ])('creates one order if a second input repeats the key with %s', async (value, notes, result) => {
    const first = { referenceId: value, idempotencyKey: value };
    const { data, calls } = await create(first, { ...first, notes }, { referenceId: value });
    expect(data.createOrders).toEqual([recorded, result, duplicate]);
    expect(calls).toEqual([post]);
  });

  test('creates one order per input if equal inputs have no referenceId', async () => {
    const { data, calls } = await create({}, {}, {});
    expect(data.createOrders).toEqual([recorded, recorded, recorded]);
    expect(calls).toEqual([post, post, post]);
  });

  test('accepts 100 inputs with the longest texts of 4-byte characters', async () => {
    const text = (length: number, index: number) => String.fromCodePoint(0x1f900 + index).repeat(length);
    const largest = Array.from({ length: 100 }, (_, index) => ({
      recipient: longRecipient,
      contentDescription: text(128, index),
      notes: text(2048, index),
      paymentMethods: ['PSE', 'NEQUI'],
      referenceId: `large ${index}`,
      idempotencyKey: text(255, index),
    }));
    const { data, errors, calls } = await create(...largest);
    const created = data?.createOrders ?? [];
    expect([errors, created]).toEqual([undefined, largest.map(() => recorded)]);
    expect(calls).toEqual(largest.map(() => post));
    const { data: listed } = await waybill.ask<{ orders: { nodes: object[] } }, object>(
      '{ orders(first: 100) { nodes { id referenceId contentDescription notes } } }',
    );
    expect(new Set(listed.orders.nodes)).toEqual(
      new Set(
        largest.map(({ referenceId, contentDescription, notes }, index) => ({
          id: created[index]?.order?.id,
          referenceId,
          contentDescription,
          notes,
        })),
      ),
    );
  });

  test('returns an empty list without a call for an empty list', async () => {
    const { data, errors, calls } = await create();
    expect([data, errors, calls]).toEqual([{ createOrders: [] }, undefined, []]);
  });

  test('rejects 101 inputs without a call', async () => {
    const inputs = Array.from({ length: 101 }, () => ({}));
    expect(await create(...inputs)).toMatchObject(tooManyWrites(101));
  });
});
