import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  OrderBehaviorDocument,
  OrderLeavesDocument,
  OrderRecipientNameDocument,
  OrderTimesDocument,
  ShipmentLeavesDocument,
} from '../../documents.generated.ts';
import { type Answer, startWaybill, type Waybill } from '../../harness.ts';

let waybill: Waybill;
beforeAll(async () => {
  waybill = await startWaybill();
});
afterEach(() => waybill.sandbox.faults.clear());
afterAll(() => waybill[Symbol.asyncDispose]());

/** The paths that errors are at, once it is seen that each blames REST. */
function blamed(errors: Answer<unknown>['errors']): (string | undefined)[] | undefined {
  for (const { extensions } of errors ?? []) {
    expect(extensions).toEqual({ code: 'UPSTREAM_INVALID_RESPONSE', retryable: false });
  }
  return errors?.map(({ path }) => path?.join('.')).sort();
}

const order = '/v1/orders/ca2481';
const shipment = '/v1/shipments/ca2036';

describe('a nullable field', () => {
  const whole = {
    id: 'orders/ca2481',
    referenceUrl: 'https://cafe-andino.example/admin/orders/5320321908408',
    paymentMethods: ['CASH_ON_DELIVERY'],
    shipment: { id: 'shipments/ca2036' },
    recipient: { orders: { nodes: [{ id: 'orders/ca2496' }] } },
  };
  const bothCalls = ['GET /v1/orders/ca2481', 'GET /v1/orders?pageSize=1&search=+573104567890'];

  test.each<[string, object, object, string]>([
    ['an invalid URL', { referenceUrl: 'not a url' }, { referenceUrl: null }, 'referenceUrl'],
    ['a relative URL', { referenceUrl: '/orders/1' }, { referenceUrl: null }, 'referenceUrl'],
    ['a number in place of a URL', { referenceUrl: 5 }, { referenceUrl: null }, 'referenceUrl'],
    ['a string in place of a list', { paymentMethods: 'CASH' }, { paymentMethods: null }, 'paymentMethods'],
    ['a null in a list', { paymentMethods: ['A', null] }, { paymentMethods: null }, 'paymentMethods.1'],
    ['an object in a list', { paymentMethods: [{}] }, { paymentMethods: null }, 'paymentMethods.0'],
    [
      'the resource name of another collection',
      { shipment: 'quotes/ca2139' },
      { shipment: null },
      'shipment',
    ],
    [
      'a resource name with a relative path',
      { shipment: 'shipments/../orders' },
      { shipment: null },
      'shipment',
    ],
    ['a number in place of a resource name', { shipment: 2036 }, { shipment: null }, 'shipment'],
  ])('is null with an error if REST sends %s', async (_what, fields, propagateNull, path) => {
    waybill.changeAnswer(order, fields);
    const { data, errors, calls } = await waybill.ask(OrderLeavesDocument, { id: 'ca2481' });
    expect(data).toEqual({ order: { ...whole, ...propagateNull } });
    expect(blamed(errors)).toEqual([`order.${path}`]);
    expect(calls).toEqual(bothCalls);
  });

  test.each([undefined, null, '', 573104567890])(
    'that needs a phone number is null without a search if the number is %j',
    async (phoneNumber) => {
      waybill.changeAnswer(order, { recipient: { firstName: 'Lucía', lastName: 'Ñáñez', phoneNumber } });
      const { data, errors, calls } = await waybill.ask(OrderLeavesDocument, { id: 'ca2481' });
      expect(data).toEqual({ order: { ...whole, recipient: { orders: null } } });
      expect(blamed(errors)).toEqual(['order.recipient.orders']);
      expect(calls).toEqual(['GET /v1/orders/ca2481']);
    },
  );
});

test('several nullable fields with invalid values have one error each', async () => {
  waybill.changeAnswer(shipment, {
    createTime: 'soon',
    courier: 'origins/ca1',
    requiresPickup: 'yes',
    labelUrl: 'ftp://rest.example/label.pdf',
  });
  const { data, errors, calls } = await waybill.ask(ShipmentLeavesDocument, { id: 'ca2036' });
  expect(data).toEqual({
    shipment: {
      id: 'shipments/ca2036',
      createTime: null,
      courier: null,
      requiresPickup: null,
      label: { id: 'labels/ca2036', url: null },
    },
  });
  expect(blamed(errors)).toEqual([
    'shipment.courier',
    'shipment.createTime',
    'shipment.label.url',
    'shipment.requiresPickup',
  ]);
  expect(calls).toEqual(['GET /v1/shipments/ca2036']);
});

describe('a record with an invalid required value', () => {
  test.each([
    'yesterday',
    '2026-11-02',
    '2026-13-02T14:00:00Z',
    '2026-11-02T14:00:00',
    '',
    0,
    null,
    undefined,
  ])('is null if the creation time is %j', async (createTime) => {
    waybill.changeAnswer(order, { createTime });
    const { data, errors, calls } = await waybill.ask(OrderTimesDocument, { id: 'ca2481' });
    expect(data).toEqual({ order: null });
    expect(blamed(errors)).toEqual(['order.createTime']);
    expect(calls).toEqual(['GET /v1/orders/ca2481']);
  });

  test.each([
    ['a fraction', { totalShipments: 0.5 }],
    ['a number beyond 32 bits', { totalShipments: 2_147_483_648 }],
    ['a string', { totalShipments: 'many' }],
    ['no numbers', {}],
    ['a string in place of its fields', 'good'],
  ])('is null if its field customerBehavior has %s', async (_what, customerBehavior) => {
    waybill.changeAnswer(order, { customerBehavior });
    const { data, errors } = await waybill.ask(OrderBehaviorDocument, { id: 'ca2481' });
    expect(data).toEqual({ order: null });
    expect(blamed(errors)).toEqual(['order.customerBehavior.totalShipments']);
  });

  test.each([
    {},
    { firstName: 'Lucía' },
    { firstName: 'Lucía', lastName: null },
    { firstName: {}, lastName: 'N' },
    'Lucía',
  ])('is null if the recipient has no complete name: %j', async (recipient) => {
    waybill.changeAnswer(order, { recipient });
    const { data, errors } = await waybill.ask(OrderRecipientNameDocument, { id: 'ca2481' });
    expect(data).toEqual({ order: null });
    expect(blamed(errors)).toEqual(['order.recipient.fullName']);
  });

  test.each([null, undefined])('is null if the recipient is %j', async (recipient) => {
    waybill.changeAnswer(order, { recipient });
    const { data, errors } = await waybill.ask(OrderRecipientNameDocument, { id: 'ca2481' });
    expect(data).toEqual({ order: null });
    expect(blamed(errors)).toEqual(['order.recipient']);
  });
});

test('unknown fields of a REST record are ignored', async () => {
  waybill.changeAnswer(order, { priority: 'HIGH', __proto__: { id: 1 }, constructor: 'x' });
  const { data, errors } = await waybill.ask(OrderTimesDocument, { id: 'ca2481' });
  expect(errors).toBeUndefined();
  expect(data).toEqual({ order: { id: 'orders/ca2481', createTime: '2026-11-01T17:48:43.699Z' } });
});

test.each([null, ''])('a label is null without an error if the REST service sends %j', async (label) => {
  waybill.changeAnswer(shipment, { label });
  const { data, errors } = await waybill.ask(ShipmentLeavesDocument, { id: 'ca2036' });
  expect([data.shipment?.label, errors]).toEqual([null, undefined]);
});
