import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readConfig } from '../../../src/config/config.ts';
import { createLoaders } from '../../../src/loaders/loaders.ts';
import { createLoaderStates } from '../../../src/loaders/tenant-state.ts';
import type { Fault } from '../../../src/sandbox/sandbox.ts';
import { createIdempotency } from '../../../src/writes/idempotency.ts';
import { createWrites } from '../../../src/writes/writes.ts';
import {
  CreateQuoteDocument,
  type CreateQuoteInput,
  CreateShipmentDocument,
  type CreateShipmentInput,
  CreateWholeShipmentDocument,
  ShipBetweenQuotesDocument,
} from '../../documents.generated.ts';
import { createGathering } from '../../fixtures/gathering.ts';
import { learnMerchants, organizationCall, otherInputMessage } from '../../fixtures/known-merchant.ts';
import { memoryStore } from '../../fixtures/memory-store.ts';
import { answerJson, startRestClient } from '../../fixtures/rest-service.ts';
import { type Answer, startWaybill, type Waybill } from '../../harness.ts';

const loading = readConfig({});

const raise = (error: unknown) => {
  throw error;
};

const recipient = {
  firstName: 'Lucía',
  lastName: 'Ñáñez Peñalosa',
  email: 'lucia.nanez@example.com',
  phoneNumber: '+573104567890',
  address: { addressLines: ['Circular 4 # 70-28', 'Apto 502'] },
};
/** Of an order that is not shipped yet; what does so starts a sandbox of its own. */
const ofOrder = {
  quote: 'quotes/ca2151',
  courier: 'couriers/condor-veloz',
  origin: 'origins/ca1',
  recipient,
  requiresPickup: true,
};
/** Its package; without an order, a quote for it can be shipped any number of times. */
const quoteInput: CreateQuoteInput = {
  origin: 'locations/bogota-dc-puente-aranda',
  destination: 'locations/antioquia-medellin-laureles',
  package: {
    declaredValueCents: 9_800_000,
    dimensions: { lengthCm: 20, widthCm: 15, heightCm: 10 },
    weightKg: 1,
    contentDescription: 'Café de Huila, en grano 340 g',
  },
};

const { gather, intercept } = createGathering();
let waybill: Waybill;
let input: CreateShipmentInput & { quote: string };
beforeAll(async () => {
  // A search counts at once.
  waybill = await startWaybill({}, { processingMs: 0, intercept });
  const { first, second } = waybill.sandbox.tokens;
  input = { ...ofOrder };
  await learnMerchants(waybill, first, second);
});
afterEach(() => waybill.sandbox.faults.clear());
afterAll(() => waybill[Symbol.asyncDispose]());

/** The id of a new quote. */
async function quoteFor(wish: CreateQuoteInput, bearer: string): Promise<string> {
  const { data } = await waybill.ask(CreateQuoteDocument, { input: wish }, bearer);
  if (data.createQuote.__typename === 'CreateQuoteSuccess') return data.createQuote.quote.id;
  throw new Error(data.createQuote.message);
}

/** The fields of a request with a key, for a quote of its own: all keys together accept a quote once. */
async function keyed(idempotencyKey: string) {
  return { idempotencyKey, quote: await quoteFor(quoteInput, waybill.sandbox.tokens.first) };
}

const post = 'POST /v1/shipments';
const search = 'GET /v1/shipments?pageSize=1000';
const read = (id: string) => `GET /v1/${id}`;
/** The calls for a quote without an order. */
const posted = ({ quote }: { quote: string }) => [read(quote), post];
const success = {
  __typename: 'CreateShipmentSuccess',
  shipment: { id: expect.stringMatching(/^shipments\/ca\d{4}$/) },
};
const unknown = (idempotencyKey: string | null, quote = input.quote) => ({
  __typename: 'OutcomeUnknown',
  message:
    'The response of the REST service was lost, so the write may or may not have happened. Check the field "shipment" of the order ' +
    `of ${quote}. If the quote has no order, look for a shipment of this quote among the newest shipments. If you find ` +
    'no shipment, ship again with a new idempotencyKey.',
  idempotencyKey,
});

/** The success in an answer. @throws if it is another member of the result. */
function created({ data }: Awaited<ReturnType<typeof ask>>) {
  if (data.createShipment.__typename === 'CreateShipmentSuccess') return data.createShipment;
  throw new Error(JSON.stringify(data));
}

/** Sends a request, by default for a new quote: a quote is accepted once. */
async function ask(fields: Partial<CreateShipmentInput> = {}, bearer?: string) {
  if (fields.quote === undefined)
    input = { ...input, quote: await quoteFor(quoteInput, waybill.sandbox.tokens.first) };
  return waybill.ask(CreateShipmentDocument, { input: { ...input, ...fields } }, bearer);
}
const fail = (fault: Fault) =>
  waybill.sandbox.faults.add({ method: 'POST', path: '/v1/shipments', ...fault });
const bodies = ({ sandbox }: Waybill) => sandbox.requests.entries().map(({ body }) => body);

/** The answer of a write that went through the graph without an error of its field. */
const answered = (result: object, calls: string[]) => ({
  status: 200,
  data: { createShipment: result },
  errors: undefined,
  calls,
});
const refused = (...fields: [path: string, message: string][]) => ({
  __typename: 'InvalidInput',
  message: `The input is invalid, and nothing was written: ${fields.map((field) => field.join(' ')).join('; ')}.`,
  fields: fields.map(([path, message]) => ({ path, message })),
});

/** What a client is told, but for the place of an error in the document. */
function told({ status, data, errors, calls }: Answer<unknown>) {
  const messages = errors?.map(({ message, path, extensions }) => ({ message, path, ...extensions }));
  return { status, data, calls, errors: messages };
}

describe('createShipment', () => {
  test.each([
    ['full ids', {}],
    ['bare identifiers', { quote: 'ca2151', courier: 'condor-veloz', origin: 'ca1' }],
  ])('creates a shipment with its label if the input has %s', async (_what, ids) => {
    await using fresh = await startWaybill();
    await learnMerchants(fresh, fresh.sandbox.tokens.first);
    const answer = await fresh.ask(CreateWholeShipmentDocument, { input: { ...ofOrder, ...ids } });
    const cop = (cents: number) => ({ cents, currency: 'COP' });
    const shipment = {
      id: 'shipments/ca2048',
      createTime: '2026-11-02T14:00:00.000Z',
      updateTime: '2026-11-02T14:00:00.000Z',
      status: 'LABEL_GENERATED',
      quote: { id: 'quotes/ca2151' },
      courier: { id: 'couriers/condor-veloz' },
      origin: { id: 'origins/ca1' },
      recipient: {
        ...recipient,
        documentType: null,
        document: null,
        address: { ...recipient.address, locality: 'Medellín (Laureles)', organization: '' },
      },
      requiresPickup: true,
      shipmentCost: cop(1_430_000),
      cashOnDeliveryCost: cop(350_000),
      totalCost: cop(1_780_000),
      label: {
        id: 'labels/ca2048',
        // The sandbox signs with a secret of its own; the time is 120 hours from now.
        url: expect.stringMatching(
          /^http:\/\/127[^?]+\/ca2048\.pdf\?expires=1794060000&signature=[\w-]{22}$/,
        ),
        pdfUrl: 'http://waybill.test/labels/ca2048.pdf',
      },
    };
    const calls = [read(ofOrder.quote), read('orders/ca2496'), post];
    expect(answer).toEqual(answered({ __typename: 'CreateShipmentSuccess', shipment }, calls));
    expect(bodies(fresh)[2]).toEqual(ofOrder);
  });

  test('sends the recipient unchanged, including null fields', async () => {
    const person = {
      ...recipient,
      documentType: null,
      document: null,
      address: { ...recipient.address, organization: null },
    };
    const fields = await keyed('nulls');
    const answer = await ask({ ...fields, recipient: person, requiresPickup: false });
    expect(answer).toEqual(answered(success, posted(fields)));
    const { quote } = fields;
    expect(bodies(waybill)[1]).toEqual({ ...input, quote, recipient: person, requiresPickup: false });
  });

  test('sends the document and the organization of the recipient', async () => {
    const person = {
      ...recipient,
      documentType: 'CE' as const,
      document: '4711',
      address: { ...recipient.address, organization: 'Tostadora Laureles' },
    };
    expect(await ask({ recipient: person })).toEqual(answered(success, posted(input)));
    expect(bodies(waybill)[1]).toEqual({ ...input, recipient: person });
  });
});

describe('a read after createShipment in the same request', () => {
  const before = { quote: { order: { id: 'orders/ca2496', status: 'NEW', shipment: null } } };
  const shipped = { id: 'orders/ca2496', status: 'READY' };
  const variables = { quoteInput: { ...quoteInput, order: 'ca2496' }, shipmentInput: ofOrder };

  test('returns the order with the new shipment', async () => {
    await using fresh = await startWaybill();
    await learnMerchants(fresh, fresh.sandbox.tokens.first);
    const { data, errors, calls } = await fresh.ask(ShipBetweenQuotesDocument, variables);
    const order = { ...shipped, shipment: { id: 'shipments/ca2048', status: 'LABEL_GENERATED' } };
    expect([data, errors]).toEqual([
      {
        before,
        createShipment: { __typename: 'CreateShipmentSuccess', shipment: { order } },
        after: { quote: { order } },
      },
      undefined,
    ]);
    expect(calls).toEqual([
      'POST /v1/quotes',
      'GET /v1/orders/ca2496',
      'GET /v1/quotes/ca2151',
      'GET /v1/orders/ca2496',
      post,
      'GET /v1/orders/ca2496',
      'POST /v1/quotes',
    ]);
  });

  test('returns the order with the new shipment even after OutcomeUnknown', async () => {
    await using fresh = await startWaybill();
    await learnMerchants(fresh, fresh.sandbox.tokens.first);
    fresh.sandbox.faults.add({ method: 'POST', path: '/v1/shipments', kind: 'applied-then-cut' });
    const { data, errors, calls } = await fresh.ask(ShipBetweenQuotesDocument, variables);
    const order = { ...shipped, shipment: { id: 'shipments/ca2048', status: 'LABEL_GENERATED' } };
    expect([data, errors]).toEqual([
      { before, createShipment: { __typename: 'OutcomeUnknown' }, after: { quote: { order } } },
      undefined,
    ]);
    expect(calls).toEqual([
      'POST /v1/quotes',
      'GET /v1/orders/ca2496',
      'GET /v1/quotes/ca2151',
      'GET /v1/orders/ca2496',
      post,
      'POST /v1/quotes',
      'GET /v1/orders/ca2496',
      'GET /v1/shipments/ca2048',
    ]);
  });

  // No mutation leads to these; the loaders must not remember them all the same.
  test('costs new calls for the list of shipments and the organization', async () => {
    const listed = { shipments: [], name: 'organization/1' };
    const readQuote = read(ofOrder.quote);
    await using rest = await startRestClient((request, response, body) => {
      const isQuote = `${request.method} ${request.url}` === readQuote;
      const answer = isQuote ? { name: ofOrder.quote } : listed;
      const json = request.method === 'POST' ? { name: 'shipments/1', status: 'LABEL_GENERATED' } : answer;
      return answerJson(json)(request, response, body);
    });
    const loaders = createLoaders(rest.api, rest.callContext(), createLoaderStates(loading));
    const merchants = { of: async () => 'of this test', forget: () => {} };
    const idempotency = createIdempotency({ store: memoryStore, merchants, report: raise });
    const writes = createWrites({ api: rest.api, callContext: rest.callContext(), loaders, idempotency });
    const readBoth = async () => {
      await loaders.shipmentPage.load({ pageSize: 1 });
      await loaders.organization.load('mine');
    };
    await readBoth();
    await readBoth();
    await writes.createShipment(ofOrder, null);
    await readBoth();
    const reads = ['GET /v1/shipments?pageSize=1', 'GET /v1/organizations/mine'];
    expect(rest.service.lines()).toEqual([...reads, readQuote, post, ...reads]);
  });
});

describe('the input of createShipment', () => {
  const notOf = (collection: string, given: string) =>
    `must be an id of the form "${collection}/<identifier>" or a bare identifier, but is "${given}"`;

  test.each<[string, Partial<CreateShipmentInput>, [path: string, message: string]]>([
    ['an order id as the quote', { quote: 'orders/ca2496' }, ['quote', notOf('quotes', 'orders/ca2496')]],
    ['an empty courier', { courier: '' }, ['courier', notOf('couriers', '')]],
    [
      'a location id as the origin',
      { origin: 'locations/huila-pitalito' },
      ['origin', notOf('origins', 'locations/huila-pitalito')],
    ],
    [
      'the document type UNRECOGNIZED',
      { recipient: { ...recipient, documentType: 'UNRECOGNIZED' } },
      ['recipient.documentType', 'must be one of CC, CE, NI and TI: UNRECOGNIZED is for output only'],
    ],
    [
      'an empty idempotency key',
      { idempotencyKey: '' },
      ['idempotencyKey', 'must be 1 to 255 characters long, but has 0'],
    ],
    [
      'an idempotency key of 256 characters',
      { idempotencyKey: 'k'.repeat(256) },
      ['idempotencyKey', 'must be 1 to 255 characters long, but has 256'],
    ],
  ])('is rejected without a call if it has %s', async (_what, fields, fault) => {
    expect(await ask(fields)).toEqual(answered(refused(fault), []));
  });

  test('is rejected with the errors of all invalid fields', async () => {
    const answer = await ask({
      quote: 'shipments/ca2036',
      courier: 'a/courier',
      origin: '..',
      recipient: { ...recipient, documentType: 'UNRECOGNIZED' },
      idempotencyKey: '',
    });
    const faults = refused(
      ['quote', notOf('quotes', 'shipments/ca2036')],
      ['courier', notOf('couriers', 'a/courier')],
      ['origin', notOf('origins', '..')],
      ['recipient.documentType', 'must be one of CC, CE, NI and TI: UNRECOGNIZED is for output only'],
      ['idempotencyKey', 'must be 1 to 255 characters long, but has 0'],
    );
    expect(answer).toEqual(answered(faults, []));
  });

  test('is rejected by GraphQL if a required field is null', async () => {
    const document = `mutation {
      createShipment(input: {
        quote: "ca2151", courier: "condor-veloz", origin: "ca1", requiresPickup: null
        recipient: { firstName: "L", lastName: "Ñ", email: "l@n", phoneNumber: "3", address: { addressLines: [] } }
      }) { __typename }
    }`;
    const { data, errors, calls } = await waybill.ask(document);
    expect([data, errors?.map(({ extensions }) => extensions)]).toEqual([
      undefined,
      [{ code: 'GRAPHQL_VALIDATION_FAILED', retryable: false }],
    ]);
    expect(calls).toEqual([]);
  });

  test('can have an idempotency key of 255 characters', async () => {
    const fields = await keyed('🔑'.repeat(255));
    expect(await ask(fields)).toEqual(answered(success, posted(fields)));
  });
});

describe('a 4xx response to POST /v1/shipments', () => {
  /** InvalidInput in the words of the sandbox. */
  const invalid = (...fields: [path: string, message: string][]) => ({
    __typename: 'InvalidInput',
    message: `The request is invalid: ${fields.map((field) => field.join(' ')).join('; ')}`,
    fields: fields.map(([path, message]) => ({ path, message })),
  });

  test('becomes InvalidInput with the input path of each rejected field', async () => {
    const answer = await ask({ courier: 'mula-express', origin: 'ca2' });
    const { quote } = input;
    const from = 'locations/bogota-dc-puente-aranda';
    const result = invalid(
      ['courier', `has no offer with the status SUCCESS in ${quote}`],
      ['origin', `is at locations/antioquia-medellin-guayabal, but ${quote} has the origin ${from}`],
    );
    expect(answer).toEqual(answered(result, posted(input)));
  });

  test('becomes InvalidInput if the courier has no available offer', async () => {
    const result = invalid(['courier', 'has no offer with the status SUCCESS in quotes/ca2130']);
    const { data, calls } = await ask({ quote: 'ca2130', courier: 'rutandina' });
    expect(data).toEqual({ createShipment: result });
    expect(calls.at(-1)).toBe(post);
  });

  test.each<[string, unknown, object]>([
    [
      'contains fieldViolations',
      {
        error: {
          message: 'Bad.',
          details: [{ fieldViolations: [{ field: 'recipient.phone_number', description: 'is no number' }] }],
        },
      },
      { message: 'Bad.', fields: [{ path: 'recipient.phoneNumber', message: 'is no number' }] },
    ],
    [
      'contains JSON pointers',
      {
        message: 'Bad.',
        errors: [
          { pointer: '#/requiresPickup', detail: 'is not offered' },
          { pointer: '#/tariff', detail: 'is missing' },
        ],
      },
      {
        message: 'Bad.',
        fields: [
          { path: 'requiresPickup', message: 'is not offered' },
          { path: '', message: 'tariff is missing' },
        ],
      },
    ],
    ['is not JSON', '<h1>Bad Request</h1>', { message: 'POST /v1/shipments returned 400.', fields: [] }],
  ])('becomes InvalidInput if the body %s', async (_what, body, result) => {
    fail({ kind: 'status', status: 400, body });
    expect(await ask()).toEqual(answered({ __typename: 'InvalidInput', ...result }, posted(input)));
  });

  test('becomes NotFound with the id of the quote if the status is 404', async () => {
    fail({ kind: 'status', status: 404, body: { error: { message: 'The quote is gone.' } } });
    const answer = await ask();
    const result = { __typename: 'NotFound', message: 'The quote is gone.', missingId: input.quote };
    expect(answer).toEqual(answered(result, [...posted(input), search]));
  });

  test('becomes Conflict if the status is 409 and the body is empty', async () => {
    fail({ kind: 'status', status: 409 });
    const message = 'POST /v1/shipments returned 409.';
    expect(await ask()).toEqual(answered({ __typename: 'Conflict', message }, [...posted(input), search]));
  });
});

describe('createShipment sends no POST', () => {
  test('if the quote belongs to another merchant', async () => {
    const message = 'quotes/st0200 does not exist. Check the id.';
    const result = { __typename: 'NotFound', message, missingId: 'quotes/st0200' };
    expect(await ask({ quote: 'st0200' })).toEqual(answered(result, [read('quotes/st0200')]));
  });

  test('if the order of the quote is already shipped', async () => {
    const message =
      'orders/ca2481 is already shipped as shipments/ca2036. No new shipment was created. Read shipment(id: "shipments/ca2036").';
    expect(await ask({ quote: 'quotes/ca2139' })).toEqual(
      answered({ __typename: 'Conflict', message }, [read('quotes/ca2139'), read('orders/ca2481')]),
    );
  });
});

describe('the field createShipment', () => {
  // A 401 makes the server forget the merchant.
  beforeEach(() => learnMerchants(waybill, waybill.sandbox.tokens.first));

  test.each<[string, Fault, object]>([
    [
      '401',
      { kind: 'status', status: 401 },
      { message: `${post} returned 401`, code: 'UNAUTHENTICATED', retryable: false, upstreamStatus: 401 },
    ],
    [
      '403',
      { kind: 'status', status: 403 },
      { message: `${post} returned 403`, code: 'FORBIDDEN', retryable: false, upstreamStatus: 403 },
    ],
    [
      '429 with Retry-After',
      { kind: 'status', status: 429, headers: { 'retry-after': '3' } },
      {
        message: `${post} returned 429`,
        code: 'RATE_LIMITED',
        retryable: true,
        retryAfterMs: 3000,
        upstreamStatus: 429,
      },
    ],
    [
      '500',
      { kind: 'status', status: 500 },
      { message: `${post} returned 500`, code: 'UPSTREAM_ERROR', retryable: false, upstreamStatus: 500 },
    ],
    [
      '503',
      { kind: 'status', status: 503 },
      {
        message: `${post} returned 503`,
        code: 'UPSTREAM_UNAVAILABLE',
        retryable: false,
        upstreamStatus: 503,
      },
    ],
  ])('fails after one POST if the REST service returns %s', async (_what, fault, error) => {
    fail(fault);
    expect(told(await ask())).toEqual({
      status: 200,
      data: { createShipment: null },
      errors: [{ path: ['createShipment'], ...error }],
      calls: posted(input),
    });
  });
});

describe('createShipment without a response from the REST service', () => {
  test.each<Fault>([
    { kind: 'applied-then-cut' },
    { kind: 'reset' },
    { kind: 'reset-in-body' },
    { kind: 'short' },
  ])('returns OutcomeUnknown after one POST for the fault "$kind"', async (fault) => {
    fail(fault);
    expect(await ask()).toEqual(answered(unknown(null), posted(input)));
  });

  test('returns OutcomeUnknown after UPSTREAM_TIMEOUT_MS', async () => {
    await using impatient = await startWaybill({ UPSTREAM_TIMEOUT_MS: '2000' }, { sandbox: waybill.sandbox });
    await learnMerchants(impatient, waybill.sandbox.tokens.first);
    fail({ kind: 'hang' });
    const fields = await keyed('late');
    const variables = { input: { ...input, ...fields } };
    const answer = await impatient.ask(CreateShipmentDocument, variables);
    expect(answer).toEqual(answered(unknown('late', fields.quote), posted(fields)));
  });

  test('returns OutcomeUnknown again without a call on a retry with the same key', async () => {
    await using fresh = await startWaybill();
    const { faults } = fresh.sandbox;
    faults.add({ method: 'POST', path: '/v1/shipments', kind: 'applied-then-cut', times: 1 });
    const send = (idempotencyKey: string) =>
      fresh.ask(CreateShipmentDocument, { input: { ...ofOrder, idempotencyKey } });
    const calls = [organizationCall, read(ofOrder.quote), read('orders/ca2496'), post];
    expect(await send('cut')).toEqual(answered(unknown('cut', ofOrder.quote), calls));
    expect(await send('cut')).toEqual(answered(unknown('cut', ofOrder.quote), []));
    const { data } = await fresh.ask('{ quote(id: "ca2151") { order { shipment { id } } } }');
    expect(data).toEqual({ quote: { order: { shipment: { id: 'shipments/ca2048' } } } });
    const message =
      'orders/ca2496 is already shipped as shipments/ca2048. No new shipment was created. Read shipment(id: "shipments/ca2048").';
    expect(await send('cut, then anew')).toEqual(
      answered({ __typename: 'Conflict', message }, [read(ofOrder.quote), read('orders/ca2496')]),
    );
  });
});

test.each([
  ['a quote with an order', 'quotes/ca2151', [read('quotes/ca2151'), read('orders/ca2496')]],
  ['a quote without an order', 'quotes/ca2154', [read('quotes/ca2154')]],
])('createShipment with a second key returns Conflict with the shipment: %s', async (_what, quote, reads) => {
  await using fresh = await startWaybill();
  const { first } = fresh.sandbox.tokens;
  await learnMerchants(fresh, first);
  expect((await fresh.ask(CreateQuoteDocument, { input: quoteInput })).data.createQuote).toEqual({
    __typename: 'CreateQuoteSuccess',
    quote: { id: 'quotes/ca2154' },
  });
  const document = `mutation ($input: CreateShipmentInput!) {
    createShipment(input: $input) {
      __typename
      ... on CreateShipmentSuccess { created: shipment { ...Details } }
      ... on Conflict { reason conflicting: shipment { ...Details } }
    }
  }
  fragment Details on Shipment { id status courier { id } totalCost { cents } recipient { firstName } }`;
  const send = (idempotencyKey: string) =>
    fresh.ask<{ createShipment: { created: object } }, object>(document, {
      input: { ...ofOrder, quote, idempotencyKey },
    });
  const { data, calls } = await send('first');
  const { created } = data.createShipment;
  expect([created, calls]).toEqual([
    {
      id: 'shipments/ca2048',
      status: 'LABEL_GENERATED',
      courier: { id: 'couriers/condor-veloz' },
      totalCost: { cents: expect.any(Number) },
      recipient: { firstName: 'Lucía' },
    },
    [...reads, post],
  ]);
  expect(await send('second')).toEqual(
    answered({ __typename: 'Conflict', reason: 'ALREADY_SHIPPED', conflicting: created }, [
      ...reads,
      read('shipments/ca2048'),
    ]),
  );
});

test('createShipment leaves its key free if the read of the order fails', async () => {
  await using fresh = await startWaybill();
  const { faults } = fresh.sandbox;
  faults.add({ kind: 'cut-json', path: '/v1/orders/ca2496', times: 1 });
  const send = () =>
    fresh.ask(CreateShipmentDocument, { input: { ...ofOrder, idempotencyKey: 'read again' } });
  expect((await send()).errors?.[0]?.extensions.code).toBe('UPSTREAM_INVALID_RESPONSE');
  expect((await send()).data.createShipment.__typename).toBe('CreateShipmentSuccess');
});

describe('the idempotencyKey of createShipment', () => {
  test('returns the same shipment for full ids and bare identifiers', async () => {
    const fields = await keyed('twice');
    const first = await ask(fields);
    expect(first).toEqual(answered(success, posted(fields)));
    const { shipment } = created(first);
    expect(await ask({ ...fields, origin: 'ca1' })).toEqual({ ...first, calls: [read(shipment.id)] });
  });

  test('creates one shipment for 20 concurrent requests', async () => {
    const fields = await keyed('at once');
    gather(20);
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(fields)));
    const [first] = answers;
    expect(first?.data).toEqual({ createShipment: success });
    expect(answers.map(({ data }) => data)).toEqual(answers.map(() => first?.data));
    expect(waybill.sandbox.requests.lines()).toEqual(posted(fields));
  });

  test('returns Conflict if the input changes', async () => {
    const fields = await keyed('other input');
    expect(await ask(fields)).toEqual(answered(success, posted(fields)));
    const result = { __typename: 'Conflict', message: otherInputMessage };
    expect(await ask({ ...fields, requiresPickup: false })).toEqual(answered(result, []));
  });

  test('can be the same as a key of createQuote', async () => {
    const quote = await quoteFor({ ...quoteInput, idempotencyKey: 'shared' }, waybill.sandbox.tokens.first);
    expect(await ask({ quote, idempotencyKey: 'shared' })).toEqual(answered(success, posted({ quote })));
  });

  test('can be used by two merchants independently', async () => {
    const { first, second } = waybill.sandbox.tokens;
    const quote = await quoteFor({ ...quoteInput, origin: 'locations/antioquia-itagui' }, second);
    const fields = await keyed('same key');
    expect(await ask(fields, first)).toEqual(answered(success, posted(fields)));
    const shipment = { id: expect.stringMatching(/^shipments\/st\d{4}$/) };
    const answer = await ask({ ...fields, quote, origin: 'st1' }, second);
    expect(answer).toEqual(answered({ ...success, shipment }, posted({ quote })));
  });

  test('has no effect if it is null', async () => {
    const first = await ask({ idempotencyKey: null });
    const { quote } = input;
    const second = await ask({ idempotencyKey: null });
    expect([first, second]).toEqual([answered(success, posted({ quote })), answered(success, posted(input))]);
    expect(second.data).not.toEqual(first.data);
  });

  test.each([
    [400, []],
    [404, [search]],
    [409, [search]],
    [413, []],
    [429, []],
  ])('can be used again after the status %d', async (status, searches) => {
    const fields = await keyed(`free after ${status}`);
    fail({ kind: 'status', status, times: 1 });
    expect((await ask(fields)).calls).toEqual([...posted(fields), ...searches]);
    expect(await ask(fields)).toEqual(answered(success, posted(fields)));
  });

  test.each<[string, Fault]>([
    ['500', { kind: 'status', status: 500 }],
    ['502', { kind: 'status', status: 502 }],
    ['503', { kind: 'status', status: 503 }],
    ['504', { kind: 'status', status: 504 }],
  ])('creates no second shipment after the status %s', async (what, fault) => {
    const fields = await keyed(`kept after ${what}`);
    fail({ ...fault, times: 1 });
    const { data, calls } = await ask(fields);
    expect([data, calls]).toEqual([{ createShipment: null }, posted(fields)]);
    expect(await ask(fields)).toEqual(answered(unknown(fields.idempotencyKey, fields.quote), []));
  });

  test.each<[string, Fault]>([
    ['incomplete JSON', { kind: 'cut-json' }],
    ['an order', { kind: 'change', change: () => ({ name: 'orders/ca2496' }) }],
    ['an array', { kind: 'change', change: () => [] }],
  ])('creates no second shipment if the first response is %s', async (what, fault) => {
    const fields = await keyed(`kept after ${what}`);
    const result = unknown(fields.idempotencyKey, fields.quote);
    fail({ ...fault, times: 1 });
    expect(await ask(fields)).toEqual(answered(result, posted(fields)));
    expect(await ask(fields)).toEqual(answered(result, []));
  });
});
