import { isEnumType } from 'graphql';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { schema } from '../../../src/graph/schema.ts';
import { fieldForms, messageForms } from '../../fixtures/error-forms.ts';
import { keyedMutation } from '../../fixtures/keyed-mutations.ts';
import { learnMerchants } from '../../fixtures/known-merchant.ts';
import { readPage, rowsOf, sectionOf } from '../../fixtures/markdown.ts';
import { order, post } from '../../fixtures/order-to-create.ts';
import { orderToShip, parcel } from '../../fixtures/order-to-ship.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

let waybill: Waybill;
beforeAll(async () => {
  // A search counts at once.
  waybill = await startWaybill({}, { processingMs: 0 });
  await learnMerchants(waybill, waybill.sandbox.tokens.first);
});
afterEach(() => waybill.sandbox.faults.clear());
afterAll(() => waybill[Symbol.asyncDispose]());

const errorFields = `__typename
  ... on InvalidInput { fields { path code limit } }
  ... on Conflict { reason conflicting: shipment { id } }`;

/** The result of a mutation, and its calls. */
async function run(mutation: string, input: object, fields = errorFields) {
  const type = mutation.replace(/^./, (letter) => letter.toUpperCase());
  const { data, calls } = await waybill.ask<{ result: unknown }, object>(
    `mutation ($input: ${type}Input!) { result: ${mutation}(input: $input) { ${fields} } }`,
    { input },
  );
  return { result: data.result, calls };
}

/** Runs shipOrder. The order and the origins are read at the same time, so that either may arrive first. */
async function ship(input: object, fields = errorFields) {
  const { result, calls } = await run('shipOrder', input, fields);
  return { result, calls: [...calls.slice(0, 2).sort(), ...calls.slice(2)] };
}

/** The reads of shipOrder. */
const reads = (id: string) => [`GET /v1/${id}`, 'GET /v1/origins?pageSize=1000'];

const fail = (fault: { status: number; path: string; body?: unknown }) =>
  waybill.sandbox.faults.add({ kind: 'status', method: 'POST', ...fault });

const { recipient } = order;
const { location: _, ...person } = recipient;
const quote = { origin: 'locations/huila-pitalito', destination: 'locations/narino-pasto', package: parcel };
const shipment = {
  quote: 'quotes/ca2151',
  courier: 'couriers/condor-veloz',
  origin: 'origins/ca1',
  recipient: person,
  requiresPickup: true,
};
const message = { conversation: 'channels/ca1/conversations/ca57', content: { text: 'Hola' } };
const toPhone = { channel: 'channels/ca1', phone: '+573104567890', name: 'Lucía', text: 'Hola' };

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
    [
      'a value for output only',
      { recipient: { ...recipient, documentType: 'UNRECOGNIZED' } },
      { path: 'recipient.documentType', code: 'NOT_ALLOWED', limit: null },
    ],
    ['an empty key', { idempotencyKey: '' }, { path: 'idempotencyKey', code: 'TOO_SHORT', limit: 1 }],
    [
      'a key that is too long',
      { idempotencyKey: 'k'.repeat(256) },
      { path: 'idempotencyKey', code: 'TOO_LONG', limit: 255 },
    ],
  ])('has a code and a limit: %s', async (_fault, fields, field) => {
    const { result, calls } = await run('createOrder', { ...order, ...fields });
    expect([result, calls]).toEqual([{ __typename: 'InvalidInput', fields: [field] }, []]);
  });

  const template = { name: 'codigo_de_acceso', language: 'es' };
  const parameters = (...names: string[]) => names.map((name) => ({ name, value: 'a' }));
  const list = 'GET /v1/channels/ca1/templates?pageSize=100';

  test.each<[string, object, { path: string; code: string }, string[]]>([
    [
      'a duplicate parameter',
      { ...template, bodyParameters: parameters('1', '1') },
      { path: 'content.template.bodyParameters', code: 'DUPLICATE' },
      [],
    ],
    ['a missing parameter', template, { path: 'content.template.bodyParameters', code: 'REQUIRED' }, [list]],
    [
      'an unknown parameter',
      { ...template, bodyParameters: parameters('1', '9') },
      { path: 'content.template.bodyParameters.1.name', code: 'NOT_ALLOWED' },
      [list],
    ],
    [
      'an unknown template',
      { ...template, name: 'none' },
      { path: 'content.template.name', code: 'NOT_FOUND' },
      [list],
    ],
    [
      'an unknown language',
      { ...template, language: 'qu' },
      { path: 'content.template.language', code: 'NOT_FOUND' },
      [list],
    ],
  ])('of a template has a code: %s', async (_fault, template, field, expectedCalls) => {
    const { result, calls } = await run('sendMessage', { ...message, content: { template } });
    const fields = [{ ...field, limit: null }];
    expect([result, calls]).toEqual([{ __typename: 'InvalidInput', fields }, expectedCalls]);
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
    fail({ status: 400, path: '/v1/orders', body });
    const { result, calls } = await run('createOrder', order);
    const fields = [{ path: 'notes', code, limit: null }];
    expect([result, calls]).toEqual([{ __typename: 'InvalidInput', fields }, [post]]);
  });
});

describe('a rejection in the error format of a framework', () => {
  const fields = '__typename ... on InvalidInput { message fields { path message code } }';
  const update = { id: 'ca2490', recipient };

  test.each(fieldForms)('shows the field and the text: %s', async (_form, body, message) => {
    const mutations = [
      ['createOrder', order, 'POST', '/v1/orders'],
      ['updateOrder', update, 'PATCH', '/v1/orders/ca2490'],
      ['createShipment', shipment, 'POST', '/v1/shipments'],
    ] as const;
    for (const [mutation, input, method, path] of mutations) {
      waybill.sandbox.faults.add({ kind: 'status', status: 422, method, path, body });
      const { result, calls } = await run(mutation, input, fields);
      // createShipment reads its quote and order first.
      expect([result, calls.filter((call) => !call.startsWith('GET '))]).toEqual([
        {
          __typename: 'InvalidInput',
          message: message ?? `${method} ${path} returned 422.`,
          fields: [{ path: 'recipient.email', message: 'is no address', code: 'REJECTED' }],
        },
        [`${method} ${path}`],
      ]);
    }
  });

  test.each(messageForms)('shows the text: %s', async (_form, body, message) => {
    // A 409 to an order without a reference may answer a repetition, so one with a reference is sent.
    for (const status of [400, 409]) {
      waybill.sandbox.faults.clear();
      fail({ status, path: '/v1/orders', body });
      const input = status === 409 ? { ...order, referenceId: 'refused' } : order;
      const { result, calls } = await run('createOrder', input, '__typename ... on UserError { message }');
      const __typename = status === 409 ? 'Conflict' : 'InvalidInput';
      expect([result, calls[0]]).toEqual([{ __typename, message }, post]);
    }
  });
});

describe('the path of NotFound', () => {
  const fields = '__typename ... on NotFound { path missingId }';

  test.each<[string, string, string, object, string[]]>([
    ['updateOrder', 'id', 'orders/none', { id: 'none', notes: 'None' }, ['PATCH /v1/orders/none']],
    [
      'sendMessage',
      'conversation',
      'channels/ca1/conversations/none',
      { ...message, conversation: 'channels/ca1/conversations/none' },
      ['POST /v1/channels/ca1/conversations/none/messages'],
    ],
    [
      'sendMessageToPhone',
      'channel',
      'channels/none',
      { ...toPhone, channel: 'none' },
      ['POST /v1/channels/none/messages'],
    ],
  ])('of %s is "%s" if there is no %s', async (mutation, path, missingId, input, expectedCalls) => {
    const { result, calls } = await run(mutation, input, fields);
    expect([result, calls]).toEqual([{ __typename: 'NotFound', path, missingId }, expectedCalls]);
  });

  test.each<[string, string, object, string[]]>([
    ['order', 'orders/none', { order: 'none' }, reads('orders/none')],
    ['origin', 'origins/none', { origin: 'none' }, reads('orders/ca2490')],
  ])('of shipOrder is "%s" if there is no %s', async (path, missingId, ids, expectedCalls) => {
    const input = { order: 'ca2490', origin: 'ca4', package: parcel, ...ids };
    const { result, calls } = await ship(input, fields);
    expect([result, calls]).toEqual([{ __typename: 'NotFound', path, missingId }, expectedCalls]);
  });

  test.each([
    ['createQuote', 'order', 'orders/ca2496', { ...quote, order: 'ca2496' }, '/v1/quotes'],
    ['createQuote', 'origin', 'locations/huila-pitalito', quote, '/v1/quotes'],
    ['createShipment', 'quote', 'quotes/ca2151', shipment, '/v1/shipments'],
  ])('of %s is "%s" (%s) if REST responds 404', async (mutation, path, missingId, input, endpoint) => {
    fail({ status: 404, path: endpoint });
    const { result, calls } = await run(mutation, input, fields);
    expect(result).toEqual({ __typename: 'NotFound', path, missingId });
    expect(calls.filter((call) => call.startsWith('POST'))).toEqual([`POST ${endpoint}`]);
  });

  test('of createShipment is "quote" if the quote does not exist', async () => {
    const { result, calls } = await run('createShipment', { ...shipment, quote: 'nosuch' }, fields);
    const missing = { __typename: 'NotFound', path: 'quote', missingId: 'quotes/nosuch' };
    expect([result, calls]).toEqual([missing, ['GET /v1/quotes/nosuch']]);
  });
});

describe('the reason of a Conflict', () => {
  test('is ALREADY_SHIPPED for a shipped order and costs no shipment call', async () => {
    const input = await orderToShip(waybill);
    const { result: shipped } = await run('shipOrder', input, '... on ShipOrderSuccess { shipment { id } }');
    const { result, calls } = await ship(input);
    const conflicting = (shipped as { shipment: object }).shipment;
    expect([result, calls]).toEqual([
      { __typename: 'Conflict', reason: 'ALREADY_SHIPPED', conflicting },
      reads(input.order),
    ]);
  });

  test('is ORDER_FINISHED for a cancelled order', async () => {
    const input = await orderToShip(waybill);
    await run('updateOrder', { id: input.order, status: 'CANCELLED' });
    const { result, calls } = await ship(input);
    expect([result, calls]).toEqual([
      { __typename: 'Conflict', reason: 'ORDER_FINISHED', conflicting: null },
      reads(input.order),
    ]);
  });

  test.each<[string, object]>([
    ['createOrder', { notes: 'Other' }],
    ['createQuote', { order: 'ca2496' }],
    ['createShipment', { requiresPickup: false }],
    ['sendMessage', { content: { text: 'Other' } }],
    ['sendMessageToPhone', { text: 'Other' }],
    ['shipOrder', { maxShipmentCostCents: 0 }],
  ])('is KEY_REUSED if %s repeats a key with another input', async (mutation, other) => {
    const input = { ...(await keyedMutation(mutation).newInput(waybill)), idempotencyKey: 'reused' };
    await run(mutation, input);
    const { result, calls } = await run(mutation, { ...input, ...other });
    expect([result, calls]).toEqual([
      { __typename: 'Conflict', reason: 'KEY_REUSED', conflicting: null },
      [],
    ]);
  });

  test.each([
    [
      'sendMessage',
      { ...message, conversation: 'channels/ca3/conversations/ca1' },
      'POST /v1/channels/ca3/conversations/ca1/messages',
    ],
    ['sendMessageToPhone', { ...toPhone, channel: 'ca3' }, 'POST /v1/channels/ca3/messages'],
  ])('is STATE if REST responds FAILED_PRECONDITION to %s', async (mutation, input, call) => {
    const { result, calls } = await run(mutation, input);
    expect([result, calls]).toEqual([{ __typename: 'Conflict', reason: 'STATE', conflicting: null }, [call]]);
  });

  test.each([
    ['createQuote', quote, '/v1/quotes'],
    ['createShipment', shipment, '/v1/shipments'],
    ['createOrder', { ...order, referenceId: 'rejected' }, '/v1/orders'],
  ])('is REJECTED if the 409 response to %s is empty', async (mutation, input, path) => {
    fail({ status: 409, path });
    const { result, calls } = await run(mutation, input);
    expect(result).toEqual({ __typename: 'Conflict', reason: 'REJECTED', conflicting: null });
    expect(calls.filter((call) => call.startsWith('POST'))).toEqual([`POST ${path}`]);
  });

  test.each([
    [{ message: 'no' }, 'REJECTED'],
    [{ error: { code: 409, status: 'FAILED_PRECONDITION', message: 'no' } }, 'STATE'],
    [{ message: 'off', code: 'channel-inactive' }, 'CHANNEL_INACTIVE'],
  ])('comes from the body of a 409 response: %j gives %s', async (body, reason) => {
    fail({ status: 409, path: '/v1/quotes', body });
    const { result, calls } = await run('createQuote', quote);
    const conflict = { __typename: 'Conflict', reason, conflicting: null };
    expect([result, calls]).toEqual([conflict, ['POST /v1/quotes']]);
  });
});

describe('the reason of NoOffer', () => {
  test.each([
    ['ABOVE_LIMIT', 'every offer costs too much', { maxShipmentCostCents: 0 }],
    ['COURIER_UNAVAILABLE', 'the courier has no offer', { offer: { courier: 'nobody' } }],
    ['NO_COURIER', 'no courier takes the package', { package: { ...parcel, weightKg: 500 } }],
  ])('is %s if %s', async (reason, _cause, fields) => {
    const input = { ...(await orderToShip(waybill)), ...fields };
    const { result, calls } = await ship(input, '__typename ... on NoOffer { reason }');
    expect([result, calls]).toEqual([
      { __typename: 'NoOffer', reason },
      [...reads(input.order), 'POST /v1/quotes'],
    ]);
  });
});

test('an error below NoOffer leaves the mutation null although nothing is shipped', async () => {
  const input = {
    ...(await orderToShip(waybill)),
    maxShipmentCostCents: 0,
    idempotencyKey: crypto.randomUUID(),
  };
  await ship(input, '__typename');
  waybill.sandbox.faults.add({ kind: 'status', status: 503, path: /^\/v1\/quotes\// });
  const { data, errors, calls } = await waybill.ask<{ shipOrder: null }, object>(
    'mutation ($input: ShipOrderInput!) { shipOrder(input: $input) { ... on NoOffer { quote { offers { courier { id } } } } } }',
    { input },
  );
  expect(data).toEqual({ shipOrder: null });
  expect(errors?.map(({ path }) => path)).toEqual([['shipOrder', 'quote']]);
  expect(calls.map((call) => call.replace(/ca\d+/, 'ca'))).toEqual(['GET /v1/quotes/ca']);
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
