import { isEnumType } from 'graphql';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { schema } from '../../../src/graph/schema.ts';
import { learnMerchants } from '../../fixtures/known-merchant.ts';
import { readPage, rowsOf, sectionOf } from '../../fixtures/markdown.ts';
import { literal } from '../../fixtures/mutation-inputs.ts';
import { order, post } from '../../fixtures/order-to-create.ts';
import { orderToShip, parcel } from '../../fixtures/order-to-ship.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

let waybill: Waybill;
beforeAll(async () => {
  waybill = await startWaybill();
  await learnMerchants(waybill, waybill.sandbox.tokens.first);
});
afterEach(() => waybill.sandbox.faults.clear());
afterAll(() => waybill[Symbol.asyncDispose]());

const errorFields = `__typename
  ... on InvalidInput { fields { path code limit } }
  ... on Conflict { reason conflicting: shipment { id } }`;

/** The result of a mutation, and its calls. */
async function run(mutation: string, input: object, fields = errorFields) {
  const { data, calls } = await waybill.ask(
    `mutation { ${mutation}(input: ${literal(input)}) { ${fields} } }`,
  );
  return { result: (data as Record<string, unknown>)[mutation], calls };
}

const { recipient } = order;

describe('an invalid field', () => {
  test.each<[string, object, { path: string; code: string; limit: number | null }]>([
    ['a string that is too short', { notes: 'ab' }, { path: 'notes', code: 'TOO_SHORT', limit: 3 }],
    [
      'a string that is too long',
      { notes: 'x'.repeat(2049) },
      { path: 'notes', code: 'TOO_LONG', limit: 2048 },
    ],
    [
      'a number that is too small',
      { cashOnDeliveryRequestCents: -1 },
      { path: 'cashOnDeliveryRequestCents', code: 'TOO_SMALL', limit: 0 },
    ],
    [
      'the id of a wrong collection',
      { recipient: { ...recipient, location: 'origins/ca1' } },
      { path: 'recipient.location', code: 'INVALID_FORMAT', limit: null },
    ],
    [
      'an id that is too long',
      { recipient: { ...recipient, location: 'a'.repeat(87) } },
      { path: 'recipient.location', code: 'TOO_LONG', limit: 96 },
    ],
    ['null', { referenceId: null }, { path: 'referenceId', code: 'NOT_ALLOWED', limit: null }],
  ])('has a code and a limit: %s', async (_fault, fields, field) => {
    const { result, calls } = await run('createOrder', { ...order, ...fields });
    expect([result, calls]).toEqual([{ __typename: 'InvalidInput', fields: [field] }, []]);
  });

  const template = { name: 'pedido_confirmado', language: 'es' };
  const twice = [
    { name: '1', value: 'a' },
    { name: '1', value: 'b' },
  ];

  test.each<[string, object, { path: string; code: string }]>([
    [
      'a duplicate parameter',
      { ...template, bodyParameters: twice },
      { path: 'content.template.bodyParameters', code: 'DUPLICATE' },
    ],
    [
      'an unknown template',
      { ...template, name: 'none' },
      { path: 'content.template.name', code: 'NOT_FOUND' },
    ],
    [
      'an unknown language',
      { ...template, language: 'qu' },
      { path: 'content.template.language', code: 'NOT_FOUND' },
    ],
  ])('has a code: %s', async (_fault, template, field) => {
    const conversation = 'channels/ca1/conversations/ca57';
    const { result } = await run('sendMessage', { conversation, content: { template } });
    expect(result).toEqual({ __typename: 'InvalidInput', fields: [{ ...field, limit: null }] });
  });

  test('has the code REQUIRED if updateOrder gets only the id', async () => {
    const { result, calls } = await run('updateOrder', { id: 'ca2490' });
    const fields = [{ path: '', code: 'REQUIRED', limit: null }];
    expect([result, calls]).toEqual([{ __typename: 'InvalidInput', fields }, []]);
  });

  test.each([
    [{ field: 'notes', message: 'says no' }, 'REJECTED'],
    [{ field: 'notes', message: 'is long', code: 'too_long' }, 'TOO_LONG'],
    [{ field: 'notes', message: 'is odd', code: 'ODD' }, 'REJECTED'],
  ])('with the REST error %j has the code %s', async (fault, code) => {
    const body = { message: 'invalid', errors: [fault] };
    waybill.sandbox.faults.add({ kind: 'status', status: 400, method: 'POST', path: '/v1/orders', body });
    const { result, calls } = await run('createOrder', order);
    const fields = [{ path: 'notes', code, limit: null }];
    expect([result, calls]).toEqual([{ __typename: 'InvalidInput', fields }, [post]]);
  });
});

describe('the path of NotFound', () => {
  test.each([
    ['updateOrder', { id: 'none', notes: 'None' }, 'id', 'orders/none'],
    ['shipOrder', { order: 'none', origin: 'ca4', package: parcel }, 'order', 'orders/none'],
    ['shipOrder', { order: 'ca2490', origin: 'none', package: parcel }, 'origin', 'origins/none'],
  ])('is the input field with the missing id in %s(%j): %s', async (mutation, input, path, missingId) => {
    const { result } = await run(mutation, input, '__typename ... on NotFound { path missingId }');
    expect(result).toEqual({ __typename: 'NotFound', path, missingId });
  });
});

describe('the reason of a Conflict', () => {
  test('is ALREADY_SHIPPED for a shipped order and costs no shipment call', async () => {
    const input = await orderToShip(waybill);
    const { result: shipped } = await run('shipOrder', input, '... on ShipOrderSuccess { shipment { id } }');
    const { result, calls } = await run('shipOrder', input);
    const conflicting = (shipped as { shipment: object }).shipment;
    expect(result).toEqual({ __typename: 'Conflict', reason: 'ALREADY_SHIPPED', conflicting });
    expect(calls).not.toContainEqual(expect.stringContaining('shipments'));
  });

  test('is ORDER_FINISHED for a cancelled order', async () => {
    const input = await orderToShip(waybill);
    await waybill.ask(
      `mutation { updateOrder(input: { id: "${input.order}", status: CANCELLED }) { __typename } }`,
    );
    const { result } = await run('shipOrder', input);
    expect(result).toEqual({ __typename: 'Conflict', reason: 'ORDER_FINISHED', conflicting: null });
  });

  test('is KEY_REUSED if a key is used again with a different input', async () => {
    const idempotencyKey = 'reused';
    await run('createOrder', { ...order, idempotencyKey });
    const { result, calls } = await run('createOrder', { ...order, notes: 'Other', idempotencyKey });
    expect([result, calls]).toEqual([
      { __typename: 'Conflict', reason: 'KEY_REUSED', conflicting: null },
      [],
    ]);
  });

  test.each([
    [{ message: 'no' }, 'REJECTED'],
    [{ error: { code: 409, status: 'FAILED_PRECONDITION', message: 'no' } }, 'STATE'],
    [{ message: 'off', code: 'channel-inactive' }, 'CHANNEL_INACTIVE'],
  ])('comes from the body of a 409 response: %j gives %s', async (body, reason) => {
    waybill.sandbox.faults.add({ kind: 'status', status: 409, method: 'POST', path: '/v1/orders', body });
    const { result, calls } = await run('createOrder', order);
    expect([result, calls]).toEqual([{ __typename: 'Conflict', reason, conflicting: null }, [post]]);
  });
});

describe('the reason of NoOffer', () => {
  test.each([
    [{ maxShipmentCostCents: 0 }, 'ABOVE_LIMIT'],
    [{ offer: { courier: 'nobody' } }, 'COURIER_UNAVAILABLE'],
    [{ package: { ...parcel, weightKg: 500 } }, 'NO_COURIER'],
  ])('follows from the input %j: %s', async (fields, reason) => {
    const input = { ...(await orderToShip(waybill)), ...fields };
    const { result } = await run('shipOrder', input, '__typename ... on NoOffer { reason }');
    expect(result).toEqual({ __typename: 'NoOffer', reason });
  });
});

test.each([
  ['InvalidField.code', 'InvalidFieldCode'],
  ['Conflict.reason', 'ConflictReason'],
  ['NoOffer.reason', 'NoOfferReason'],
])('docs/errors.md explains every %s', (head, typeName) => {
  const rows = rowsOf(sectionOf(readPage('docs/errors.md'), 'Codes in results'), `\`${head}\``);
  const type = schema.getType(typeName);
  const values = isEnumType(type) ? type.getValues().map(({ name }) => name) : [];
  expect(rows.flatMap(([codes = '']) => codes.replaceAll('`', '').split(', ')).sort()).toEqual(values);
});
