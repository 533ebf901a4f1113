import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Client, faultsOf, newOrder, newQuote, now, openSandbox } from '../client.ts';

let client: Client;
beforeAll(async () => {
  client = await openSandbox();
});
afterAll(() => client.close());

const hourMs = 3_600_000;
const { location: _, ...shipmentRecipient } = newOrder.recipient;

const offers = [
  offer('rutandina', 1_150_000, 880_000, 3),
  offer('condor-veloz', 1_770_000, 1_710_000, 1),
  offer('chasqui-carga', 1_735_000, 1_530_000, 4),
  {
    courier: 'couriers/tierra-firme',
    status: 'CASH_ON_DELIVERY_NOT_AVAILABLE',
    shipmentCostCents: 0,
    returnShipmentCostCents: 0,
    estimatedDeliveryOperatingDays: 0,
  },
  offer('tres-cordilleras', 940_000, 620_000, 3),
];

function offer(courier: string, cost: number, returnCost: number, days: number) {
  return {
    courier: `couriers/${courier}`,
    status: 'SUCCESS',
    shipmentCostCents: cost,
    returnShipmentCostCents: returnCost,
    estimatedDeliveryOperatingDays: days,
  };
}

async function quoteFor(changes: object = {}) {
  const { status, body } = await client.post('/v1/quotes', { ...newQuote, ...changes });
  expect(status).toBe(201);
  return body;
}

async function ship(quote: string, changes: object = {}) {
  return client.post('/v1/shipments', {
    quote,
    courier: 'couriers/rutandina',
    origin: 'origins/ca4',
    recipient: shipmentRecipient,
    requiresPickup: true,
    ...changes,
  });
}

describe('quotes', () => {
  test('contain the fields of the request and the offers', async () => {
    const quote = await quoteFor({ order: 'orders/ca2500', cashOnDeliveryRequestCents: 8_000_000 });
    expect(quote).toEqual({
      ...newQuote,
      name: 'quotes/ca2154',
      createTime: now.toISOString(),
      updateTime: now.toISOString(),
      cashOnDeliveryRequestCents: 8_000_000,
      order: 'orders/ca2500',
      offers,
    });
    expect((await client.get('/v1/quotes/ca2154')).body).toEqual(quote);
  });

  test('have the same offers for the same input', async () => {
    expect((await quoteFor()).offers).toEqual((await quoteFor()).offers);
    expect((await quoteFor()).cashOnDeliveryRequestCents).toBe(0);
  });

  test.each([
    [{ origin: undefined, destination: undefined }, ['origin is required', 'destination is required']],
    [
      { origin: 'locations/x', destination: 'locations/y', order: 'orders/z' },
      [
        'origin refers to an unknown location: locations/x',
        'destination refers to an unknown location: locations/y',
        'order refers to an unknown order: orders/z',
      ],
    ],
    [
      { origin: 'huila-pitalito', order: 'orders/..' },
      ['origin must be a name such as locations/ca0001', 'order must be a name such as orders/ca0001'],
    ],
    [{ origin: `locations/${'a'.repeat(87)}` }, ['origin must have at most 96 characters']],
    [{ package: { ...newQuote.package, weightKg: 0 } }, ['package.weightKg must be more than 0']],
    [
      { package: { weightKg: 1, dimensions: { lengthCm: -1, widthCm: 1 } } },
      [
        'package.declaredValueCents is required',
        'package.contentDescription is required',
        'package.dimensions.heightCm is required',
        'package.dimensions.lengthCm must be more than 0',
      ],
    ],
    [{ cashOnDeliveryRequestCents: -1 }, ['cashOnDeliveryRequestCents must be at least 0']],
    [{ offers: [] }, ['offers is not a known field']],
  ])('are rejected for %j', async (changes, faults) => {
    const reply = await client.post('/v1/quotes', { ...newQuote, ...changes });
    expect(reply.status).toBe(400);
    expect(faultsOf(reply)).toEqual(faults);
  });
});

describe('shipments', () => {
  test('contain the cost of the offer and the address of the destination', async () => {
    const quote = await quoteFor({ cashOnDeliveryRequestCents: 20_000_000 });
    const { status, body } = await ship(quote.name);
    expect(status).toBe(201);
    expect(body).toEqual({
      name: 'shipments/ca2048',
      createTime: now.toISOString(),
      updateTime: now.toISOString(),
      quote: quote.name,
      courier: 'couriers/rutandina',
      origin: 'origins/ca4',
      recipient: {
        ...shipmentRecipient,
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
      requiresPickup: true,
      status: 'LABEL_GENERATED',
      shipmentCostCents: 1_150_000,
      cashOnDeliveryCostCents: 500_000,
      totalCostCents: 1_650_000,
      label: 'labels/ca2048',
      labelUrl: expect.stringContaining(`${client.sandbox.url}/signed/labels/ca2048.pdf?expires=`),
    });
    expect((await client.get('/v1/shipments/ca2048')).body).toEqual(body);
    expect((await client.get('/v1/shipments?pageSize=1')).body.shipments).toEqual([body]);
  });

  test('are created only once for an order', async () => {
    const order = (await client.post('/v1/orders', newOrder)).body;
    const quote = await quoteFor({ order: order.name });
    const shipment = (await ship(quote.name)).body;
    expect((await client.get(`/v1/${order.name}`)).body).toMatchObject({
      shipment: shipment.name,
      status: 'READY',
    });
    const again = await ship(quote.name);
    expect([again.status, again.body.error.message]).toEqual([
      409,
      `${order.name} is already shipped as ${shipment.name}`,
    ]);
  });

  test('are rejected with 409 for a cancelled order', async () => {
    const order = (await client.post('/v1/orders', newOrder)).body;
    const quote = await quoteFor({ order: order.name });
    await client.patch(`/v1/${order.name}`, { order: { status: 'CANCELLED' }, updateMask: ['status'] });
    expect((await ship(quote.name)).status).toBe(409);
  });

  test.each([
    [
      { quote: undefined, requiresPickup: 'yes' },
      ['quote is required', 'requiresPickup must be true or false'],
    ],
    [
      { quote: 'quotes/none', origin: 'origins/st1' },
      ['quote refers to an unknown quote: quotes/none', 'origin refers to an unknown origin: origins/st1'],
    ],
    [{ courier: 'couriers/nobody' }, ['courier has no offer with the status SUCCESS in quotes/the-quote']],
    [
      { origin: 'origins/ca1' },
      [
        'origin is at locations/bogota-dc-puente-aranda, but quotes/the-quote has the origin locations/huila-pitalito',
      ],
    ],
    [
      { recipient: { ...shipmentRecipient, location: 'locations/antioquia-medellin', email: 'nobody' } },
      ['recipient.location is not a known field', 'recipient.email must be an e-mail address'],
    ],
  ])('are rejected for %j', async (changes, faults) => {
    const { name } = await quoteFor();
    const reply = await ship(name, changes);
    expect(reply.status).toBe(400);
    expect(faultsOf(reply).map((line) => line.replace(name, 'quotes/the-quote'))).toEqual(faults);
  });

  test('are rejected for a courier whose offer is not SUCCESS', async () => {
    const quote = await quoteFor({ package: { ...newQuote.package, weightKg: 900 } });
    const refused = quote.offers.find(({ status }: { status: string }) => status !== 'SUCCESS');
    expect(faultsOf(await ship(quote.name, { courier: refused.courier }))).toEqual([
      `courier has no offer with the status SUCCESS in ${quote.name}`,
    ]);
  });
});

describe('labels', () => {
  const label = (url: string) => fetch(url);

  test('are available as PDF with a bearer token or a signed URL', async () => {
    const { labelUrl } = (await client.get('/v1/shipments/ca0001')).body;
    const withBearer = await fetch(`${client.sandbox.url}/v1/shipments/ca0001/label`, {
      headers: { authorization: `Bearer ${client.sandbox.tokens.first}` },
    });
    expect([withBearer.status, withBearer.headers.get('content-type')]).toEqual([200, 'application/pdf']);
    const bytes = await withBearer.bytes();
    expect(new TextDecoder().decode(bytes.subarray(0, 5))).toBe('%PDF-');
    const signed = await label(labelUrl);
    expect([signed.status, signed.headers.get('content-type')]).toEqual([200, 'application/pdf']);
    expect(await signed.bytes()).toEqual(bytes);
  });

  test('have a signed URL that expires after 120 hours', async () => {
    const { labelUrl } = (await client.get('/v1/shipments/ca0001')).body;
    client.sandbox.clock.advance(120 * hourMs);
    expect((await label(labelUrl)).status).toBe(200);
    client.sandbox.clock.advance(1000);
    const expired = await label(labelUrl);
    expect([expired.status, await expired.json()]).toEqual([
      403,
      {
        error: {
          code: 403,
          status: 'PERMISSION_DENIED',
          message: 'The URL of this label has expired, or was changed',
          details: [],
        },
      },
    ]);
    const { labelUrl: renewed } = (await client.get('/v1/shipments/ca0001')).body;
    expect((await label(renewed)).status).toBe(200);
  });

  test('are refused for a modified signed URL', async () => {
    const { labelUrl } = (await client.get('/v1/shipments/ca0001')).body;
    expect((await label(labelUrl.replace('ca0001', 'ca0002'))).status).toBe(403);
    expect((await label(labelUrl.replace(/expires=\d/, 'expires=9'))).status).toBe(403);
    expect((await label(`${labelUrl}x`)).status).toBe(403);
    expect((await label(labelUrl.replace(/signature=.*/, 'signature='))).status).toBe(403);
    expect((await label(labelUrl.replace(/&signature=.*/, ''))).status).toBe(400);
  });
});
