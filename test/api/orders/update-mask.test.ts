import * as fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import {
  type OrderRecipientInput,
  UpdateOrderDocument,
  type UpdateOrderInput,
} from '../../documents.generated.ts';
import { startWaybill } from '../../harness.ts';

const waybill = await startWaybill();
const { ask, sandbox } = waybill;
afterAll(() => waybill[Symbol.asyncDispose]());

/** "Update Order rules" 2, in its order. */
const maskable = [
  'status',
  'recipient',
  'sellingPriceCents',
  'cashOnDeliveryRequestCents',
  'paymentMethods',
  'contentDescription',
  'notes',
  'fulfiller',
] as const;

const bodies = () => sandbox.requests.entries().map(({ body }) => body);
const update = (input: UpdateOrderInput) => ask(UpdateOrderDocument, { input });

/** Texts of whole characters, which are up to two units of UTF-16 each. */
const textOf = (minLength: number, maxLength: number) => fc.string({ unit: 'binary', minLength, maxLength });

const amount = fc.maxSafeInteger();

const recipient = fc.record(
  {
    firstName: textOf(0, 9),
    lastName: textOf(0, 9),
    email: textOf(0, 9),
    phoneNumber: textOf(0, 9),
    address: fc.record(
      { addressLines: fc.array(textOf(0, 9), { maxLength: 3 }), organization: fc.option(textOf(0, 9)) },
      { requiredKeys: ['addressLines'], noNullPrototype: true },
    ),
    documentType: fc.option(fc.constantFrom('CC', 'CE', 'NI', 'TI')),
    document: fc.option(textOf(0, 9)),
    location: fc.constant('locations/huila-pitalito'),
  },
  {
    requiredKeys: ['firstName', 'lastName', 'email', 'phoneNumber', 'address', 'location'],
    noNullPrototype: true,
  },
);

const changes = fc.record(
  {
    status: fc.constantFrom('NEW', 'CONFIRMED', 'READY', 'CANCELLED'),
    recipient,
    sellingPriceCents: amount,
    cashOnDeliveryRequestCents: fc.maxSafeNat(),
    paymentMethods: fc.array(textOf(0, 9), { maxLength: 3 }),
    contentDescription: textOf(3, 128),
    notes: textOf(3, 300),
    fulfiller: textOf(0, 9),
  },
  { requiredKeys: [], noNullPrototype: true },
);

test('updateOrder sends exactly the given fields and their update mask', async () => {
  await fc.assert(
    fc.asyncProperty(changes, fc.constantFrom('ca2453', 'orders/ca2453'), async (order, id) => {
      const { calls } = await update({ ...order, id });
      const updateMask = maskable.filter((field) => Object.hasOwn(order, field));
      const isEmpty = updateMask.length === 0;
      expect(calls).toEqual(isEmpty ? [] : ['PATCH /v1/orders/ca2453']);
      expect(bodies()).toStrictEqual(isEmpty ? [] : [{ order, updateMask }]);
    }),
    { seed: 20_261_121, numRuns: 100 },
  );
});

const person: OrderRecipientInput = {
  firstName: 'Inés',
  lastName: 'Ruiz',
  email: 'ines.ruiz@example.com',
  phoneNumber: '+573001112233',
  address: { addressLines: ['Calle 1 # 2-3'] },
  location: 'locations/huila-pitalito',
};

describe('an explicit null in the input of updateOrder', () => {
  test.each(maskable)('is rejected without a call in the field %s', async (field) => {
    const { data, errors, calls } = await update({ id: 'ca2453', [field]: null });
    const message = 'must not be null: omit the field instead';
    expect({ data, errors }).toEqual({
      data: {
        updateOrder: {
          __typename: 'InvalidInput',
          message: `The input is invalid, and nothing was written: ${field} ${message}.`,
          fields: [{ path: field, message }],
        },
      },
      errors: undefined,
    });
    expect(calls).toEqual([]);
  });

  test('is sent in fields that are nullable in the REST interface', async () => {
    const order = {
      recipient: {
        ...person,
        address: { addressLines: ['Calle 1'], organization: null },
        documentType: null,
        document: null,
      },
    };
    const { data, errors, calls } = await update({ id: 'ca2450', ...order });
    expect(errors).toBeUndefined();
    expect(data.updateOrder.__typename).toBe('UpdateOrderSuccess');
    expect(calls).toEqual(['PATCH /v1/orders/ca2450']);
    expect(bodies()).toEqual([{ order, updateMask: ['recipient'] }]);
  });
});

test('updateOrder sends no null for a variable without a value', async () => {
  const { data, errors, calls } = await ask<unknown, unknown>(
    `mutation ($notes: String, $fulfiller: String) {
      updateOrder(input: { id: "ca2450", notes: $notes, fulfiller: $fulfiller }) { __typename }
    }`,
    { fulfiller: 'OPERATOR' },
  );
  expect({ data, errors }).toEqual({
    data: { updateOrder: { __typename: 'UpdateOrderSuccess' } },
    errors: undefined,
  });
  expect(calls).toEqual(['PATCH /v1/orders/ca2450']);
  expect(bodies()).toEqual([{ order: { fulfiller: 'OPERATOR' }, updateMask: ['fulfiller'] }]);
});

describe('the validation of updateOrder', () => {
  const location = (length: number) => `locations/${'x'.repeat(length - 'locations/'.length)}`;

  test.each<[string, Omit<UpdateOrderInput, 'id'>]>([
    ['a contentDescription of 3 characters', { contentDescription: 'pan' }],
    ['a contentDescription of 3 characters that are 6 UTF-16 units', { contentDescription: '🎂🎂🎂' }],
    ['a contentDescription of 128 characters', { contentDescription: 'ñ'.repeat(128) }],
    [
      'a contentDescription of 128 characters that are 256 UTF-16 units',
      { contentDescription: '🎂'.repeat(128) },
    ],
    ['notes of 3 characters', { notes: 'pan' }],
    ['notes of 2048 characters', { notes: 'ñ'.repeat(2048) }],
    ['notes of 2048 characters that are 4096 UTF-16 units', { notes: '🎂'.repeat(2048) }],
    ['a cash-on-delivery amount of 0', { cashOnDeliveryRequestCents: 0 }],
    ['a negative selling price', { sellingPriceCents: -1 }],
    ['an empty list of payment methods', { paymentMethods: [] }],
  ])('accepts %s', async (_what, order) => {
    const { data, errors, calls } = await update({ id: 'ca2470', ...order });
    expect(errors).toBeUndefined();
    expect(data.updateOrder.__typename).toBe('UpdateOrderSuccess');
    expect(calls).toEqual(['PATCH /v1/orders/ca2470']);
    expect(bodies()).toEqual([{ order, updateMask: Object.keys(order) }]);
  });

  test('passes a location id of 96 characters to the REST service', async () => {
    const recipient = { ...person, location: location(96) };
    const { data, errors, calls } = await update({ id: 'ca2470', recipient });
    const message = `refers to an unknown location: ${location(96)}`;
    expect({ data, errors }).toEqual({
      data: {
        updateOrder: {
          __typename: 'InvalidInput',
          message: `The request is invalid: recipient.location ${message}`,
          fields: [{ path: 'recipient.location', message }],
        },
      },
      errors: undefined,
    });
    expect(calls).toEqual(['PATCH /v1/orders/ca2470']);
    expect(bodies()).toEqual([{ order: { recipient }, updateMask: ['recipient'] }]);
  });

  const length = (least: number, most: number, has: number) =>
    `must be ${least} to ${most} characters long, but has ${has}`;
  const tooLong = (has: number) =>
    `must have at most 96 characters in the form "locations/<identifier>", but has ${has}`;

  test.each<[string, Omit<UpdateOrderInput, 'id'>, string, string]>([
    [
      'a contentDescription of 2 characters',
      { contentDescription: 'té' },
      'contentDescription',
      length(3, 128, 2),
    ],
    [
      'a contentDescription of 2 characters that are 4 UTF-16 units',
      { contentDescription: '🎂🎂' },
      'contentDescription',
      length(3, 128, 2),
    ],
    [
      'a contentDescription of 129 characters',
      { contentDescription: 'x'.repeat(129) },
      'contentDescription',
      length(3, 128, 129),
    ],
    ['notes of 2 characters', { notes: 'té' }, 'notes', length(3, 2048, 2)],
    ['notes of 2049 characters', { notes: 'x'.repeat(2049) }, 'notes', length(3, 2048, 2049)],
    ['empty notes', { notes: '' }, 'notes', length(3, 2048, 0)],
    [
      'a cash-on-delivery amount below 0',
      { cashOnDeliveryRequestCents: -1 },
      'cashOnDeliveryRequestCents',
      'must be at least 0, but is -1',
    ],
    [
      'a location of 97 characters',
      { recipient: { ...person, location: location(97) } },
      'recipient.location',
      tooLong(97),
    ],
    [
      'a location that is too long with its prefix',
      { recipient: { ...person, location: 'x'.repeat(87) } },
      'recipient.location',
      tooLong(97),
    ],
    [
      'the document type UNRECOGNIZED',
      { recipient: { ...person, documentType: 'UNRECOGNIZED' } },
      'recipient.documentType',
      'must be one of CC, CE, NI and TI: UNRECOGNIZED is for output only',
    ],
  ])('rejects %s without a call', async (_what, order, path, message) => {
    const { data, errors, calls } = await update({ id: 'ca2470', ...order });
    expect({ data, errors }).toEqual({
      data: {
        updateOrder: {
          __typename: 'InvalidInput',
          message: `The input is invalid, and nothing was written: ${path} ${message}.`,
          fields: [{ path, message }],
        },
      },
      errors: undefined,
    });
    expect(calls).toEqual([]);
  });

  test.each(['', '..', 'orders/', 'shipments/ca2036', 'ca2470/label', 'ca2470\n', 'x'.repeat(257)])(
    'rejects the malformed id %j without a call',
    async (id) => {
      const { data, errors, calls } = await update({ id, notes: 'Hola' });
      expect(errors).toBeUndefined();
      expect(data).toEqual({
        updateOrder: {
          __typename: 'InvalidInput',
          message: expect.stringMatching(
            /^The input is invalid, and nothing was written: id must be an id of the form /,
          ),
          fields: [
            {
              path: 'id',
              message: expect.stringMatching(
                /^must be an id of the form "orders\/<identifier>" or a bare identifier, but is "/,
              ),
            },
          ],
        },
      });
      expect(calls).toEqual([]);
    },
  );

  test.each([
    'status: IN_PROGRESS',
    'status: UNRECOGNIZED',
    'sellingPriceCents: 1.5',
    'referenceId: "1001"',
    'paymentMethods: [null]',
    'recipient: { firstName: "Inés" }',
  ])('leaves type checks to GraphQL: %s', async (field) => {
    const { data, errors, calls } = await ask(
      `mutation { updateOrder(input: { id: "ca2470", ${field} }) { __typename } }`,
    );
    expect(data).toBeUndefined();
    expect(errors?.length).toBeGreaterThan(0);
    expect(calls).toEqual([]);
  });

  test('reports a malformed id and the lack of other fields in one result', async () => {
    const { data, errors, calls } = await update({ id: '..' });
    expect(errors).toBeUndefined();
    expect(data).toMatchObject({
      updateOrder: {
        fields: [{ path: 'id' }, { path: '', message: 'the input must have at least one field besides id' }],
      },
    });
    expect(calls).toEqual([]);
  });

  test('reports every invalid field in one result', async () => {
    const { data, errors, calls } = await update({
      id: '..',
      status: null,
      recipient: {
        ...person,
        documentType: 'UNRECOGNIZED',
        location: '../x',
      },
      sellingPriceCents: null,
      cashOnDeliveryRequestCents: -1,
      paymentMethods: null,
      contentDescription: 'té',
      notes: '',
      fulfiller: null,
    });
    expect(errors).toBeUndefined();
    expect(data.updateOrder).toMatchObject({
      __typename: 'InvalidInput',
      fields: [
        { path: 'id' },
        { path: 'status' },
        { path: 'recipient.documentType' },
        { path: 'recipient.location' },
        { path: 'sellingPriceCents' },
        { path: 'cashOnDeliveryRequestCents' },
        { path: 'paymentMethods' },
        { path: 'contentDescription' },
        { path: 'notes' },
        { path: 'fulfiller' },
      ],
    });
    expect(calls).toEqual([]);
  });
});
