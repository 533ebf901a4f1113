import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  MessageEnumsDocument,
  OrderEnumsDocument,
  OrdersOfEachStatusDocument,
  OrdersOfStatusDocument,
  ShipmentEnumDocument,
} from '../../documents.generated.ts';
import { shipmentStatuses } from '../../fixtures/shipment-statuses.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

let waybill: Waybill;
beforeAll(async () => {
  waybill = await startWaybill();
});
afterAll(() => waybill[Symbol.asyncDispose]());

/** REST answers `path` as `change` makes it, until the returned function is called. */
function change<Json>(path: string, change: (json: Json) => unknown): () => void {
  return waybill.sandbox.faults.add({ kind: 'change', path, change: (json) => change(json as Json) });
}

interface Order {
  recipient: object;
  customerBehavior: object;
}

const messages = '/v1/channels/ca1/conversations/ca60/messages';
const conversation = 'channels/ca1/conversations/ca60';

describe('a known enum value', () => {
  test.each(['NEW', 'CONFIRMED', 'READY', 'IN_PROGRESS', 'CANCELLED', 'DELIVERED', 'RETURN'])(
    'of OrderStatus is unchanged: %s',
    async (status) => {
      const restore = change<Order>('/v1/orders/ca2481', (order) => ({ ...order, status }));
      const { data } = await waybill.ask(OrderEnumsDocument, { id: 'ca2481' });
      restore();
      expect(data.order?.status).toBe(status);
    },
  );

  test.each(['RELIABLE', 'MODERATE', 'UNRELIABLE', 'NO_ORDERS'])(
    'of CustomerReliability is unchanged: %s',
    async (value) => {
      const restore = change<Order>('/v1/orders/ca2481', (order) => ({
        ...order,
        customerReliability: value,
        customerBehavior: { ...order.customerBehavior, reliability: value },
      }));
      const { data } = await waybill.ask(OrderEnumsDocument, { id: 'ca2481' });
      restore();
      expect(data.order?.customerReliability).toBe(value);
      expect(data.order?.customerBehavior.reliability).toBe(value);
    },
  );

  test.each(['CC', 'CE', 'NI', 'TI', null])('of DocumentType is unchanged: %s', async (documentType) => {
    const restore = change<Order>('/v1/orders/ca2481', (order) => ({
      ...order,
      recipient: { ...order.recipient, documentType },
    }));
    const { data, errors } = await waybill.ask(OrderEnumsDocument, { id: 'ca2481' });
    restore();
    expect(errors).toBeUndefined();
    expect(data.order?.recipient.documentType).toBe(documentType);
  });

  test.each(shipmentStatuses)('of ShipmentStatus is unchanged: %s', async (status) => {
    const restore = change<object>('/v1/shipments/ca2036', (shipment) => ({ ...shipment, status }));
    const { data } = await waybill.ask(ShipmentEnumDocument, { id: 'ca2036' });
    restore();
    expect(data).toEqual({ shipment: { status } });
  });

  test.each(['SENDING', 'SENT', 'DELIVERED', 'READ', 'FAILED'])(
    'of MessageStatus is unchanged: %s',
    async (status) => {
      const restore = change<{ messages: object[] }>(messages, (page) => ({
        ...page,
        messages: page.messages.map((message) => ({ ...message, status })),
      }));
      const { data } = await waybill.ask(MessageEnumsDocument, { id: conversation, first: 2 });
      restore();
      expect(data.conversation?.messages?.nodes).toEqual([
        { status, contentType: 'TEXT' },
        { status, contentType: 'TEMPLATE' },
      ]);
    },
  );
});

describe('an unknown enum value', () => {
  const unknown = ['LOST', '', 'new', '__proto__', 'toString', 'UNRECOGNIZED'];

  test.each(unknown)('of an order becomes UNRECOGNIZED without an error: %j', async (value) => {
    const restore = change<Order>('/v1/orders/ca2481', (order) => ({
      ...order,
      status: value,
      customerReliability: value,
      customerBehavior: { ...order.customerBehavior, reliability: value },
      recipient: { ...order.recipient, documentType: value },
    }));
    const { data, errors, calls } = await waybill.ask(OrderEnumsDocument, { id: 'ca2481' });
    restore();
    expect(errors).toBeUndefined();
    expect(data).toEqual({
      order: {
        status: 'UNRECOGNIZED',
        customerReliability: 'UNRECOGNIZED',
        customerBehavior: { reliability: 'UNRECOGNIZED' },
        recipient: { documentType: 'UNRECOGNIZED' },
      },
    });
    expect(calls).toEqual(['GET /v1/orders/ca2481']);
  });

  test.each(unknown)('of a shipment becomes UNRECOGNIZED without an error: %j', async (status) => {
    const restore = change<object>('/v1/shipments/ca2036', (shipment) => ({ ...shipment, status }));
    const { data, errors } = await waybill.ask(ShipmentEnumDocument, { id: 'ca2036' });
    restore();
    expect(errors).toBeUndefined();
    expect(data).toEqual({ shipment: { status: 'UNRECOGNIZED' } });
  });

  test.each(unknown)('of a message becomes UNRECOGNIZED without an error: %j', async (value) => {
    const restore = change<{ messages: object[] }>(messages, (page) => ({
      ...page,
      messages: page.messages.map((message) => ({ ...message, status: value, contentType: value })),
    }));
    const { data, errors } = await waybill.ask(MessageEnumsDocument, { id: conversation, first: 1 });
    restore();
    expect(errors).toBeUndefined();
    expect(data.conversation?.messages?.nodes).toEqual([
      { status: 'UNRECOGNIZED', contentType: 'UNRECOGNIZED' },
    ]);
  });
});

describe('the status filter', () => {
  test('accepts each known status', async () => {
    const { data, calls } = await waybill.ask(OrdersOfEachStatusDocument);
    const one = (status: string) => ({ nodes: [{ status }] });
    expect(data).toEqual({
      NEW: one('NEW'),
      CONFIRMED: one('CONFIRMED'),
      READY: one('READY'),
      IN_PROGRESS: one('IN_PROGRESS'),
      CANCELLED: one('CANCELLED'),
      DELIVERED: one('DELIVERED'),
      RETURN: one('RETURN'),
    });
    expect(calls.sort()).toEqual([
      'GET /v1/orders?pageSize=1&status=CANCELLED',
      'GET /v1/orders?pageSize=1&status=CONFIRMED',
      'GET /v1/orders?pageSize=1&status=DELIVERED',
      'GET /v1/orders?pageSize=1&status=IN_PROGRESS',
      'GET /v1/orders?pageSize=1&status=NEW',
      'GET /v1/orders?pageSize=1&status=READY',
      'GET /v1/orders?pageSize=1&status=RETURN',
    ]);
  });

  test.each([[['UNRECOGNIZED']], [['NEW', 'UNRECOGNIZED']]] as const)(
    'rejects %j without a call',
    async (status) => {
      const { errors, calls } = await waybill.ask(OrdersOfStatusDocument, { status: [...status] });
      expect(errors).toMatchObject([
        {
          message: '"status" must not contain UNRECOGNIZED, which is for output only.',
          path: ['orders'],
          extensions: { code: 'BAD_USER_INPUT', retryable: false },
        },
      ]);
      expect(calls).toEqual([]);
    },
  );

  test.each(['status: LOST', 'status: ["NEW"]', 'status: [null]'])(
    'rejects the argument `%s` without a call',
    async (filter) => {
      const { status, errors, calls } = await waybill.ask(`{ orders(${filter}) { nodes { id } } }`);
      expect([status, errors?.length, calls]).toEqual([200, 1, []]);
      expect(errors?.[0]?.extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
    },
  );

  test.each(['LOST', 'UNKNOWN', 5, null])('rejects %j in a variable without a call', async (value) => {
    const query = 'query ($status: [OrderStatus!]) { orders(status: $status) { nodes { id } } }';
    const { status, data, errors, calls } = await waybill.ask(query, { status: ['NEW', value] });
    expect([status, data, errors?.length, calls]).toEqual([400, undefined, 1, []]);
    expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
  });
});
