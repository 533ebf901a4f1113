import { hash } from 'node:crypto';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { order as orderToCreate } from '../../fixtures/order-to-create.ts';
import { parcel } from '../../fixtures/order-to-ship.ts';
import { startSeededSandbox } from '../../fixtures/seeded-sandbox.ts';
import { startWaybill } from '../../harness.ts';

// JSON.parse rounds whole numbers beyond 2^53 - 1, so another order would be read or another amount be written.

const sandbox = await startSeededSandbox();
const waybill = await startWaybill({}, { sandbox });
beforeEach(() => sandbox.requests.clear());
afterEach(() => sandbox.faults.clear());
afterAll(async () => {
  await waybill[Symbol.asyncDispose]();
  await sandbox.close();
});

const headers = { 'content-type': 'application/json', authorization: `Bearer ${sandbox.tokens.first}` };

async function answerOf(response: Response | Promise<Response>) {
  const { status, ...rest } = await Promise.resolve(response).then(async (answer) => ({
    status: answer.status,
    ...((await answer.json()) as { data?: unknown; errors?: { message: string; extensions: object }[] }),
  }));
  return { status, ...rest, calls: sandbox.requests.lines() };
}

/** Sends variables as JSON text, whose numbers JSON.stringify could not write. */
const post = (query: string, variables: string) =>
  answerOf(
    waybill.fetch('/graphql', {
      method: 'POST',
      headers,
      body: `{"query":${JSON.stringify(query)},"variables":${variables}}`,
    }),
  );

const get = (parameters: Record<string, string>) =>
  answerOf(waybill.fetch(`/graphql?${new URLSearchParams(parameters)}`, { headers }));

const refused = (...messages: string[]) => ({
  status: 400,
  errors: messages.map((message) => ({
    message: expect.stringContaining(message),
    extensions: { code: 'BAD_USER_INPUT', retryable: false },
  })),
  calls: [],
});

const byId = 'query ($id: ID!) { order(id: $id) { id } }';
const asText = 'Send an id with so many digits as a string.';
const large = [
  '1234567890123456789',
  '-9007199254740993',
  '9007199254740992',
  '1e21',
  '12345678901234567890.5',
];

describe('an id in variables', () => {
  test.each(large)('is refused without a call if it is the number %s', async (id) => {
    expect(await post(byId, `{"id":${id}}`)).toMatchObject(refused(asText));
    expect(await get({ query: byId, variables: `{"id":${id}}` })).toMatchObject(refused(asText));
  });

  test.each(large)('is refused without a call if it is in a list: %s', async (id) => {
    const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';
    expect(await post(query, `{"ids":["orders/ca2481",${id}]}`)).toMatchObject(refused(asText));
  });

  test.each([
    ['shipOrder', 'ShipOrderInput', { package: parcel }, 'order'],
    ['updateOrder', 'UpdateOrderInput', { notes: 'Dejar en portería' }, 'id'],
    ['createShipment', 'CreateShipmentInput', {}, 'quote'],
  ])('of a mutation is refused without a call: %s', async (field, type, fields, id) => {
    const query = `mutation ($input: ${type}!) { ${field}(input: $input) { __typename } }`;
    const input = JSON.stringify({ ...fields, [id]: 'digits' }).replace('"digits"', '1234567890123456789');
    const { status, errors, calls } = await post(query, `{"input":${input}}`);
    expect([status, calls]).toEqual([400, []]);
    expect(errors?.map(({ message }) => message).join()).toContain(asText);
  });

  test('is read with all digits if it is a string, or a number up to 2^53 - 1', async () => {
    for (const [id, digits] of [
      ['"1234567890123456789"', '1234567890123456789'],
      ['9007199254740991', '9007199254740991'],
      ['7', '7'],
    ]) {
      sandbox.requests.clear();
      expect(await post(byId, `{"id":${id}}`)).toEqual({
        status: 200,
        data: { order: null },
        calls: [`GET /v1/orders/${digits}`],
      });
    }
  });
});

describe('an id in a document', () => {
  test.each(['1234567890123456789', '9007199254740993', '100000000000000000000000'])(
    'keeps its digits: %s',
    async (id) => {
      const read = { status: 200, data: { order: null }, calls: [`GET /v1/orders/${id}`] };
      expect(await post(`{ order(id: ${id}) { id } }`, '{}')).toEqual(read);
      sandbox.requests.clear();
      expect(await post(`query ($id: ID! = ${id}) { order(id: $id) { id } }`, '{}')).toEqual(read);
    },
  );
});

test('a number in the variables of a persisted query is refused without a call', async () => {
  const sha256Hash = hash('sha256', byId);
  const extensions = JSON.stringify({ persistedQuery: { version: 1, sha256Hash } });
  await get({ query: byId, extensions, variables: '{"id":"ca2481"}' });
  sandbox.requests.clear();
  const variables = '{"id":1234567890123456789}';
  expect(await get({ extensions, variables })).toMatchObject(refused(asText));
  const body = `{"extensions":${extensions},"variables":${variables}}`;
  const answer = await answerOf(waybill.fetch('/graphql', { method: 'POST', headers, body }));
  expect(answer).toMatchObject(refused(asText));
});

const createOrder = 'mutation ($input: CreateOrderInput!) { createOrder(input: $input) { __typename } }';
const createQuote = 'mutation ($input: CreateQuoteInput!) { createQuote(input: $input) { __typename } }';
const quoteInput = {
  origin: 'locations/antioquia-medellin-laureles',
  destination: 'locations/antioquia-medellin-laureles',
  package: parcel,
  cashOnDeliveryRequestCents: 0,
};
const withNumber = (input: object, field: string, number: string) =>
  `{"input":${JSON.stringify(input).replace(new RegExp(`"${field}":[\\d.]+`), `"${field}":${number}`)}}`;

describe('an amount', () => {
  test.each(['9007199254740993', '-9007199254740993', '1e21', '1e400', '0.5'])(
    'in variables is refused without a call: %s',
    async (cents) => {
      const variables = withNumber(orderToCreate, 'sellingPriceCents', cents);
      expect(await post(createOrder, variables)).toMatchObject(
        refused('Expected a whole number of cents between -(2^53 - 1) and 2^53 - 1'),
      );
    },
  );

  test.each(['9007199254740993', '-9007199254740993', '100000000000000000000'])(
    'in a document is refused without a call: %s',
    async (cents) => {
      const input = withNumber(orderToCreate, 'sellingPriceCents', cents).slice('{"input":'.length, -1);
      const literal = input.replace(/"(\w+)":/g, '$1:');
      const answer = await post(`mutation { createOrder(input: ${literal}) { __typename } }`, '{}');
      expect([answer.data, answer.calls]).toEqual([undefined, []]);
      expect(answer.errors?.[0]?.message).toContain('Expected a whole number of cents');
    },
  );
});

describe('a number with a fraction', () => {
  test.each(['0.1', '4.35', '9007199254740991'])('is sent unchanged: %s kg', async (weightKg) => {
    await post(createQuote, withNumber(quoteInput, 'weightKg', weightKg));
    const [quote] = sandbox.requests.entries();
    expect(JSON.stringify(quote?.body)).toContain(`"weightKg":${weightKg}`);
  });

  test.each(['9007199254740993', '12345678901234567890.5', '1e21'])(
    'is refused without a call if it loses digits: %s kg',
    async (weightKg) => {
      const variables = withNumber(quoteInput, 'weightKg', weightKg);
      expect(await post(createQuote, variables)).toMatchObject(refused('Send a smaller number.'));
      const literal = variables.slice('{"input":'.length, -1).replace(/"(\w+)":/g, '$1:');
      const answer = await post(`mutation { createQuote(input: ${literal}) { __typename } }`, '{}');
      expect([answer.data, answer.calls]).toEqual([undefined, []]);
      expect(answer.errors?.[0]?.message).toContain('Send a smaller number.');
    },
  );

  test('is refused without a call if it is infinite', async () => {
    const { status, calls } = await post(createQuote, withNumber(quoteInput, 'weightKg', '1e400'));
    expect([status, calls]).toEqual([400, []]);
  });
});

test.each(['9007199254740993', '2147483648', '1e21'])(
  'an Int is refused without a call: %s',
  async (first) => {
    const query = 'query ($first: Int) { orders(first: $first) { nodes { id } } }';
    expect(await post(query, `{"first":${first}}`)).toMatchObject(refused('Int cannot represent'));
  },
);

describe('a number of the REST service', () => {
  test.each([9_007_199_254_740_992, -9_007_199_254_740_992, 1e21])(
    'causes an error at its field if it has lost digits: %d cents',
    async (sellingPriceCents) => {
      waybill.changeAnswer('/v1/orders/ca2481', { sellingPriceCents });
      const { data, errors } = await post('{ order(id: "ca2481") { sellingPrice { cents } } }', '{}');
      expect(data).toEqual({ order: null });
      expect(errors).toMatchObject([
        { path: ['order', 'sellingPrice', 'cents'], extensions: { code: 'UPSTREAM_INVALID_RESPONSE' } },
      ]);
    },
  );

  test.each([9_007_199_254_740_992, -9_007_199_254_740_992, 1e21])(
    'causes an error at its field if it has lost digits: %d kg',
    async (weightKg) => {
      const quote = { name: 'quotes/ca2139', package: { weightKg } };
      waybill.changeAnswer('/v1/quotes/ca2139', quote);
      const { data, errors } = await post('{ quote(id: "ca2139") { package { weightKg } } }', '{}');
      expect(data).toEqual({ quote: { package: { weightKg: null } } });
      expect(errors).toMatchObject([
        { path: ['quote', 'package', 'weightKg'], extensions: { code: 'UPSTREAM_INVALID_RESPONSE' } },
      ]);
    },
  );

  test('keeps a fraction', async () => {
    waybill.changeAnswer('/v1/quotes/ca2139', { package: { weightKg: 0.1 } });
    const { data } = await post('{ quote(id: "ca2139") { package { weightKg } } }', '{}');
    expect(data).toEqual({ quote: { package: { weightKg: 0.1 } } });
  });

  test('causes an error if it stands in place of an id', async () => {
    waybill.changeAnswer('/v1/orders/ca2481', { shipment: 1_234_567_890_123_456_800 });
    const { data, errors } = await post('{ order(id: "ca2481") { shipment { id } } }', '{}');
    expect(data).toEqual({ order: { shipment: null } });
    expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_INVALID_RESPONSE' } }]);
  });
});
