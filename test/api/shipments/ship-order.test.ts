import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Fault } from '../../../src/sandbox/sandbox.ts';
import { ShipOrderDocument, type ShipOrderInput, ShipWholeOrderDocument } from '../../documents.generated.ts';
import { learnMerchants } from '../../fixtures/known-merchant.ts';
import { type OrderToShip, orderInput, orderToShip, parcel } from '../../fixtures/order-to-ship.ts';
import { type Answer, startWaybill, type Waybill } from '../../harness.ts';

let waybill: Waybill;
beforeAll(async () => {
  // A search counts at once.
  waybill = await startWaybill({}, { processingMs: 0 });
  await learnMerchants(waybill, waybill.sandbox.tokens.first);
});
afterEach(() => waybill.sandbox.faults.clear());
afterAll(() => waybill[Symbol.asyncDispose]());

const fail = (fault: Fault) => waybill.sandbox.faults.add(fault);
const ship = async (input: ShipOrderInput) => inOrder(await waybill.ask(ShipOrderDocument, { input }));
const bodies = () => waybill.sandbox.requests.entries().map(({ body }) => body);

type Fields = Record<string, unknown>;
type OrderFields = Fields & { recipient: Fields };

/** REST answers `path` with what `change` makes of it. */
function change<Sent>(path: string, change: (sent: Sent) => unknown): void {
  // Each test knows what is sent there.
  fail({ kind: 'change', method: 'GET', path, change: (sent) => change(sent as Sent) });
}

/** The order and the origins are read at the same time, so that either may arrive first. */
function inOrder<Data>(answer: Answer<Data>): Answer<Data> {
  return { ...answer, calls: [...answer.calls.slice(0, 2).sort(), ...answer.calls.slice(2)] };
}

const pathOf = (order: string) => `/v1/${order}`;
const reads = (order: string) => [`GET ${pathOf(order)}`, 'GET /v1/origins?pageSize=1000'];
const quoted = (order: string) => [...reads(order), 'POST /v1/quotes'];
const posted = (order: string) => [...quoted(order), 'POST /v1/shipments'];

/** The answer of a mutation that went through without an error of its field. */
const answered = (result: object, calls: string[]) => ({
  status: 200,
  data: { shipOrder: result },
  errors: undefined,
  calls,
});
const refused = (...fields: [path: string, message: string][]) => ({
  __typename: 'InvalidInput',
  message: `The input is invalid, and nothing was written: ${fields.map((field) => field.join(' ')).join('; ')}.`,
  fields: fields.map(([path, message]) => ({ path, message })),
});
const quote = { id: expect.stringMatching(/^quotes\/ca\d{4}$/) };
const success = (order: string, courier = 'couriers/tres-cordilleras') => ({
  __typename: 'ShipOrderSuccess',
  order: { id: order },
  quote,
  offer: { courier: { id: courier } },
  shipment: { id: expect.stringMatching(/^shipments\/ca\d{4}$/) },
});

/** What a client is told beside the place of the error in the document. */
function told({ status, data, errors, calls }: Answer<unknown>) {
  return {
    status,
    data,
    calls,
    errors: errors?.map(({ message, path, extensions }) => ({ message, path, ...extensions })),
  };
}
const failed = (error: object, calls: string[]) => ({
  status: 200,
  data: { shipOrder: null },
  errors: [{ path: ['shipOrder'], ...error }],
  calls,
});

describe('shipOrder', () => {
  const offer = (code: string, status: string, cents: number, days: number) => ({
    courier: { id: `couriers/${code}` },
    status,
    shipmentCost: { cents },
    estimatedDeliveryOperatingDays: days,
  });
  const cheapest = offer('tres-cordilleras', 'SUCCESS', 1_330_000, 3);

  test('ships an order to its recipient with the cheapest offer', async () => {
    await using fresh = await startWaybill();
    await learnMerchants(fresh, fresh.sandbox.tokens.first);
    const input = await orderToShip(fresh);
    const answer = inOrder(await fresh.ask(ShipWholeOrderDocument, { input }));
    const result = {
      __typename: 'ShipOrderSuccess',
      order: { id: 'orders/ca2501', status: 'READY', shipment: { id: 'shipments/ca2048' } },
      quote: {
        id: 'quotes/ca2154',
        order: { id: 'orders/ca2501' },
        origin: { id: 'locations/huila-pitalito' },
        destination: { id: 'locations/antioquia-medellin-laureles' },
        package: { weightKg: 1.35 },
        cashOnDelivery: { cents: 5_000_000 },
        offers: [
          offer('rutandina', 'SUCCESS', 1_595_000, 3),
          offer('condor-veloz', 'SUCCESS', 1_850_000, 1),
          offer('chasqui-carga', 'SUCCESS', 1_970_000, 4),
          offer('tierra-firme', 'CASH_ON_DELIVERY_NOT_AVAILABLE', 0, 0),
          cheapest,
        ],
      },
      offer: cheapest,
      shipment: {
        id: 'shipments/ca2048',
        status: 'LABEL_GENERATED',
        quote: { id: 'quotes/ca2154' },
        courier: { id: 'couriers/tres-cordilleras' },
        origin: { id: 'origins/ca4' },
        recipient: {
          fullName: 'Inés Ruiz',
          phoneNumber: '+573001112233',
          documentType: 'NI',
          document: '900123456',
          address: {
            regionCode: 'CO',
            administrativeArea: 'Antioquia',
            locality: 'Medellín (Laureles)',
            addressLines: ['Circular 4 # 70-28', 'Apto 502'],
            organization: 'Tostadora Ruiz',
          },
        },
        requiresPickup: true,
        shipmentCost: { cents: 1_330_000 },
        cashOnDeliveryCost: { cents: 350_000 },
        totalCost: { cents: 1_680_000 },
        label: { id: 'labels/ca2048' },
      },
    };
    // The last is for the fields of the order, which has a new status.
    expect(answer).toEqual(answered(result, [...posted('orders/ca2501'), 'GET /v1/orders/ca2501']));
    const { location, ...recipient } = orderInput.recipient;
    expect(fresh.sandbox.requests.entries().map(({ body }) => body)).toEqual([
      undefined,
      undefined,
      {
        origin: 'locations/huila-pitalito',
        destination: location,
        package: parcel,
        cashOnDeliveryRequestCents: 5_000_000,
        order: 'orders/ca2501',
      },
      {
        quote: 'quotes/ca2154',
        courier: 'couriers/tres-cordilleras',
        origin: 'origins/ca4',
        recipient,
        requiresPickup: true,
      },
      undefined,
    ]);
  });

  test('accepts bare identifiers and a shipment without pickup', async () => {
    const { order } = await orderToShip(waybill);
    const input = {
      order: order.replace('orders/', ''),
      origin: 'ca4',
      requiresPickup: false,
      package: parcel,
    };
    expect(await ship(input)).toEqual(answered(success(order), posted(order)));
    expect(bodies()[3]).toMatchObject({ origin: 'origins/ca4', requiresPickup: false });
  });

  test('ships to a recipient without an organization or a document', async () => {
    const { organization: _, ...address } = orderInput.recipient.address;
    const { documentType: _type, document: _document, ...person } = orderInput.recipient;
    const input = await orderToShip(waybill, { recipient: { ...person, address } });
    expect(await ship(input)).toEqual(answered(success(input.order), posted(input.order)));
    const { location: _location, ...recipient } = person;
    expect(bodies()[3]).toMatchObject({
      recipient: {
        ...recipient,
        address: { ...address, organization: '' },
        documentType: null,
        document: null,
      },
    });
  });

  test('sends no document fields if the recipient has none', async () => {
    const input = await orderToShip(waybill);
    change(
      pathOf(input.order),
      ({ recipient: { documentType, document, ...recipient }, ...order }: OrderFields) => ({
        ...order,
        recipient,
      }),
    );
    expect(await ship(input)).toEqual(answered(success(input.order), posted(input.order)));
    const { documentType: _, document: _document, location: _location, ...recipient } = orderInput.recipient;
    expect(bodies()[3]).toMatchObject({ recipient });
    expect(Object.keys(Object(bodies()[3]).recipient)).toEqual(Object.keys(recipient));
  });

  test('reads the order and the origins in parallel', async () => {
    await using impatient = await startWaybill({ UPSTREAM_TIMEOUT_MS: '2000' }, { sandbox: waybill.sandbox });
    const input = await orderToShip(waybill);
    fail({ kind: 'hang', path: pathOf(input.order) });
    await learnMerchants(impatient, waybill.sandbox.tokens.first);
    const answer = inOrder(await impatient.ask(ShipOrderDocument, { input }));
    const message = `GET ${pathOf(input.order)} was not answered within 2000 ms`;
    expect(told(answer)).toEqual(
      failed({ message, code: 'UPSTREAM_TIMEOUT', retryable: true }, reads(input.order)),
    );
  });
});

describe('the offer selection of shipOrder', () => {
  test.each<[string, Partial<OrderToShip>, string]>([
    ['the cheapest offer', { offer: { prefer: 'CHEAPEST' } }, 'tres-cordilleras'],
    [
      'the cheapest offer if the input field "offer" is null',
      { offer: null, maxShipmentCostCents: null, idempotencyKey: null },
      'tres-cordilleras',
    ],
    ['the fastest offer', { offer: { prefer: 'FASTEST' } }, 'condor-veloz'],
    [
      'the fastest offer within the cost limit',
      { offer: { prefer: 'FASTEST' }, maxShipmentCostCents: 1_849_999 },
      'tres-cordilleras',
    ],
    ['an offer that costs exactly the cost limit', { maxShipmentCostCents: 1_330_000 }, 'tres-cordilleras'],
    ['the offer of the given courier', { offer: { courier: 'couriers/chasqui-carga' } }, 'chasqui-carga'],
    [
      'the offer of the courier with the given bare identifier',
      { offer: { courier: 'rutandina' }, maxShipmentCostCents: 1_595_000 },
      'rutandina',
    ],
  ])('chooses %s', async (_what, fields, courier) => {
    const input = { ...(await orderToShip(waybill)), ...fields };
    expect(await ship(input)).toEqual(
      answered(success(input.order, `couriers/${courier}`), posted(input.order)),
    );
    expect(bodies()[3]).toMatchObject({ courier: `couriers/${courier}` });
  });

  const available =
    'Available: couriers/rutandina for 1595000 cents, couriers/condor-veloz for 1850000 cents, ' +
    'couriers/chasqui-carga for 1970000 cents, couriers/tres-cordilleras for 1330000 cents.';

  test.each<[string, Partial<OrderToShip>, string]>([
    [
      'no offer is within the cost limit',
      { maxShipmentCostCents: 1_329_999 },
      `every available offer costs more than 1329999 cents. ${available} Raise maxShipmentCostCents, and use a new idempotencyKey.`,
    ],
    [
      'the cost limit is 0',
      { offer: { prefer: 'FASTEST' }, maxShipmentCostCents: 0 },
      `every available offer costs more than 0 cents. ${available} Raise maxShipmentCostCents, and use a new idempotencyKey.`,
    ],
    [
      'no offer of the courier is within the cost limit',
      { offer: { courier: 'couriers/condor-veloz' }, maxShipmentCostCents: 1_400_000 },
      `every available offer of couriers/condor-veloz costs more than 1400000 cents. ${available} Raise maxShipmentCostCents, and use a new idempotencyKey.`,
    ],
    [
      'the courier has no available offer',
      { offer: { courier: 'couriers/tierra-firme' } },
      `couriers/tierra-firme has no available offer. ${available} Choose one of these couriers, and use a new idempotencyKey.`,
    ],
    [
      'the courier is unknown',
      { offer: { courier: 'couriers/condor' } },
      `couriers/condor has no available offer. ${available} Choose one of these couriers, and use a new idempotencyKey.`,
    ],
    [
      'no courier has an available offer',
      { package: { ...parcel, weightKg: 1000 } },
      'no courier ships this package on this route (couriers/rutandina OVERWEIGHT, couriers/condor-veloz OVERWEIGHT, ' +
        'couriers/chasqui-carga OVERWEIGHT, couriers/tierra-firme OVERWEIGHT, couriers/tres-cordilleras OVERWEIGHT). ' +
        'Change the package, the order or the origin, and use a new idempotencyKey.',
    ],
  ])('returns NoOffer with the quote if %s', async (_what, fields, why) => {
    const input = { ...(await orderToShip(waybill)), ...fields };
    const result = { __typename: 'NoOffer', message: `Nothing was shipped: ${why}`, quote };
    expect(await ship(input)).toEqual(answered(result, quoted(input.order)));
  });

  test('fails if the quote has no list of offers', async () => {
    const input = await orderToShip(waybill);
    fail({ kind: 'change', path: '/v1/quotes', change: (sent) => ({ ...Object(sent), offers: null }) });
    const message = expect.stringMatching(/^The REST service sent quotes\/ca\d{4} without a list of offers$/);
    expect(told(await ship(input))).toEqual(
      failed({ message, code: 'UPSTREAM_INVALID_RESPONSE', retryable: false }, quoted(input.order)),
    );
  });
});

describe('a rejected shipOrder', () => {
  test('returns Conflict without a POST if the order is already shipped', async () => {
    const result = {
      __typename: 'Conflict',
      message:
        'orders/ca2481 is already shipped as shipments/ca2036. No new shipment was created. Read the field "shipment" of the order.',
    };
    const input = { order: 'ca2481', origin: 'ca1', package: parcel };
    expect(await ship(input)).toEqual(answered(result, reads('orders/ca2481')));
  });

  test('returns Conflict without a POST if the order is cancelled', async () => {
    const message = "orders/ca2477 is CANCELLED and can't be shipped. Nothing was shipped.";
    const input = { order: 'ca2477', origin: 'ca1', package: parcel };
    expect(await ship(input)).toEqual(answered({ __typename: 'Conflict', message }, reads('orders/ca2477')));
  });

  test('returns Conflict for one of two concurrent requests', async () => {
    const input = await orderToShip(waybill);
    const answers = await Promise.all([ship(input), ship(input)]);
    expect(answers.map(({ data }) => data.shipOrder.__typename).sort()).toEqual([
      'Conflict',
      'ShipOrderSuccess',
    ]);
    // The second waits for the first, and finds by its reads that the order is shipped.
    const lines = [...posted(input.order), ...reads(input.order)];
    expect(waybill.sandbox.requests.lines().sort()).toEqual(lines.sort());
  });

  test.each([
    ['a missing order', { order: 'nosuch', origin: 'origins/ca4' }, 'orders/nosuch'],
    ['an order of another merchant', { order: 'orders/st0200', origin: 'origins/ca4' }, 'orders/st0200'],
    ['a missing origin', { order: 'ca2496', origin: 'ca9' }, 'origins/ca9'],
    ['a missing order and a missing origin', { order: 'nosuch', origin: 'ca9' }, 'orders/nosuch'],
  ])('returns NotFound without a POST for %s', async (_what, ids, id) => {
    const result = { __typename: 'NotFound', message: `${id} does not exist. Check the id.`, missingId: id };
    const order = `orders/${ids.order.replace('orders/', '')}`;
    expect(await ship({ ...ids, package: parcel })).toEqual(answered(result, reads(order)));
  });
});

describe('the input of shipOrder', () => {
  const notOf = (collection: string, given: string) =>
    `must be an id of the form "${collection}/<identifier>" or a bare identifier, but is "${given}"`;
  const input: ShipOrderInput = { order: 'ca2496', origin: 'ca1', package: parcel };

  test.each<[string, Partial<ShipOrderInput>, [path: string, message: string]]>([
    ['a quote id as the order', { order: 'quotes/ca2151' }, ['order', notOf('orders', 'quotes/ca2151')]],
    ['a relative path as the order', { order: '../orders' }, ['order', notOf('orders', '../orders')]],
    ['a location id as the origin', { origin: 'locations/a' }, ['origin', notOf('origins', 'locations/a')]],
    ['an empty courier', { offer: { courier: '' } }, ['offer.courier', notOf('couriers', '')]],
    [
      'a negative cost limit',
      { maxShipmentCostCents: -1 },
      ['maxShipmentCostCents', 'must be at least 0, but is -1'],
    ],
    [
      'null for requiresPickup',
      { requiresPickup: null },
      ['requiresPickup', 'must not be null: omit the field instead'],
    ],
    [
      'a content description of 2 characters',
      { package: { ...parcel, contentDescription: '☕🫘' } },
      ['package.contentDescription', 'must be 3 to 128 characters long, but has 2'],
    ],
    [
      'an empty idempotency key',
      { idempotencyKey: '' },
      ['idempotencyKey', 'must be 1 to 255 characters long, but has 0'],
    ],
  ])('is rejected without a call if it has %s', async (_what, fields, fault) => {
    expect(await ship({ ...input, ...fields })).toEqual(answered(refused(fault), []));
  });

  test('is rejected with the errors of all invalid fields', async () => {
    const answer = await ship({
      order: '',
      origin: '',
      package: { ...parcel, contentDescription: '' },
      offer: { courier: 'orders/ca2496' },
      maxShipmentCostCents: -100,
      requiresPickup: null,
      idempotencyKey: '',
    });
    const result = refused(
      ['order', notOf('orders', '')],
      ['origin', notOf('origins', '')],
      ['package.contentDescription', 'must be 3 to 128 characters long, but has 0'],
      ['offer.courier', notOf('couriers', 'orders/ca2496')],
      ['maxShipmentCostCents', 'must be at least 0, but is -100'],
      ['requiresPickup', 'must not be null: omit the field instead'],
      ['idempotencyKey', 'must be 1 to 255 characters long, but has 0'],
    );
    expect(answer).toEqual(answered(result, []));
  });

  test.each([
    ['a preference and a courier', { prefer: 'FASTEST', courier: 'rutandina' }],
    ['no preference and no courier', {}],
    ['null as the courier', { courier: null }],
  ])('is rejected by GraphQL if the offer has %s', async (_what, offer) => {
    const { data, errors, calls } = await waybill.ask<unknown, unknown>(
      'mutation ($input: ShipOrderInput!) { shipOrder(input: $input) { __typename } }',
      { input: { ...input, offer } },
    );
    expect(data).toBeUndefined();
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', retryable: false } }]);
    expect(calls).toEqual([]);
  });
});

describe('shipOrder with an invalid record of the REST service', () => {
  test.each<[string, (order: OrderFields) => unknown, string]>([
    ['no recipient', ({ recipient, ...order }) => order, "its recipient's location"],
    ['a null recipient', (order) => ({ ...order, recipient: null }), "its recipient's location"],
    [
      'no location of the recipient',
      ({ recipient: { location, ...recipient }, ...order }) => ({ ...order, recipient }),
      "its recipient's location",
    ],
    [
      'an origin as the location of the recipient',
      (order) => ({ ...order, recipient: { ...order.recipient, location: 'origins/ca4' } }),
      "its recipient's location",
    ],
    [
      'no address of the recipient',
      ({ recipient: { address, ...recipient }, ...order }) => ({ ...order, recipient }),
      "its recipient's address",
    ],
    [
      'no address lines',
      (order) => ({ ...order, recipient: { ...order.recipient, address: { addressLines: null } } }),
      "its recipient's address",
    ],
    [
      'no field for cash on delivery',
      ({ cashOnDeliveryRequestCents, ...order }) => order,
      'its amount of cash on delivery',
    ],
  ])('fails before any POST if the order has %s', async (_what, broken, missing) => {
    const input = await orderToShip(waybill);
    change(pathOf(input.order), broken);
    const message = `The REST service sent ${input.order} without ${missing}`;
    expect(told(await ship(input))).toEqual(
      failed({ message, code: 'UPSTREAM_INVALID_RESPONSE', retryable: false }, reads(input.order)),
    );
  });

  test('fails before any POST if the origin has no location', async () => {
    const input = await orderToShip(waybill);
    change('/v1/origins', (page: { origins: Fields[] }) => ({
      ...page,
      origins: page.origins.map(({ location, ...origin }) => origin),
    }));
    const message = 'The REST service sent origins/ca4 without its location';
    expect(told(await ship(input))).toEqual(
      failed({ message, code: 'UPSTREAM_INVALID_RESPONSE', retryable: false }, reads(input.order)),
    );
  });
});

describe('a 4xx response to a POST of shipOrder', () => {
  const refusal = (...fields: string[]) => ({
    error: { message: 'Bad.', details: fields.map((field) => ({ field, message: 'is odd' })) },
  });
  const at = (...paths: string[]) => ({
    __typename: 'InvalidInput',
    message: 'Bad.',
    fields: paths.map((path) => ({ path, message: 'is odd' })),
  });

  test('becomes InvalidInput with the path of a package field', async () => {
    const input = { ...(await orderToShip(waybill)), package: { ...parcel, weightKg: 0 } };
    const result = {
      __typename: 'InvalidInput',
      message: 'The request is invalid: package.weightKg must be more than 0',
      fields: [{ path: 'package.weightKg', message: 'must be more than 0' }],
    };
    expect(await ship(input)).toEqual(answered(result, quoted(input.order)));
  });

  test('becomes InvalidInput with input paths for the fields of the quote', async () => {
    const input = await orderToShip(waybill);
    const fields = [
      'origin',
      'destination',
      'cashOnDeliveryRequestCents',
      'order',
      'package.dimensions.widthCm',
    ];
    const result = at('origin', 'order', 'order', 'order', 'package.dimensions.widthCm');
    // What is not in the input keeps its name.
    result.fields[1] = { path: 'order', message: 'destination is odd' };
    result.fields[2] = { path: 'order', message: 'cashOnDeliveryRequestCents is odd' };
    fail({ kind: 'status', status: 400, path: '/v1/quotes', body: refusal(...fields) });
    expect(await ship(input)).toEqual(answered(result, quoted(input.order)));
  });

  test('becomes InvalidInput with input paths for the fields of the shipment', async () => {
    const input = await orderToShip(waybill);
    const fields = ['courier', 'origin', 'recipient.address.addressLines', 'quote', 'requiresPickup'];
    fail({ kind: 'status', status: 422, path: '/v1/shipments', body: refusal(...fields) });
    const result = at('offer', 'origin', 'order', 'order', 'requiresPickup');
    // What is not in the input keeps its name.
    result.fields[0] = { path: 'offer', message: 'courier is odd' };
    result.fields[2] = { path: 'order', message: 'address.addressLines is odd' };
    result.fields[3] = { path: 'order', message: 'quote is odd' };
    expect(await ship(input)).toEqual(answered(result, posted(input.order)));
  });

  test.each([
    ['/v1/quotes', quoted],
    [
      '/v1/shipments',
      (order: string) => [...posted(order), `GET /v1/${order}`, 'GET /v1/shipments?pageSize=1000'],
    ],
  ])('becomes InvalidInput for 404 and Conflict for 409: POST %s', async (path, calls) => {
    const input = await orderToShip(waybill);
    const error = { message: 'Not as it was.' };
    fail({ kind: 'status', status: 404, method: 'POST', path, body: { error }, times: 1 });
    fail({ kind: 'status', status: 409, method: 'POST', path, body: { error }, times: 1 });
    // The order exists, as it was read before.
    const invalid = { __typename: 'InvalidInput', ...error, fields: [] };
    expect(await ship(input)).toEqual(answered(invalid, calls(input.order)));
    expect(await ship(input)).toEqual(answered({ __typename: 'Conflict', ...error }, calls(input.order)));
  });
});

describe('a failed call of shipOrder', () => {
  const waiting: Record<string, string> = { 'retry-after': '3' };

  test.each([
    [401, {}, { code: 'UNAUTHENTICATED', retryable: false }, { retryable: false }],
    [403, {}, { code: 'FORBIDDEN', retryable: false }, { retryable: false }],
    [429, waiting, { code: 'RATE_LIMITED', retryable: true, retryAfterMs: 3000 }, { retryable: true }],
    [500, {}, { code: 'UPSTREAM_ERROR', retryable: false }, { retryable: false }],
    [503, {}, { code: 'UPSTREAM_UNAVAILABLE', retryable: true }, { retryable: false }],
  ])('becomes a field error if the status is %i', async (status, headers, ofRead, ofWrite) => {
    const input = await orderToShip(waybill);
    const steps: [method: string, path: string, calls: string[]][] = [
      ['GET', pathOf(input.order), reads(input.order)],
      ['GET', '/v1/origins', reads(input.order)],
      ['POST', '/v1/quotes', quoted(input.order)],
      ['POST', '/v1/shipments', posted(input.order)],
    ];
    for (const [method, path, calls] of steps) {
      const remove = fail({ kind: 'status', status, headers, method, path });
      const error = { ...ofRead, ...(method === 'POST' ? ofWrite : {}), upstreamStatus: status };
      const message = `${method} ${path} returned ${status}`;
      expect(told(await ship(input))).toEqual(failed({ message, ...error }, calls));
      remove();
      // The other read may go on a moment longer, and would be shared with the next step.
      await vi.waitFor(() =>
        expect(waybill.sandbox.requests.entries().map((entry) => entry.status)).not.toContain(undefined),
      );
      await new Promise((resolve) => setTimeout(resolve, 5));
      // A 401 forgets the merchant of the token.
      await learnMerchants(waybill, waybill.sandbox.tokens.first);
    }
  });
});

describe('the order in ShipOrderSuccess', () => {
  const withOrder = `mutation ($input: ShipOrderInput!) {
    shipOrder(input: $input) {
      ... on ShipOrderSuccess { order { id status shipment { id status label { id } } } }
      ... on UserError { message }
    }
  }`;
  interface WithOrder {
    shipOrder: { order: { id: string; status: string; shipment: { id: string; status: string } } };
  }

  test('contains the new shipment without a call for the shipment', async () => {
    await using fresh = await startWaybill();
    await learnMerchants(fresh, fresh.sandbox.tokens.first);
    const input = await orderToShip(fresh);
    const { data, calls } = inOrder(await fresh.ask<WithOrder, unknown>(withOrder, { input }));
    expect(data.shipOrder.order).toEqual({
      id: input.order,
      status: 'READY',
      shipment: { id: 'shipments/ca2048', status: 'LABEL_GENERATED', label: { id: 'labels/ca2048' } },
    });
    expect(calls).toEqual([...posted(input.order), `GET ${pathOf(input.order)}`]);
  });

  test('contains the quote of the new shipment without a call for the quote', async () => {
    await using fresh = await startWaybill();
    await learnMerchants(fresh, fresh.sandbox.tokens.first);
    const input = await orderToShip(fresh);
    const query = `mutation ($input: ShipOrderInput!) {
      shipOrder(input: $input) { ... on ShipOrderSuccess { shipment { quote { offers { status } } } } }
    }`;
    const { calls } = inOrder(await fresh.ask<object, unknown>(query, { input }));
    expect(calls).toEqual(posted(input.order));
  });

  test.each<Fault>([
    { kind: 'status', status: 503 },
    { kind: 'status', status: 404 },
    { kind: 'reset' },
    { kind: 'cut-json' },
  ])('keeps the fields of the first read if the second read fails: %o', async (fault) => {
    const input = await orderToShip(waybill);
    fail({ kind: 'delay', delayMs: 0, path: pathOf(input.order), times: 1 });
    fail({ ...fault, path: pathOf(input.order) });
    const { data, errors, calls } = inOrder(await waybill.ask<WithOrder, unknown>(withOrder, { input }));
    expect(errors).toBeUndefined();
    expect(data.shipOrder.order).toMatchObject({
      id: input.order,
      status: 'NEW',
      shipment: { id: expect.stringMatching(/^shipments\/ca\d{4}$/) },
    });
    expect(calls).toEqual([...posted(input.order), `GET ${pathOf(input.order)}`]);
  });

  test('counts as shipped for the next mutation of the same request', async () => {
    const input = await orderToShip(waybill);
    const document = `mutation ($input: ShipOrderInput!) {
      first: shipOrder(input: $input) { ... on ShipOrderSuccess { order { status } } }
      second: shipOrder(input: $input) { ... on Conflict { message } }
    }`;
    const { data, errors, calls } = inOrder(await waybill.ask<unknown, unknown>(document, { input }));
    expect([data, errors]).toEqual([
      {
        first: { order: { status: expect.stringMatching(/^(READY|NEW|CONFIRMED)$/) } },
        second: {
          message: expect.stringMatching(/^orders\/ca\d{4} is already shipped as shipments\/ca\d{4}\./),
        },
      },
      undefined,
    ]);
    expect(calls).toEqual([...posted(input.order), `GET ${pathOf(input.order)}`]);
  });
});

test.each([
  ['/v1/origins', 404, 'NOT_FOUND'],
  ['/v1/origins', 409, 'CONFLICT'],
  ['/v1/origins', 422, 'BAD_USER_INPUT'],
  ['the order', 422, 'BAD_USER_INPUT'],
])('shipOrder returns a field error if the read of %s returns %i', async (path, status, code) => {
  const input = await orderToShip(waybill);
  const remove = fail({
    kind: 'status',
    status,
    method: 'GET',
    path: path === 'the order' ? `/v1/${input.order}` : path,
  });
  const { data, errors, calls } = await ship(input);
  remove();
  expect(data).toEqual({ shipOrder: null });
  expect(errors).toMatchObject([{ path: ['shipOrder'], extensions: { code, upstreamStatus: status } }]);
  expect(calls).toEqual(reads(input.order));
});
