import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  OrdersBackFromShipmentsDocument,
  ShipmentOrderDocument,
  ShipmentOrderIdDocument,
  ShipmentOriginLocationDocument,
  ShipmentOriginsDocument,
  ShipmentPayloadDocument,
  ShipmentQuoteDocument,
  ShipmentStatusesDocument,
  ShipmentsAheadDocument,
  ShipmentWithoutLabelDocument,
} from '../../documents.generated.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

let waybill: Waybill;
beforeAll(async () => {
  waybill = await startWaybill();
});
afterAll(() => waybill[Symbol.asyncDispose]());

const money = (cents: number, formatted: string) => ({ cents, currency: 'COP', formatted });

describe('Query.shipment', () => {
  const payload = {
    __typename: 'Shipment',
    id: 'shipments/ca2036',
    createTime: '2026-11-01T19:41:43.699Z',
    updateTime: '2026-11-02T07:45:43.046Z',
    status: 'OUT_FOR_DELIVERY',
    recipient: {
      fullName: 'Lucía Ñáñez Peñalosa',
      documentType: 'CC',
      document: '1017234567',
      email: 'lucia.nanez@example.com',
      phoneNumber: '+573104567890',
      address: {
        locality: 'Medellín (Laureles)',
        addressLines: ['Circular 4 # 70-28', 'Apto 502, edificio Los Búcaros'],
      },
      location: null,
    },
    requiresPickup: false,
    shipmentCost: money(1_705_000, '$\u00a017.050'),
    cashOnDeliveryCost: money(350_000, '$\u00a03.500'),
    totalCost: money(2_055_000, '$\u00a020.550'),
    courier: { id: 'couriers/condor-veloz', code: 'condor-veloz' },
    quote: { id: 'quotes/ca2139' },
    origin: { id: 'origins/ca1' },
  };

  test.each(['shipments/ca2036', 'ca2036'])(
    'returns all fields with one call if the id is %s',
    async (id) => {
      const { data, errors, calls } = await waybill.ask(ShipmentPayloadDocument, { id });
      expect(errors).toBeUndefined();
      const label = {
        id: 'labels/ca2036',
        // The sandbox signs with a secret of its own; the time is 120 hours from now.
        url: expect.stringMatching(
          /^http:\/\/127[^?]+\/ca2036\.pdf\?expires=1794060000&signature=[\w-]{22}$/,
        ),
        pdfUrl: 'http://waybill.test/labels/ca2036.pdf',
      };
      expect(data).toEqual({ shipment: { ...payload, label } });
      expect(calls).toEqual(['GET /v1/shipments/ca2036']);
    },
  );

  test('returns no label until the REST service creates the label', async () => {
    const { data, calls } = await waybill.ask(ShipmentWithoutLabelDocument, { id: 'ca2047' });
    expect(data).toEqual({ shipment: { status: 'GENERATING_LABEL', label: null } });
    expect(calls).toEqual(['GET /v1/shipments/ca2047']);
  });

  test.each(['nosuch', 'st0200'])(
    'returns null without an error if the merchant has no shipment %s',
    async (id) => {
      const { data, errors, calls } = await waybill.ask(ShipmentWithoutLabelDocument, { id });
      expect({ data, errors }).toEqual({ data: { shipment: null }, errors: undefined });
      expect(calls).toEqual([`GET /v1/shipments/${id}`]);
    },
  );

  test.each(['orders/ca2481', '..', 'shipments/ca2036/label'])(
    'fails without a call if the id is %j',
    async (id) => {
      const { data, errors, calls } = await waybill.ask(ShipmentWithoutLabelDocument, { id });
      expect(data).toEqual({ shipment: null });
      expect(errors).toMatchObject([{ path: ['shipment'], extensions: { code: 'BAD_USER_INPUT' } }]);
      expect(calls).toEqual([]);
    },
  );
});

test('shipments are listed newest first', async () => {
  const { data, calls } = await waybill.ask(ShipmentStatusesDocument, { first: 3 });
  expect(data.shipments.nodes).toEqual([
    { id: 'shipments/ca2047', status: 'GENERATING_LABEL' },
    { id: 'shipments/ca2046', status: 'GENERATING_LABEL' },
    { id: 'shipments/ca2045', status: 'LABEL_GENERATED' },
  ]);
  expect(calls).toEqual(['GET /v1/shipments?pageSize=3']);
});

describe("a shipment's order", () => {
  test('costs one more call to read the quote if only the id is selected', async () => {
    const { data, calls } = await waybill.ask(ShipmentOrderIdDocument, { id: 'ca2036' });
    expect(data).toEqual({ shipment: { order: { id: 'orders/ca2481' } } });
    expect(calls).toEqual(['GET /v1/shipments/ca2036', 'GET /v1/quotes/ca2139']);
  });

  test('costs two more calls if fields other than the id are selected', async () => {
    const { data, calls } = await waybill.ask(ShipmentOrderDocument, { id: 'ca2036' });
    const notes = 'Es para el cumpleaños de Íñigo 🎂: entregar antes del mediodía y timbrar dos veces.';
    expect(data).toEqual({ shipment: { order: { status: 'IN_PROGRESS', notes } } });
    expect(calls).toEqual(['GET /v1/shipments/ca2036', 'GET /v1/quotes/ca2139', 'GET /v1/orders/ca2481']);
  });

  test('costs no call for the order if a page of orders contains the order', async () => {
    const { data, calls } = await waybill.ask(OrdersBackFromShipmentsDocument);
    expect(data.orders.nodes).toEqual([
      { id: 'orders/ca2500', shipment: null },
      { id: 'orders/ca2499', shipment: { order: { status: 'READY' } } },
      { id: 'orders/ca2498', shipment: null },
    ]);
    expect(calls).toEqual(['GET /v1/orders?pageSize=3', 'GET /v1/shipments/ca2047', 'GET /v1/quotes/ca2153']);
  });

  test('shows its shipment without a call if a page of shipments contains the shipment', async () => {
    const { data, calls } = await waybill.ask(ShipmentsAheadDocument);
    expect(data.shipments.nodes).toEqual([
      { order: { id: 'orders/ca2499', shipment: { status: 'GENERATING_LABEL' } } },
      { order: { id: 'orders/ca2497', shipment: { status: 'GENERATING_LABEL' } } },
      { order: { id: 'orders/ca2495', shipment: { status: 'LABEL_GENERATED' } } },
    ]);
    expect(calls[0]).toBe('GET /v1/shipments?pageSize=3');
    expect(calls.slice(1).sort()).toEqual([
      'GET /v1/orders/ca2495',
      'GET /v1/orders/ca2497',
      'GET /v1/orders/ca2499',
      'GET /v1/quotes/ca2150',
      'GET /v1/quotes/ca2152',
      'GET /v1/quotes/ca2153',
    ]);
  });
});

test("a shipment's quote id and order id share one call", async () => {
  const { data, calls } = await waybill.ask(ShipmentQuoteDocument, { id: 'ca2036' });
  const quote = {
    id: 'quotes/ca2139',
    createTime: '2026-11-01T18:48:43.699Z',
    order: { id: 'orders/ca2481' },
  };
  expect(data).toEqual({ shipment: { quote, order: { id: 'orders/ca2481' } } });
  expect(calls).toEqual(['GET /v1/shipments/ca2036', 'GET /v1/quotes/ca2139']);
});

describe("a shipment's origin", () => {
  test('costs one call for all shipments of a page', async () => {
    const { data, calls } = await waybill.ask(ShipmentOriginsDocument, { first: 3 });
    const bogota = { id: 'origins/ca1', address: { addressLines: ['Calle 13 # 60-42', 'Bodega 7'] } };
    const medellin = { id: 'origins/ca2', address: { addressLines: ['Carrera 52 # 6 Sur-15', 'Bodega 3'] } };
    expect(data.shipments.nodes).toEqual([{ origin: bogota }, { origin: medellin }, { origin: bogota }]);
    expect(calls).toEqual(['GET /v1/shipments?pageSize=3', 'GET /v1/origins?pageSize=1000']);
  });

  test('costs one more call for its location', async () => {
    const { data, calls } = await waybill.ask(ShipmentOriginLocationDocument, { id: 'ca2036' });
    expect(data).toEqual({
      shipment: { origin: { location: { locality: 'Bogotá D.C. (Puente Aranda)' } } },
    });
    expect(calls).toEqual([
      'GET /v1/shipments/ca2036',
      'GET /v1/origins?pageSize=1000',
      'GET /v1/locations?pageSize=1000&query=locations/bogota-dc-puente-aranda',
    ]);
  });
});
