import { afterAll, afterEach, describe, expect, test } from 'vitest';
import {
  UpdateBetweenReadsDocument,
  UpdateOrderDocument,
  type UpdateOrderInput,
  UpdateThenCancelDocument,
  UpdateTwiceThenQuoteDocument,
  UpdateWholeOrderDocument,
} from '../../documents.generated.ts';
import { startWaybill } from '../../harness.ts';

const waybill = await startWaybill();
const { ask, sandbox } = waybill;

afterEach(() => sandbox.faults.clear());
afterAll(() => waybill[Symbol.asyncDispose]());

const recipient = {
  firstName: 'Inés',
  lastName: 'Ruiz',
  email: 'ines.ruiz@example.com',
  phoneNumber: '+573001112233',
  address: { addressLines: ['Calle 1 # 2-3', 'Apto 4'], organization: 'Café Andino' },
  documentType: 'CE' as const,
  document: '123456',
};

const bodies = () => sandbox.requests.entries().map(({ body }) => body);
const update = (input: UpdateOrderInput) => ask(UpdateOrderDocument, { input });

describe('updateOrder', () => {
  test('updates every field and returns the order with one call', async () => {
    sandbox.clock.advance(1000);
    const changes = {
      status: 'CONFIRMED' as const,
      sellingPriceCents: 9_007_199_254_740_991,
      cashOnDeliveryRequestCents: 0,
      paymentMethods: ['PSE', 'NEQUI'],
      contentDescription: 'Café 🎂',
      notes: 'Timbrar dos veces',
      fulfiller: 'PARTNER',
    };
    const { data, errors, calls } = await ask(UpdateWholeOrderDocument, {
      input: { ...changes, recipient: { ...recipient, location: 'huila-pitalito' }, id: 'ca2492' },
    });
    expect({ data, errors }).toEqual({
      data: {
        updateOrder: {
          __typename: 'UpdateOrderSuccess',
          order: {
            __typename: 'Order',
            id: 'orders/ca2492',
            updateTime: '2026-11-02T14:00:01.000Z',
            status: 'CONFIRMED',
            recipient: {
              fullName: 'Inés Ruiz',
              documentType: 'CE',
              document: '123456',
              email: 'ines.ruiz@example.com',
              phoneNumber: '+573001112233',
              address: {
                regionCode: 'CO',
                administrativeArea: 'Huila',
                locality: 'Pitalito',
                addressLines: ['Calle 1 # 2-3', 'Apto 4'],
                organization: 'Café Andino',
              },
              location: { id: 'locations/huila-pitalito' },
            },
            contentDescription: 'Café 🎂',
            notes: 'Timbrar dos veces',
            sellingPrice: { cents: 9_007_199_254_740_991 },
            cashOnDelivery: { cents: 0 },
            paymentMethods: ['PSE', 'NEQUI'],
            fulfiller: 'PARTNER',
            referenceId: '5320322268856',
          },
        },
      },
      errors: undefined,
    });
    expect(calls).toEqual(['PATCH /v1/orders/ca2492']);
    expect(bodies()).toEqual([
      {
        order: { ...changes, recipient: { ...recipient, location: 'locations/huila-pitalito' } },
        updateMask: [
          'status',
          'recipient',
          'sellingPriceCents',
          'cashOnDeliveryRequestCents',
          'paymentMethods',
          'contentDescription',
          'notes',
          'fulfiller',
        ],
      },
    ]);
  });

  test('leaves missing fields unchanged', async () => {
    const { data } = await ask<{ order: object }, unknown>(
      '{ order(id: "ca2480") { status contentDescription sellingPrice { cents } fulfiller } }',
    );
    const after = await ask<{ updateOrder: { order: object } }, unknown>(
      `mutation { updateOrder(input: { id: "ca2480", paymentMethods: [] }) { ... on UpdateOrderSuccess { order {
        status contentDescription sellingPrice { cents } fulfiller paymentMethods
      } } } }`,
    );
    expect(after.data.updateOrder.order).toEqual({ ...data.order, paymentMethods: [] });
    expect(after.calls).toEqual(['PATCH /v1/orders/ca2480']);
    expect(bodies()).toEqual([{ order: { paymentMethods: [] }, updateMask: ['paymentMethods'] }]);
  });
});

describe('a REST error of updateOrder', () => {
  test.each(['nosuch', 'orders/nosuch', 'st0300'])(
    'becomes NotFound if the merchant has no order %s',
    async (id) => {
      const { data, errors, calls } = await update({ id, notes: 'Hola' });
      const name = `orders/${id.replace('orders/', '')}`;
      expect({ data, errors }).toEqual({
        data: { updateOrder: { __typename: 'NotFound', message: `${name} does not exist`, missingId: name } },
        errors: undefined,
      });
      expect(calls).toEqual([`PATCH /v1/${name}`]);
    },
  );

  test('becomes Conflict if the status of the order forbids the update', async () => {
    const { data, errors, calls } = await update({ id: 'ca2481', status: 'READY' });
    expect({ data, errors }).toEqual({
      data: {
        updateOrder: {
          __typename: 'Conflict',
          message: 'orders/ca2481 is IN_PROGRESS and can no longer be updated',
        },
      },
      errors: undefined,
    });
    expect(calls).toEqual(['PATCH /v1/orders/ca2481']);
  });

  test.each([
    [410, 'NotFound', { missingId: 'orders/ca2490' }],
    [412, 'Conflict', {}],
    [422, 'InvalidInput', { fields: [] }],
  ] as const)(
    'with the status %i becomes %s even if the body is not JSON',
    async (status, __typename, more) => {
      sandbox.faults.add({ kind: 'status', method: 'PATCH', status, body: '<h1>No</h1>' });
      const { data, errors, calls } = await update({ id: 'ca2490', notes: 'Hola' });
      const message = `PATCH /v1/orders/ca2490 returned ${status}.`;
      expect({ data, errors }).toEqual({
        data: { updateOrder: { __typename, message, ...more } },
        errors: undefined,
      });
      expect(calls).toEqual(['PATCH /v1/orders/ca2490']);
    },
  );

  test('becomes InvalidInput with the input path of each rejected field', async () => {
    const { data, errors, calls } = await update({
      id: 'ca2490',
      fulfiller: 'NOBODY',
      paymentMethods: ['PSE', ''],
      recipient: { ...recipient, firstName: '', location: 'huila-pitalito' },
    });
    expect({ data, errors }).toEqual({
      data: {
        updateOrder: {
          __typename: 'InvalidInput',
          message:
            'The request is invalid: order.recipient.firstName must have at least 1 character; ' +
            'order.paymentMethods.1 must have at least 1 character; order.fulfiller must be one of OPERATOR, PARTNER',
          fields: [
            { path: 'recipient.firstName', message: 'must have at least 1 character' },
            { path: 'paymentMethods.1', message: 'must have at least 1 character' },
            { path: 'fulfiller', message: 'must be one of OPERATOR, PARTNER' },
          ],
        },
      },
      errors: undefined,
    });
    expect(calls).toEqual(['PATCH /v1/orders/ca2490']);
  });

  test.each([
    [{ error: { message: 'No', details: [{ field: 'order.notes', message: 'a' }] } }, 'notes', 'a'],
    [
      { title: 'No', errors: [{ pointer: '#/order/recipient/address', detail: 'a' }] },
      'recipient.address',
      'a',
    ],
    [
      { message: 'No', errors: [{ field: 'order.recipient.address.address_lines[0]', message: 'a' }] },
      'recipient.address.addressLines.0',
      'a',
    ],
    [{ message: 'No', errors: [{ field: 'updateMask[3]', message: 'a' }] }, '', 'updateMask[3] a'],
    [{ message: 'No', errors: [{ field: 'updateMask', message: 'a' }] }, '', 'updateMask a'],
    [{ message: 'No', errors: [{ field: 'id', message: 'a' }] }, 'id', 'a'],
    [{ message: 'No', errors: [{ field: 'weather', message: 'a' }] }, '', 'weather a'],
  ])('becomes InvalidInput if the body is %j', async (body, path, message) => {
    sandbox.faults.add({ kind: 'status', method: 'PATCH', status: 400, body });
    const { data, errors, calls } = await update({
      id: 'ca2490',
      notes: 'Hola',
      paymentMethods: ['PSE', 'NEQUI'],
      recipient: { ...recipient, location: 'huila-pitalito' },
    });
    expect({ data, errors }).toEqual({
      data: { updateOrder: { __typename: 'InvalidInput', message: 'No', fields: [{ path, message }] } },
      errors: undefined,
    });
    expect(calls).toEqual(['PATCH /v1/orders/ca2490']);
  });

  test.each([
    [401, 'UNAUTHENTICATED', false],
    [403, 'FORBIDDEN', false],
    [429, 'RATE_LIMITED', true],
    [500, 'UPSTREAM_ERROR', false],
    [503, 'UPSTREAM_UNAVAILABLE', false],
  ])('becomes a field error if the status is %i', async (status, code, retryable) => {
    sandbox.faults.add({ kind: 'status', method: 'PATCH', status });
    const { data, errors, calls } = await update({ id: 'ca2490', notes: 'Hola' });
    expect(data).toEqual({ updateOrder: null });
    expect(errors).toEqual([
      {
        message: `PATCH /v1/orders/ca2490 returned ${status}`,
        locations: [{ line: 2, column: 3 }],
        path: ['updateOrder'],
        extensions: { code, retryable, upstreamStatus: status },
      },
    ]);
    expect(calls).toEqual(['PATCH /v1/orders/ca2490']);
  });
});

describe('updateOrder without a readable response', () => {
  const unknown = (id: string) => ({
    updateOrder: {
      __typename: 'OutcomeUnknown',
      message:
        'The response of the REST service was lost, so the write may or may not have happened. ' +
        `Check the values of order(id: "${id}"), or send the same update again, which does no harm. ` +
        'If you then get a Conflict, the first update may have cancelled the order.',
      idempotencyKey: null,
    },
  });

  test.each(['reset', 'applied-then-cut', 'reset-in-body', 'cut-json'] as const)(
    'succeeds on a retry after OutcomeUnknown: %s',
    async (kind) => {
      sandbox.faults.add({ kind, method: 'PATCH', times: 1 });
      const input = { id: 'ca2489', notes: `Hola tras ${kind}` };
      const { data, errors, calls } = await update(input);
      expect({ data, errors }).toEqual({ data: unknown('orders/ca2489'), errors: undefined });
      expect(calls).toEqual(['PATCH /v1/orders/ca2489']);

      const again = await update(input);
      expect(again.data).toEqual({
        updateOrder: {
          __typename: 'UpdateOrderSuccess',
          order: { id: 'orders/ca2489', notes: input.notes },
        },
      });
      expect(again.calls).toEqual(['PATCH /v1/orders/ca2489']);
    },
  );

  test('returns OutcomeUnknown after UPSTREAM_TIMEOUT_MS', async () => {
    await using impatient = await startWaybill({ UPSTREAM_TIMEOUT_MS: '1500' }, { sandbox });
    sandbox.faults.add({ kind: 'hang', method: 'PATCH' });
    const { data, errors, calls } = await impatient.ask(UpdateOrderDocument, {
      input: { id: 'ca2489', notes: 'Hola' },
    });
    expect({ data, errors }).toEqual({ data: unknown('orders/ca2489'), errors: undefined });
    expect(calls).toEqual(['PATCH /v1/orders/ca2489']);
  });
});

describe('a mutation with several updateOrder fields', () => {
  const shipment = (status: string, orderStatus: string) => ({
    id: 'shipments/ca2046',
    status,
    order: { status: orderStatus },
  });

  test('reads the shipment again after the cancellation of its order', async () => {
    const { data, errors, calls } = await ask(UpdateThenCancelDocument, {
      first: { id: 'ca2497', notes: 'Hola' },
      second: { id: 'orders/ca2497', status: 'CANCELLED' },
    });
    expect({ data, errors }).toEqual({
      data: {
        first: {
          __typename: 'UpdateOrderSuccess',
          order: { id: 'orders/ca2497', status: 'READY', shipment: shipment('GENERATING_LABEL', 'READY') },
        },
        second: {
          __typename: 'UpdateOrderSuccess',
          order: {
            id: 'orders/ca2497',
            status: 'CANCELLED',
            shipment: shipment('CANCELLATION_REQUESTED', 'CANCELLED'),
          },
        },
      },
      errors: undefined,
    });
    // The order of a shipment is found by way of its quote; it is the one that was answered, and not read again.
    expect(calls).toEqual([
      'PATCH /v1/orders/ca2497',
      'GET /v1/shipments/ca2046',
      'GET /v1/quotes/ca2152',
      'PATCH /v1/orders/ca2497',
      'GET /v1/shipments/ca2046',
    ]);
  });

  test('returns Conflict for an update that follows a cancellation', async () => {
    const { data, errors, calls } = await ask(UpdateThenCancelDocument, {
      first: { id: 'ca2488', status: 'CANCELLED' },
      second: { id: 'ca2488', notes: 'Hola' },
    });
    expect({ data, errors }).toEqual({
      data: {
        first: {
          __typename: 'UpdateOrderSuccess',
          order: { id: 'orders/ca2488', status: 'CANCELLED', shipment: null },
        },
        second: {
          __typename: 'Conflict',
          message: 'orders/ca2488 is CANCELLED and can no longer be updated',
        },
      },
      errors: undefined,
    });
    expect(calls).toEqual(['PATCH /v1/orders/ca2488', 'PATCH /v1/orders/ca2488']);
  });

  test('reads lists again after an update with an unknown outcome', async () => {
    sandbox.faults.add({ kind: 'applied-then-cut', path: '/v1/orders/ca2483' });
    const phoneNumber = '+573009998877';
    const theirs = { ...recipient, phoneNumber, location: 'huila-pitalito' };
    await update({ id: 'ca2500', recipient: theirs });
    const { data, errors, calls } = await ask(UpdateBetweenReadsDocument, {
      first: { id: 'ca2500', notes: 'Primera' },
      second: { id: 'ca2483', notes: 'Segunda', recipient: theirs },
      third: { id: 'ca2500', notes: 'Tercera' },
    });
    const result = (...nodes: object[]) => ({
      __typename: 'UpdateOrderSuccess',
      order: { recipient: { orders: { nodes } } },
    });
    expect({ data, errors }).toEqual({
      data: {
        first: result({ id: 'orders/ca2500', status: 'NEW', notes: 'Primera' }),
        second: {
          __typename: 'OutcomeUnknown',
          message: expect.stringContaining('order(id: "orders/ca2483")'),
          idempotencyKey: null,
        },
        third: result(
          { id: 'orders/ca2500', status: 'NEW', notes: 'Tercera' },
          { id: 'orders/ca2483', status: 'CONFIRMED', notes: 'Segunda' },
        ),
      },
      errors: undefined,
    });
    const search = `GET /v1/orders?pageSize=3&search=${phoneNumber}`;
    expect(calls).toEqual([
      'PATCH /v1/orders/ca2500',
      search,
      'PATCH /v1/orders/ca2483',
      'PATCH /v1/orders/ca2500',
      search,
    ]);
  });

  test('reads an order again after an update with an unknown outcome', async () => {
    const befalls = { method: 'PATCH', path: '/v1/orders/ca2476', times: 1 };
    sandbox.faults.add({ kind: 'delay', delayMs: 0, ...befalls });
    sandbox.faults.add({ kind: 'applied-then-cut', ...befalls });
    const { data, errors, calls } = await ask(UpdateTwiceThenQuoteDocument, {
      first: { id: 'ca2476', notes: 'Primera' },
      second: { id: 'ca2476', notes: 'Segunda' },
      quote: {
        order: 'ca2476',
        origin: 'huila-pitalito',
        destination: 'antioquia-medellin-robledo',
        package: {
          declaredValueCents: 3_890_000,
          dimensions: { lengthCm: 30, widthCm: 20, heightCm: 12 },
          weightKg: 2.2,
          contentDescription: 'Café en grano',
        },
      },
    });
    expect({ data, errors }).toEqual({
      data: {
        first: { __typename: 'UpdateOrderSuccess' },
        second: {
          __typename: 'OutcomeUnknown',
          message: expect.stringContaining('order(id: "orders/ca2476")'),
          idempotencyKey: null,
        },
        createQuote: { quote: { order: { notes: 'Segunda' } } },
      },
      errors: undefined,
    });
    expect(calls).toEqual([
      'PATCH /v1/orders/ca2476',
      'PATCH /v1/orders/ca2476',
      'POST /v1/quotes',
      'GET /v1/orders/ca2476',
    ]);
  });
});
