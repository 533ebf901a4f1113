import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  OrderShipmentDocument,
  OrderShipmentIdDocument,
  OrderShipmentIncludedDocument,
  OrderShipmentSkippedDocument,
  RecipientLocationDocument,
  RecipientLocationIdDocument,
  RecipientOrdersDocument,
  RecipientOrdersFromShipmentDocument,
} from '../../documents.generated.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

let waybill: Waybill;
beforeAll(async () => {
  waybill = await startWaybill();
});
afterAll(() => waybill[Symbol.asyncDispose]());

describe('Order.shipment', () => {
  const id = 'ca2481';
  const orderOnly = ['GET /v1/orders/ca2481'];
  const both = ['GET /v1/orders/ca2481', 'GET /v1/shipments/ca2036'];

  test('costs no call if only ids are selected, even in fragments and aliases', async () => {
    const { data, calls } = await waybill.ask(OrderShipmentIdDocument, { id });
    const shipment = { __typename: 'Shipment', id: 'shipments/ca2036' };
    expect(data).toEqual({ order: { shipment, again: { name: 'shipments/ca2036' } } });
    expect(calls).toEqual(orderOnly);
  });

  test('costs one call if several selections have fields other than the id', async () => {
    const { data, calls } = await waybill.ask(OrderShipmentDocument, { id });
    const shipment = { id: 'shipments/ca2036', status: 'OUT_FOR_DELIVERY' };
    expect(data).toEqual({ order: { shipment, again: { requiresPickup: false } } });
    expect(calls).toEqual(both);
  });

  test('costs a call only if @include adds a field other than the id', async () => {
    const name = { id: 'shipments/ca2036' };
    const brief = await waybill.ask(OrderShipmentIncludedDocument, { id, detailed: false });
    expect([brief.data, brief.calls]).toEqual([{ order: { shipment: name } }, orderOnly]);
    const detailed = await waybill.ask(OrderShipmentIncludedDocument, { id, detailed: true });
    const shipment = { ...name, status: 'OUT_FOR_DELIVERY' };
    expect([detailed.data, detailed.calls]).toEqual([{ order: { shipment } }, both]);
  });

  test('costs a call only if @skip keeps a field other than the id', async () => {
    const brief = await waybill.ask(OrderShipmentSkippedDocument, { id });
    expect(brief.data).toEqual({ order: { shipment: { id: 'shipments/ca2036' } } });
    expect(brief.calls).toEqual(orderOnly);
    const whole = await waybill.ask(OrderShipmentSkippedDocument, { id, brief: false });
    expect(whole.data.order?.shipment?.status).toBe('OUT_FOR_DELIVERY');
    expect(whole.calls).toEqual(both);
  });
});

describe('Recipient.location', () => {
  const location = 'locations/antioquia-medellin-laureles';

  test('costs no call for the id', async () => {
    const { data, calls } = await waybill.ask(RecipientLocationIdDocument, { id: 'ca2481' });
    expect(data).toEqual({ order: { recipient: { location: { id: location } } } });
    expect(calls).toEqual(['GET /v1/orders/ca2481']);
  });

  test('costs one filtered list call for fields other than the id', async () => {
    const { data, calls } = await waybill.ask(RecipientLocationDocument, { id: 'ca2481' });
    const place = { regionCode: 'CO', administrativeArea: 'Antioquia', locality: 'Medellín (Laureles)' };
    expect(data).toEqual({ order: { recipient: { location: place } } });
    expect(calls).toEqual(['GET /v1/orders/ca2481', `GET /v1/locations?pageSize=1000&query=${location}`]);
  });

  test('is the location whose id matches exactly, not one with a longer id', async () => {
    const medellin = 'locations/antioquia-medellin';
    const [order, list] = ['/v1/orders/ca2481', '/v1/locations'];
    const moves = waybill.sandbox.faults.add({
      kind: 'change',
      path: order,
      change: (json) => ({ ...(json as object), recipient: { location: medellin } }),
    });
    const reverses = waybill.sandbox.faults.add({
      kind: 'change',
      path: list,
      change: (json) => ({ locations: (json as { locations: unknown[] }).locations.toReversed() }),
    });
    const { data, calls } = await waybill.ask(RecipientLocationDocument, { id: 'ca2481' });
    moves();
    reverses();
    const place = { regionCode: 'CO', administrativeArea: 'Antioquia', locality: 'Medellín' };
    expect(data).toEqual({ order: { recipient: { location: place } } });
    expect(calls).toEqual([`GET ${order}`, `GET ${list}?pageSize=1000&query=${medellin}`]);
  });
});

describe('Recipient.orders', () => {
  test('pages through the orders with the phone number of the recipient', async () => {
    const ask = (after: string | null) =>
      waybill.ask(RecipientOrdersDocument, { id: 'ca2481', first: 2, after });
    const first = await ask(null);
    expect(first.data.order?.recipient.orders?.nodes).toEqual([
      { id: 'orders/ca2496', status: 'NEW' },
      { id: 'orders/ca2481', status: 'IN_PROGRESS' },
    ]);
    expect(first.calls).toEqual(['GET /v1/orders/ca2481', 'GET /v1/orders?pageSize=2&search=+573104567890']);
    const second = await ask(first.data.order?.recipient.orders?.pageInfo.endCursor ?? null);
    expect(second.data.order?.recipient.orders?.nodes).toEqual([
      { id: 'orders/ca2480', status: 'CONFIRMED' },
      { id: 'orders/ca2415', status: 'DELIVERED' },
    ]);
    expect(second.calls).toEqual([
      'GET /v1/orders/ca2481',
      expect.stringMatching(/^GET \/v1\/orders\?pageSize=2&pageToken=[\w-]{32}&search=\+573104567890$/),
    ]);
  });

  test('can be filtered by status', async () => {
    const { data, calls } = await waybill.ask(RecipientOrdersDocument, {
      id: 'ca2481',
      first: 2,
      status: ['CANCELLED', 'RETURN'],
    });
    expect(data.order?.recipient.orders?.nodes).toEqual([
      { id: 'orders/ca2217', status: 'RETURN' },
      { id: 'orders/ca1355', status: 'CANCELLED' },
    ]);
    expect(calls).toEqual([
      'GET /v1/orders/ca2481',
      'GET /v1/orders?pageSize=2&status=CANCELLED,RETURN&search=+573104567890',
    ]);
  });

  test('is available for the recipient of a shipment', async () => {
    const { data, calls } = await waybill.ask(RecipientOrdersFromShipmentDocument, { id: 'ca2036' });
    const node = { id: 'orders/ca2496', status: 'NEW' };
    expect(data).toEqual({ shipment: { recipient: { orders: { nodes: [node] } } } });
    expect(calls).toEqual(['GET /v1/shipments/ca2036', 'GET /v1/orders?pageSize=1&search=+573104567890']);
  });

  test('excludes orders that have the phone number in another field', async () => {
    await using changed = await startWaybill();
    const response = await fetch(`${changed.sandbox.url}/v1/orders`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${changed.sandbox.tokens.first}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        recipient: {
          firstName: 'Inés',
          lastName: 'Ruiz',
          email: 'ines.ruiz@example.com',
          phoneNumber: '+573001112233',
          address: { addressLines: ['Calle 1 # 2-3'] },
          location: 'locations/huila-pitalito',
        },
        referenceId: '+573104567890',
        contentDescription: 'Café',
        notes: 'Sin observaciones',
        sellingPriceCents: 100,
        cashOnDeliveryRequestCents: 0,
      }),
    });
    expect(response.status).toBe(201);
    const { data, calls } = await changed.ask(RecipientOrdersDocument, { id: 'ca2481', first: 2 });
    expect(data.order?.recipient.orders?.nodes).toEqual([
      { id: 'orders/ca2496', status: 'NEW' },
      { id: 'orders/ca2481', status: 'IN_PROGRESS' },
    ]);
    // The page of two held the other order, so that the rest is read in the largest page.
    expect(calls).toEqual([
      'GET /v1/orders/ca2481',
      'GET /v1/orders?pageSize=2&search=+573104567890',
      expect.stringMatching(/^GET \/v1\/orders\?pageSize=1000&pageToken=[\w-]{32}&search=\+573104567890$/),
    ]);
  });
});
