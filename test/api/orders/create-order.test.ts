import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  CreateOrderDocument,
  type CreateOrderInput,
  CreateWholeOrderDocument,
} from '../../documents.generated.ts';
import { learnMerchants, organizationCall } from '../../fixtures/known-merchant.ts';
import { answered, order, post, recorded } from '../../fixtures/order-to-create.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

let waybill: Waybill;
beforeAll(async () => {
  waybill = await startWaybill();
  await learnMerchants(waybill, waybill.sandbox.tokens.first);
});
afterAll(() => waybill[Symbol.asyncDispose]());

const { recipient } = order;
const largest = 9_007_199_254_740_991;

const ask = (fields: Partial<CreateOrderInput> = {}) =>
  waybill.ask(CreateOrderDocument, { input: { ...order, ...fields } });
const bodies = ({ sandbox } = waybill) => sandbox.requests.entries().map(({ body }) => body);

/** The fields of the order as the same request answers them, and as it was posted. */
async function throughAndBack(fields: Partial<CreateOrderInput>) {
  const { data, calls } = await waybill.ask(CreateWholeOrderDocument, { input: { ...order, ...fields } });
  expect(calls).toEqual([post]);
  if (data.createOrder.__typename !== 'CreateOrderSuccess') throw new Error(data.createOrder.message);
  return { answered: data.createOrder.order, posted: bodies()[0] };
}

describe('createOrder', () => {
  const cop = (cents: number) => ({ cents, currency: 'COP' });
  const whole: CreateOrderInput = {
    recipient: {
      ...recipient,
      address: { ...recipient.address, organization: 'Tostadora Ruiz' },
      documentType: 'NI',
      document: '900123456',
    },
    contentDescription: 'Café de Huila, en grano 340 g',
    notes: 'Entregar antes de las 5 pm',
    sellingPriceCents: 11_670_000,
    cashOnDeliveryRequestCents: 0,
    status: 'CONFIRMED',
    paymentMethods: ['PSE', 'NEQUI'],
    referenceId: '5320322269999',
    referenceUrl: 'https://shop.example/orders/5320322269999?locale=es#top',
    fulfiller: 'PARTNER',
  };
  const address = {
    regionCode: 'CO',
    administrativeArea: 'Antioquia',
    locality: 'Medellín (Laureles)',
    addressLines: ['Circular 4 # 70-28', 'Apto 502'],
  };
  const asRecorded = {
    __typename: 'Order',
    id: 'orders/ca2501',
    createTime: '2026-11-02T14:00:00.000Z',
    updateTime: '2026-11-02T14:00:00.000Z',
    shipment: null,
    customerReliability: 'NO_ORDERS',
    customerBehavior: {
      totalShipments: 0,
      deliveredShipments: 0,
      returnedShipments: 0,
      reliability: 'NO_ORDERS',
    },
    referenceGid: null,
  };

  test('creates an order in one call if only the required fields are given', async () => {
    await using fresh = await startWaybill();
    const answer = await fresh.ask(CreateWholeOrderDocument, { input: order });
    const result = {
      ...asRecorded,
      status: 'NEW',
      recipient: {
        ...recipient,
        documentType: null,
        document: null,
        address: { ...address, organization: '' },
        location: { id: 'locations/antioquia-medellin-laureles' },
      },
      contentDescription: 'Café de Huila',
      notes: 'Dejar en portería',
      sellingPrice: cop(11_670_000),
      cashOnDelivery: cop(5_000_000),
      referenceId: null,
      referenceUrl: null,
      paymentMethods: null,
      fulfiller: 'OPERATOR',
    };
    expect(answer).toEqual(answered({ __typename: 'CreateOrderSuccess', order: result }, [post]));
    expect(bodies(fresh)).toEqual([order]);
  });

  test('sends every field except the idempotency key to the REST service', async () => {
    await using fresh = await startWaybill();
    const input = { ...whole, idempotencyKey: 'every field' };
    const answer = await fresh.ask(CreateWholeOrderDocument, { input });
    const result = {
      ...asRecorded,
      status: 'CONFIRMED',
      recipient: {
        ...whole.recipient,
        address: { ...address, organization: 'Tostadora Ruiz' },
        location: { id: 'locations/antioquia-medellin-laureles' },
      },
      contentDescription: 'Café de Huila, en grano 340 g',
      notes: 'Entregar antes de las 5 pm',
      sellingPrice: cop(11_670_000),
      cashOnDelivery: cop(0),
      referenceId: '5320322269999',
      referenceUrl: 'https://shop.example/orders/5320322269999?locale=es#top',
      paymentMethods: ['PSE', 'NEQUI'],
      fulfiller: 'PARTNER',
    };
    const calls = [organizationCall, post];
    expect(answer).toEqual(answered({ __typename: 'CreateOrderSuccess', order: result }, calls));
    expect(bodies(fresh)).toEqual([undefined, whole]);
  });

  test('makes the order visible to the next read', async () => {
    const { data } = await ask({ referenceId: 'read next' });
    if (data.createOrder.__typename !== 'CreateOrderSuccess') throw new Error(data.createOrder.message);
    const { id } = data.createOrder.order;
    const next = await waybill.ask('{ orderByReference(referenceId: "read next") { id } }');
    expect(next.data).toEqual({ orderByReference: { id } });
  });

  test.each(['NEW', 'CONFIRMED'] as const)('accepts the initial status %s', async (status) => {
    expect((await throughAndBack({ status })).answered.status).toBe(status);
  });

  test('sends the full id of a location if the input has its bare identifier', async () => {
    const given = { ...recipient, location: 'antioquia-medellin-laureles' };
    expect(await ask({ recipient: given })).toEqual(answered(recorded, [post]));
    expect(bodies()).toEqual([order]);
  });

  test.each<[string, Partial<CreateOrderInput>]>([
    ['strings of 3 characters that are 6 UTF-16 units', { contentDescription: '☕🫘🎂', notes: '🫘🫘🫘' }],
    ['strings of the maximum length', { contentDescription: '🫘'.repeat(128), notes: '𝒙'.repeat(2048) }],
    ['an idempotency key of one character', { idempotencyKey: '🔑' }],
    ['an idempotency key of 255 characters', { idempotencyKey: '🔑'.repeat(255) }],
    ['an empty list of payment methods', { paymentMethods: [] }],
    ['a cash-on-delivery amount of 0', { cashOnDeliveryRequestCents: 0 }],
  ])('accepts %s', async (_what, fields) => {
    const { idempotencyKey: _, ...sent } = { ...order, ...fields };
    expect(await ask(fields)).toEqual(answered(recorded, [post]));
    expect(bodies()).toEqual([sent]);
  });

  test('sends a location id of 96 characters to the REST service', async () => {
    const location = `locations/${'a'.repeat(96 - 'locations/'.length)}`;
    const message = `refers to an unknown location: ${location}`;
    const result = {
      __typename: 'InvalidInput',
      message: `The request is invalid: recipient.location ${message}`,
      fields: [{ path: 'recipient.location', message }],
    };
    expect(await ask({ recipient: { ...recipient, location } })).toEqual(answered(result, [post]));
    expect(bodies()).toEqual([{ ...order, recipient: { ...recipient, location } }]);
  });
});

describe('the idempotencyKey of createOrder', () => {
  afterEach(() => waybill.sandbox.faults.clear());

  const createdId = async (fields: Partial<CreateOrderInput>) => {
    const { data } = await ask(fields);
    if (data.createOrder.__typename !== 'CreateOrderSuccess') throw new Error(data.createOrder.message);
    return data.createOrder.order.id;
  };

  test('costs an organization call only the first time a token sends a key', async () => {
    await using fresh = await startWaybill({}, { sandbox: waybill.sandbox });
    const costOf = async (fields: Partial<CreateOrderInput>) =>
      (await fresh.ask(CreateOrderDocument, { input: { ...order, ...fields } })).calls;
    expect(await costOf({})).toEqual([post]);
    expect(await costOf({ idempotencyKey: 'merchant 1' })).toEqual([organizationCall, post]);
    expect(await costOf({ idempotencyKey: 'merchant 2' })).toEqual([post]);
  });

  test('returns the current order for a repeated request', async () => {
    const id = await createdId({ idempotencyKey: 'now' });
    await waybill.ask(
      'mutation ($id: ID!) { updateOrder(input: { id: $id, notes: "Nueva" }) { __typename } }',
      {
        id,
      },
    );
    const input = { ...order, idempotencyKey: 'now' };
    const { data, calls } = await waybill.ask(CreateWholeOrderDocument, { input });
    expect(data.createOrder).toMatchObject({ order: { id, notes: 'Nueva' } });
    expect(calls).toEqual([`GET /v1/${id}`]);
  });

  // After a 404, REST may show the order later, so that it is read again: restored-results.test.ts.
  test.each([500, 503])(
    'still returns the order after a read of the order has failed with %i',
    async (status) => {
      const idempotencyKey = `read fails with ${status}`;
      const id = await createdId({ idempotencyKey });
      waybill.sandbox.faults.add({ method: 'GET', path: `/v1/${id}`, kind: 'status', status, times: 1 });
      const failed = await ask({ idempotencyKey });
      expect([failed.data, failed.calls]).toEqual([{ createOrder: null }, [`GET /v1/${id}`]]);
      const code = status === 500 ? 'UPSTREAM_ERROR' : 'UPSTREAM_UNAVAILABLE';
      expect(failed.errors).toMatchObject([{ message: expect.stringContaining(id), extensions: { code } }]);
      expect(await ask({ idempotencyKey })).toEqual(
        answered({ ...recorded, order: { id } }, [`GET /v1/${id}`]),
      );
    },
  );

  test('returns Conflict without a call if the input changes', async () => {
    await createdId({ idempotencyKey: 'other input' });
    const { data, calls } = await ask({ idempotencyKey: 'other input', notes: 'Otra' });
    expect(data.createOrder).toEqual({
      __typename: 'Conflict',
      message:
        'This idempotencyKey was used with another input. Nothing was written. Use a new key for a new write, or the ' +
        'original input to get the original result.',
    });
    expect(calls).toEqual([]);
  });
});

describe('the body that createOrder sends', () => {
  test('keeps the nulls of fields that are nullable in the REST interface', async () => {
    const nulls = {
      ...recipient,
      documentType: null,
      document: null,
      address: { ...recipient.address, organization: null },
    };
    const { answered: result, posted } = await throughAndBack({ recipient: nulls });
    expect(posted).toEqual({ ...order, recipient: nulls });
    const { documentType, document, address } = result.recipient;
    expect([documentType, document, address.organization]).toEqual([null, null, '']);
  });

  test('contains no null for a missing field', async () => {
    const nulls = { ...recipient, document: null };
    const { posted } = await throughAndBack({ recipient: nulls });
    expect(posted).toEqual({ ...order, recipient: nulls });
  });

  test('contains no null for a variable without a value', async () => {
    const document = `mutation ($status: OrderInitialStatus, $document: String, $referenceId: String, $key: String) {
      createOrder(input: {
        recipient: {
          firstName: "Inés", lastName: "Ruiz", email: "ines.ruiz@example.com", phoneNumber: "+573001112233"
          address: { addressLines: ["Circular 4 # 70-28", "Apto 502"] }, document: $document
          location: "antioquia-medellin-laureles"
        }
        contentDescription: "Café de Huila", notes: "Dejar en portería"
        sellingPriceCents: 11670000, cashOnDeliveryRequestCents: 5000000
        status: $status, referenceId: $referenceId, idempotencyKey: $key
      }) { __typename }
    }`;
    const answer = await waybill.ask(document, {});
    expect(answer).toEqual(answered({ __typename: 'CreateOrderSuccess' }, [post]));
    expect(bodies()).toEqual([order]);
  });
});

describe('the strings of createOrder', () => {
  test.each([
    ['compound emoji', '👩🏽‍🚀 🏳️‍🌈 🇨🇴 1️⃣'],
    ['right-to-left text', 'קפה بُنّ ‏12‏ \u202Eabc\u202C'],
    ['composed characters', 'Café Ñandú'.normalize('NFC')],
    ['decomposed characters', 'Café Ñandú'.normalize('NFD')],
    [
      'quotes, markup, line breaks and invisible characters',
      ' "a" \\n \n\t\u00A0\u200B\uFEFF <b>&amp;</b> \u2028{{1}} ',
    ],
    ['a null character', 'a\0b'],
  ])('are sent and returned unchanged: %s', async (_what, text) => {
    const fields = {
      recipient: {
        ...recipient,
        firstName: text,
        lastName: text,
        document: text,
        address: { addressLines: [text, text], organization: text },
      },
      contentDescription: text,
      notes: text,
      paymentMethods: [text],
      referenceId: text,
    };
    const { answered: result, posted } = await throughAndBack(fields);
    expect(posted).toEqual({ ...order, ...fields });
    const { firstName, lastName, document, address } = result.recipient;
    expect([firstName, lastName, document, address.organization, ...address.addressLines]).toEqual(
      Array(6).fill(text),
    );
    const { contentDescription, notes, paymentMethods, referenceId } = result;
    expect([contentDescription, notes, paymentMethods, referenceId]).toEqual([text, text, [text], text]);
  });
});

describe('the amounts of createOrder', () => {
  test.each([
    ['the largest safe integer', largest, largest],
    ['the smallest safe integer', -largest, 0],
    ['an integer beyond 32 bits', 2_147_483_648, 2_147_483_648],
  ])(
    'are sent and returned without rounding: %s',
    async (_what, sellingPriceCents, cashOnDeliveryRequestCents) => {
      const amounts = { sellingPriceCents, cashOnDeliveryRequestCents };
      const { answered: result, posted } = await throughAndBack(amounts);
      expect(posted).toEqual({ ...order, ...amounts });
      expect([result.sellingPrice.cents, result.cashOnDelivery.cents]).toEqual([
        sellingPriceCents,
        cashOnDeliveryRequestCents,
      ]);
    },
  );
});
