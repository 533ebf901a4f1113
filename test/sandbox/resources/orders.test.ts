import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Client, faultsOf, newOrder, newQuote, openSandbox } from '../client.ts';

let client: Client;
beforeAll(async () => {
  client = await openSandbox();
});
afterAll(() => client.close());

async function createOrder(changes: object = {}) {
  const { status, body } = await client.post('/v1/orders', { ...newOrder, ...changes });
  expect(status).toBe(201);
  return body;
}

describe('POST /v1/orders', () => {
  test('returns the created order with the address of the location', async () => {
    const { status, body } = await client.post('/v1/orders', newOrder);
    expect(status).toBe(201);
    expect(body).toEqual({
      ...newOrder,
      name: expect.stringMatching(/^orders\/ca\d{4}$/),
      createTime: '2026-11-02T14:00:00.000Z',
      updateTime: '2026-11-02T14:00:00.000Z',
      status: 'NEW',
      fulfiller: 'OPERATOR',
      recipient: {
        ...newOrder.recipient,
        documentType: null,
        document: null,
        address: {
          regionCode: 'CO',
          administrativeArea: 'Antioquia',
          locality: 'Medellín',
          addressLines: ['Calle 10 # 43-20', 'Apartamento 501'],
          organization: '',
        },
      },
      customerReliability: 'NO_ORDERS',
      customerBehavior: {
        totalShipments: 0,
        deliveredShipments: 0,
        returnedShipments: 0,
        reliability: 'NO_ORDERS',
      },
    });
    expect((await client.get(`/v1/${body.name}`)).body).toEqual(body);
    expect((await client.get('/v1/orders?pageSize=1')).body.orders).toEqual([body]);
  });

  test('stores every optional field', async () => {
    const optional = {
      status: 'CONFIRMED',
      paymentMethods: ['CARD', 'CASH'],
      referenceId: 'shop-77',
      referenceUrl: 'https://shop.example.com/orders/77',
      fulfiller: 'PARTNER',
    };
    const recipient = {
      ...newOrder.recipient,
      documentType: 'CE',
      document: '1.234',
      address: { addressLines: ['Carrera 7'], organization: 'Torre B' },
    };
    const order = await createOrder({ ...optional, recipient });
    expect(order).toMatchObject({ ...optional, recipient });
  });

  test('stores text and amounts unchanged', async () => {
    const notes = 'Regalo 🎁👩🏽‍🌾 — שלום مرحبا; NFC \u00e9, NFD e\u0301, \u0000 and \ud800';
    const order = await createOrder({
      notes,
      contentDescription: '🎁🎁🎁',
      sellingPriceCents: Number.MAX_SAFE_INTEGER,
      cashOnDeliveryRequestCents: 2 ** 31,
    });
    expect((await client.get(`/v1/${order.name}`)).body).toMatchObject({
      notes,
      contentDescription: '🎁🎁🎁',
      sellingPriceCents: 9007199254740991,
      cashOnDeliveryRequestCents: 2147483648,
    });
  });

  test('counts earlier shipments to the phone number of the recipient', async () => {
    const { body } = await client.get('/v1/orders?pageSize=1000&status=DELIVERED');
    const earlier = body.orders.find((order: { shipment?: string }) => order.shipment);
    const order = await createOrder({
      recipient: { ...newOrder.recipient, phoneNumber: earlier.recipient.phoneNumber },
    });
    expect(order.customerBehavior.deliveredShipments).toBeGreaterThan(0);
    expect(order.customerReliability).toBe(order.customerBehavior.reliability);
    expect(order.customerReliability).not.toBe('NO_ORDERS');
  });

  test.each([
    [{ status: 'READY' }, ['status must be one of NEW, CONFIRMED']],
    [{ contentDescription: 'ab' }, ['contentDescription must have at least 3 characters']],
    [{ contentDescription: 'a'.repeat(129) }, ['contentDescription must have at most 128 characters']],
    [{ notes: '' }, ['notes must have at least 3 characters']],
    [{ notes: 'a'.repeat(2049) }, ['notes must have at most 2048 characters']],
    [{ cashOnDeliveryRequestCents: -1 }, ['cashOnDeliveryRequestCents must be at least 0']],
    [{ cashOnDeliveryRequestCents: 0.5 }, ['cashOnDeliveryRequestCents must be a whole number']],
    [{ cashOnDeliveryRequestCents: '5' }, ['cashOnDeliveryRequestCents must be a whole number']],
    [{ sellingPriceCents: 2 ** 53 }, ['sellingPriceCents must be at most 9007199254740991']],
    [{ fulfiller: 'SOMEONE' }, ['fulfiller must be one of OPERATOR, PARTNER']],
    [{ referenceGid: 'gid' }, ['referenceGid is not a known field']],
    [{ notes: undefined }, ['notes is required']],
    [{ notes: null, referenceId: null }, ['notes must be a text', 'referenceId must be a text']],
    [
      { recipient: { ...newOrder.recipient, location: 'locations/atlantis' } },
      ['recipient.location refers to an unknown location: locations/atlantis'],
    ],
    [
      { recipient: { ...newOrder.recipient, address: { addressLines: [1], locality: 'Bogotá' } } },
      ['recipient.address.locality is not a known field', 'recipient.address.addressLines.0 must be a text'],
    ],
    [
      { recipient: { ...newOrder.recipient, documentType: 'XX' } },
      ['recipient.documentType must be one of CC, CE, NI, TI, null'],
    ],
  ])('rejects %j', async (changes, faults) => {
    const reply = await client.post('/v1/orders', { ...newOrder, ...changes });
    expect(reply.status).toBe(400);
    expect(reply.body.error).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' });
    expect(faultsOf(reply)).toEqual(faults);
  });

  test('reports all invalid fields in one error', async () => {
    const address = { addressLines: [], organization: 7 };
    const reply = await client.post('/v1/orders', {
      recipient: { firstName: 'a', email: 'b', phoneNumber: 'c', location: 'orders/ca0001', address },
      contentDescription: 'abc',
      sellingPriceCents: 1.5,
      referenceUrl: 'd',
    });
    expect(faultsOf(reply)).toEqual([
      'notes is required',
      'cashOnDeliveryRequestCents is required',
      'recipient.lastName is required',
      'recipient.email must be an e-mail address',
      'recipient.phoneNumber must be a phone number',
      'recipient.address.addressLines must have at least 1 item',
      'recipient.address.organization must be a text or null',
      'recipient.location must be a name such as locations/ca0001',
      'sellingPriceCents must be a whole number',
      'referenceUrl must be an absolute URL',
    ]);
    expect(reply.body.error.message).toBe(`The request is invalid: ${faultsOf(reply).join('; ')}`);
  });

  test('accepts texts of the minimum and maximum length', async () => {
    await createOrder({ contentDescription: 'abc', notes: 'abc' });
    await createOrder({ contentDescription: 'a'.repeat(128), notes: 'ñ'.repeat(2048) });
  });

  test.each(['null', '[]', '"x"', '1'])('rejects the body %s', async (body) => {
    const reply = await client.post('/v1/orders', body);
    expect(reply.status).toBe(400);
    expect(faultsOf(reply)).toEqual([' the body must be an object']);
    expect(reply.body.error.message).toBe('The request is invalid: the body must be an object');
  });

  test('rejects a field named __proto__', async () => {
    const body = JSON.stringify(newOrder).replace('{', '{"__proto__":{"notes":"x"},');
    expect(faultsOf(await client.post('/v1/orders', body))).toEqual(['__proto__ is not a known field']);
  });
});

describe('PATCH /v1/orders/{id}', () => {
  test('sets only the fields in updateMask', async () => {
    const order = await createOrder();
    client.sandbox.clock.advance(1000);
    const { status, body } = await client.patch(`/v1/${order.name}`, {
      order: { status: 'READY', notes: 'Nuevas notas', sellingPriceCents: 1, fulfiller: 'PARTNER' },
      updateMask: ['status', 'sellingPriceCents'],
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      ...order,
      status: 'READY',
      sellingPriceCents: 1,
      updateTime: new Date(Date.parse(order.updateTime) + 1000).toISOString(),
    });
    expect((await client.get(`/v1/${order.name}`)).body).toEqual(body);
  });

  test('replaces the whole recipient', async () => {
    const order = await createOrder({
      recipient: { ...newOrder.recipient, documentType: 'CC', document: '1' },
    });
    const recipient = { ...newOrder.recipient, firstName: 'Nadia', location: 'locations/huila-pitalito' };
    const { body } = await client.patch(`/v1/${order.name}`, {
      order: { recipient },
      updateMask: ['recipient'],
    });
    expect(body.recipient).toMatchObject({
      firstName: 'Nadia',
      documentType: null,
      document: null,
      address: { administrativeArea: 'Huila', locality: 'Pitalito' },
    });
    const { body: found } = await client.get('/v1/orders?search=nadia%20quinonez');
    expect(found.orders.map(({ name }: { name: string }) => name)).toEqual([order.name]);
  });

  test('sets all fields in updateMask', async () => {
    const order = await createOrder();
    const changes = {
      status: 'CONFIRMED',
      cashOnDeliveryRequestCents: 7,
      paymentMethods: [],
      contentDescription: 'Otra cosa',
      notes: 'Otras notas',
      fulfiller: 'PARTNER',
    };
    const { body } = await client.patch(`/v1/${order.name}`, {
      order: changes,
      updateMask: Object.keys(changes),
    });
    expect(body).toMatchObject(changes);
  });

  test.each([
    [{ order: {} }, ['updateMask is required']],
    [{ updateMask: ['notes'] }, ['order is required']],
    [{ order: {}, updateMask: [] }, ['updateMask must have at least 1 item']],
    [{ order: {}, updateMask: ['notes'] }, ['order.notes is required, because updateMask names it']],
    [
      { order: { notes: 'abc' }, updateMask: ['notes', 'referenceId'] },
      [
        'updateMask.1 must be one of status, recipient, sellingPriceCents, cashOnDeliveryRequestCents, paymentMethods, contentDescription, notes, fulfiller',
      ],
    ],
    [{ order: { referenceId: 'x' }, updateMask: ['notes'] }, ['order.referenceId is not a known field']],
    [
      { order: { status: 'DELIVERED' }, updateMask: ['status'] },
      ['order.status must be one of NEW, CONFIRMED, READY, CANCELLED'],
    ],
    [
      { order: { recipient: { firstName: 'Ana' } }, updateMask: ['recipient'] },
      ['lastName', 'email', 'phoneNumber', 'address', 'location'].map(
        (name) => `order.recipient.${name} is required`,
      ),
    ],
    [{ order: { notes: null }, updateMask: ['notes'] }, ['order.notes must be a text']],
  ])('rejects %j', async (body, faults) => {
    const reply = await client.patch('/v1/orders/ca2500', body);
    expect(reply.status).toBe(400);
    expect(faultsOf(reply)).toEqual(faults);
  });

  test.each(['IN_PROGRESS', 'DELIVERED', 'RETURN', 'CANCELLED'])(
    'rejects an order in status %s with 409',
    async (status) => {
      const { body } = await client.get(`/v1/orders?pageSize=1&status=${status}`);
      const [order] = body.orders;
      const reply = await client.patch(`/v1/${order.name}`, {
        order: { notes: 'abc' },
        updateMask: ['notes'],
      });
      expect(reply.status).toBe(409);
      expect(reply.body).toEqual({
        error: {
          code: 409,
          status: 'FAILED_PRECONDITION',
          message: `${order.name} is ${status} and can no longer be updated`,
          details: [],
        },
      });
    },
  );

  test('cancels the shipment of a cancelled order', async () => {
    const order = await createOrder();
    const quote = await client.post('/v1/quotes', { ...newQuote, order: order.name });
    const { body: shipment } = await client.post('/v1/shipments', {
      quote: quote.body.name,
      courier: 'couriers/rutandina',
      origin: 'origins/ca4',
      recipient: { ...newOrder.recipient, location: undefined },
      requiresPickup: true,
    });
    const confirm = { order: { status: 'CONFIRMED' }, updateMask: ['status'] };
    expect((await client.patch(`/v1/${order.name}`, confirm)).status).toBe(409);
    const cancel = { order: { status: 'CANCELLED' }, updateMask: ['status'] };
    expect((await client.patch(`/v1/${order.name}`, cancel)).body.status).toBe('CANCELLED');
    expect((await client.get(`/v1/${shipment.name}`)).body.status).toBe('CANCELLATION_REQUESTED');
    client.sandbox.clock.advance(3_600_000);
    expect((await client.get(`/v1/${shipment.name}`)).body.status).toBe('CANCELLED');
    expect((await client.get(`/v1/${order.name}`)).body.status).toBe('CANCELLED');
  });
});
