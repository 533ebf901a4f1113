import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  OrderByReferenceDocument,
  OrderOptionalsDocument,
  OrderPayloadDocument,
  OrdersFilteredDocument,
  OrderTwiceDocument,
} from '../../documents.generated.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

let waybill: Waybill;
beforeAll(async () => {
  waybill = await startWaybill();
});
afterAll(() => waybill[Symbol.asyncDispose]());

const payload = {
  __typename: 'Order',
  id: 'orders/ca2481',
  createTime: '2026-11-01T17:48:43.699Z',
  updateTime: '2026-11-02T07:45:43.046Z',
  status: 'IN_PROGRESS',
  recipient: {
    firstName: 'Lucía',
    lastName: 'Ñáñez Peñalosa',
    fullName: 'Lucía Ñáñez Peñalosa',
    documentType: 'CC',
    document: '1017234567',
    email: 'lucia.nanez@example.com',
    phoneNumber: '+573104567890',
    address: {
      regionCode: 'CO',
      administrativeArea: 'Antioquia',
      locality: 'Medellín (Laureles)',
      addressLines: ['Circular 4 # 70-28', 'Apto 502, edificio Los Búcaros'],
      organization: '',
    },
  },
  contentDescription: '3 × Café de Huila, Pitalito, en grano 340 g',
  notes: 'Es para el cumpleaños de Íñigo 🎂: entregar antes del mediodía y timbrar dos veces.',
  sellingPrice: { cents: 11_670_000, currency: 'COP', formatted: '$\u00a0116.700' },
  cashOnDelivery: { cents: 11_670_000, currency: 'COP', formatted: '$\u00a0116.700' },
  customerReliability: 'RELIABLE',
  customerBehavior: {
    totalShipments: 55,
    deliveredShipments: 50,
    returnedShipments: 3,
    reliability: 'RELIABLE',
  },
  referenceId: '5320321908408',
  referenceGid: 'gid://shopify/Order/5320321908408',
  referenceUrl: 'https://cafe-andino.example/admin/orders/5320321908408',
  paymentMethods: ['CASH_ON_DELIVERY'],
  fulfiller: 'OPERATOR',
};

describe('Query.order', () => {
  test.each(['orders/ca2481', 'ca2481'])('returns every field with one call if the id is %s', async (id) => {
    const { data, errors, calls } = await waybill.ask(OrderPayloadDocument, { id });
    expect(errors).toBeUndefined();
    expect(data).toEqual({ order: payload });
    expect(calls).toEqual(['GET /v1/orders/ca2481']);
  });

  test('returns null for missing optional fields', async () => {
    const { data, calls } = await waybill.ask(OrderOptionalsDocument, { id: 'ca2500' });
    const recipient = { documentType: 'CC', document: '51386265' };
    const absent = {
      shipment: null,
      referenceId: null,
      referenceGid: null,
      referenceUrl: null,
      paymentMethods: null,
    };
    expect(data).toEqual({ order: { recipient, ...absent } });
    expect(calls).toEqual(['GET /v1/orders/ca2500']);
  });

  test('returns null fields and decomposed Unicode unchanged', async () => {
    const { data } = await waybill.ask(OrderPayloadDocument, { id: 'ca2455' });
    expect(data.order?.recipient.documentType).toBe(null);
    expect(data.order?.recipient.document).toBe(null);
    expect(data.order?.recipient.fullName).toBe('José Muñoz Ávila'.normalize('NFD'));
    expect(data.order?.notes).toBe('Entregar al mayordomo, él tiene el dinero.'.normalize('NFD'));
  });

  test('costs one call if an order is selected by full id and by bare identifier', async () => {
    const { data, calls } = await waybill.ask(OrderTwiceDocument, { name: 'orders/ca2481', bare: 'ca2481' });
    expect(data).toEqual({ byName: { id: 'orders/ca2481' }, byBareId: { status: 'IN_PROGRESS' } });
    expect(calls).toEqual(['GET /v1/orders/ca2481']);
  });

  test.each(['nosuch', 'st0300'])(
    'returns null without an error if the merchant has no order %s',
    async (id) => {
      const { data, errors, calls } = await waybill.ask(OrderPayloadDocument, { id });
      expect({ data, errors }).toEqual({ data: { order: null }, errors: undefined });
      expect(calls).toEqual([`GET /v1/orders/${id}`]);
    },
  );

  test.each(['shipments/ca2036', 'orders/', 'orders/..', 'a/b', '', '..', 'ca2481\r\n', 'x'.repeat(257)])(
    'rejects the id %j without a call',
    async (id) => {
      const { data, errors, calls } = await waybill.ask(OrderPayloadDocument, { id });
      expect(data).toEqual({ order: null });
      expect(errors).toMatchObject([{ path: ['order'], extensions: { code: 'BAD_USER_INPUT' } }]);
      expect(calls).toEqual([]);
    },
  );
});

describe('Query.orderByReference', () => {
  test('returns the order with exactly the given referenceId', async () => {
    const { data, calls } = await waybill.ask(OrderByReferenceDocument, { referenceId: '5320321908408' });
    expect(data).toEqual({ orderByReference: { id: 'orders/ca2481', referenceId: '5320321908408' } });
    expect(calls).toEqual(['GET /v1/orders?pageSize=100&search=5320321908408']);
  });

  test.each([
    ['a part of a referenceId', '532032190840'],
    ['the phone number of an order', '+573104567890'],
    ['the name of a recipient', 'Lucía Ñáñez'],
    ['the referenceId of another merchant', 'ST-M300'],
  ])('returns null for %s', async (_what, referenceId) => {
    const { data, errors, calls } = await waybill.ask(OrderByReferenceDocument, { referenceId });
    expect({ data, errors }).toEqual({ data: { orderByReference: null }, errors: undefined });
    expect(calls).toEqual([`GET /v1/orders?pageSize=100&search=${referenceId}`]);
  });

  test('rejects an empty referenceId without a call', async () => {
    const { data, errors, calls } = await waybill.ask(OrderByReferenceDocument, { referenceId: '' });
    expect(data).toEqual({ orderByReference: null });
    expect(errors).toMatchObject([{ path: ['orderByReference'], extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(calls).toEqual([]);
  });
});

describe('Query.orders', () => {
  const order = (id: string, status: string, fullName: string) => ({
    id: `orders/${id}`,
    status,
    recipient: { fullName },
  });

  test('returns the newest orders first', async () => {
    const { data, calls } = await waybill.ask(OrdersFilteredDocument, { first: 2 });
    expect(data.orders.nodes).toEqual([
      order('ca2500', 'NEW', 'Héctor Betancur Ruiz'),
      order('ca2499', 'READY', 'Ángela Chacón Pérez'),
    ]);
    expect(calls).toEqual(['GET /v1/orders?pageSize=2']);
  });

  test('sends the statuses of a filter sorted and without duplicates', async () => {
    const { data, calls } = await waybill.ask(OrdersFilteredDocument, {
      first: 3,
      status: ['READY', 'CANCELLED', 'READY'],
    });
    expect(data.orders.nodes.map((node) => [node?.id, node?.status])).toEqual([
      ['orders/ca2499', 'READY'],
      ['orders/ca2497', 'READY'],
      ['orders/ca2495', 'READY'],
    ]);
    expect(calls).toEqual(['GET /v1/orders?pageSize=3&status=CANCELLED,READY']);
  });

  test.each([[[]], [null]])('returns orders of all statuses for the status filter %j', async (status) => {
    const { data, calls } = await waybill.ask(OrdersFilteredDocument, { first: 1, status });
    expect(data.orders.nodes).toEqual([order('ca2500', 'NEW', 'Héctor Betancur Ruiz')]);
    expect(calls).toEqual(['GET /v1/orders?pageSize=1']);
  });

  test('combines a search with a status filter', async () => {
    const { data, calls } = await waybill.ask(OrdersFilteredDocument, {
      first: 2,
      status: ['DELIVERED'],
      search: 'Lucia Nanez',
    });
    expect(data.orders.nodes).toEqual([
      order('ca2415', 'DELIVERED', 'Lucía Ñáñez Peñalosa'),
      order('ca2410', 'DELIVERED', 'Lucía Ñáñez Peñalosa'),
    ]);
    expect(calls).toEqual(['GET /v1/orders?pageSize=2&status=DELIVERED&search=Lucia Nanez']);
  });

  test('sends no search parameter for an empty search', async () => {
    const { data, calls } = await waybill.ask(OrdersFilteredDocument, { first: 1, search: '' });
    expect(data.orders.nodes).toEqual([order('ca2500', 'NEW', 'Héctor Betancur Ruiz')]);
    expect(calls).toEqual(['GET /v1/orders?pageSize=1']);
  });
});
