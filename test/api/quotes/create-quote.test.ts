import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Fault } from '../../../src/sandbox/sandbox.ts';
import {
  CreateQuoteDocument,
  type CreateQuoteInput,
  CreateWholeQuoteDocument,
} from '../../documents.generated.ts';
import { createGathering } from '../../fixtures/gathering.ts';
import { learnMerchants, organizationCall } from '../../fixtures/known-merchant.ts';
import { type Answer, startWaybill, type Waybill } from '../../harness.ts';

const { gather, intercept } = createGathering();
let waybill: Waybill;
beforeAll(async () => {
  waybill = await startWaybill({}, { intercept });
  await learnMerchants(waybill, waybill.sandbox.tokens.first);
});
afterEach(() => waybill.sandbox.faults.clear());
afterAll(() => waybill[Symbol.asyncDispose]());

const parcel = {
  declaredValueCents: 11_670_000,
  dimensions: { lengthCm: 30, widthCm: 22.5, heightCm: 15 },
  weightKg: 1.35,
  contentDescription: 'Café de Huila, en grano 340 g',
};
const way = { origin: 'locations/huila-pitalito', destination: 'locations/antioquia-medellin-laureles' };
const input: CreateQuoteInput = { ...way, package: parcel };

const post = 'POST /v1/quotes';
const success = {
  __typename: 'CreateQuoteSuccess',
  quote: { id: expect.stringMatching(/^quotes\/ca\d{4}$/) },
};
const unknown = (idempotencyKey: string | null) => ({
  __typename: 'OutcomeUnknown',
  message:
    'The response of the REST service was lost, so the write may or may not have happened. A quote has no cost and no obligation. ' +
    'Send the request again with a new idempotencyKey.',
  idempotencyKey,
});

const ask = (fields: Partial<CreateQuoteInput> = {}, bearer?: string) =>
  waybill.ask(CreateQuoteDocument, { input: { ...input, ...fields } }, bearer);
const fail = (fault: Fault) => waybill.sandbox.faults.add({ method: 'POST', path: '/v1/quotes', ...fault });
const bodies = ({ sandbox }: Waybill) => sandbox.requests.entries().map(({ body }) => body);

/** The answer of a write that went through the graph without an error of its field. */
const answered = (result: object, calls: string[]) => ({
  status: 200,
  data: { createQuote: result },
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

describe('createQuote', () => {
  test.each([
    ['full ids', { ...way, order: 'orders/ca2496' }],
    [
      'bare identifiers',
      { origin: 'huila-pitalito', destination: 'antioquia-medellin-laureles', order: 'ca2496' },
    ],
  ])('returns all fields of the quote with one call if the input has %s', async (_what, ids) => {
    await using fresh = await startWaybill();
    const answer = await fresh.ask(CreateWholeQuoteDocument, {
      input: { ...ids, package: parcel, cashOnDeliveryRequestCents: 11_670_000 },
    });
    const cop = (cents: number) => ({ cents, currency: 'COP' });
    const offer = (code: string, status: string, costs: [number, number], days: number) => ({
      courier: { id: `couriers/${code}`, code },
      status,
      available: status === 'SUCCESS',
      shipmentCost: cop(costs[0]),
      returnShipmentCost: cop(costs[1]),
      estimatedDeliveryOperatingDays: days,
    });
    expect(answer).toEqual(
      answered(
        {
          __typename: 'CreateQuoteSuccess',
          quote: {
            id: 'quotes/ca2154',
            createTime: '2026-11-02T14:00:00.000Z',
            updateTime: '2026-11-02T14:00:00.000Z',
            order: { id: 'orders/ca2496' },
            origin: { id: 'locations/huila-pitalito' },
            destination: { id: 'locations/antioquia-medellin-laureles' },
            package: {
              declaredValue: cop(11_670_000),
              dimensions: { lengthCm: 30, widthCm: 22.5, heightCm: 15 },
              weightKg: 1.35,
              contentDescription: 'Café de Huila, en grano 340 g',
            },
            cashOnDelivery: cop(11_670_000),
            offers: [
              offer('rutandina', 'SUCCESS', [1_780_000, 1_330_000], 3),
              offer('condor-veloz', 'SUCCESS', [2_180_000, 2_040_000], 1),
              offer('chasqui-carga', 'SUCCESS', [2_065_000, 1_785_000], 4),
              offer('tierra-firme', 'CASH_ON_DELIVERY_NOT_AVAILABLE', [0, 0], 0),
              offer('tres-cordilleras', 'SUCCESS', [1_490_000, 965_000], 3),
            ],
            cheapestOffer: { courier: { code: 'tres-cordilleras' } },
            fastestOffer: { courier: { code: 'condor-veloz' } },
          },
        },
        [post],
      ),
    );
    expect(bodies(fresh)).toEqual([
      { ...way, order: 'orders/ca2496', package: parcel, cashOnDeliveryRequestCents: 11_670_000 },
    ]);
  });

  test('sends only the given fields, without the idempotency key', async () => {
    expect(await ask({ idempotencyKey: 'left-out' })).toEqual(answered(success, [post]));
    expect(bodies(waybill)).toEqual([{ ...way, package: parcel }]);
  });

  test('resolves the order of the new quote with one more call', async () => {
    const document = `mutation ($input: CreateQuoteInput!) {
      createQuote(input: $input) { ... on CreateQuoteSuccess { quote { order { id status } } } }
    }`;
    const { data, errors, calls } = await waybill.ask(document, { input: { ...input, order: 'ca2496' } });
    expect([data, errors]).toEqual([
      { createQuote: { quote: { order: { id: 'orders/ca2496', status: 'NEW' } } } },
      undefined,
    ]);
    expect(calls).toEqual([post, 'GET /v1/orders/ca2496']);
  });

  test('accepts an amount of 0 for cash on delivery', async () => {
    expect(await ask({ cashOnDeliveryRequestCents: 0 })).toEqual(answered(success, [post]));
    expect(bodies(waybill)).toEqual([{ ...way, package: parcel, cashOnDeliveryRequestCents: 0 }]);
  });
});

describe('the input of createQuote', () => {
  const notNull = 'must not be null: omit the field instead';
  const notOf = (collection: string, given: string) =>
    `must be an id of the form "${collection}/<identifier>" or a bare identifier, but is "${given}"`;

  test.each<[string, Partial<CreateQuoteInput>, [path: string, message: string]]>([
    [
      'an origin id instead of a location id',
      { origin: 'origins/ca1' },
      ['origin', notOf('locations', 'origins/ca1')],
    ],
    ['an empty origin', { origin: '' }, ['origin', notOf('locations', '')]],
    [
      'a path traversal as destination',
      { destination: '../orders' },
      ['destination', notOf('locations', '../orders')],
    ],
    ['a quote id as order', { order: 'quotes/ca2151' }, ['order', notOf('orders', 'quotes/ca2151')]],
    [
      'an origin of 97 characters',
      { origin: 'a'.repeat(97 - 'locations/'.length) },
      ['origin', 'must have at most 96 characters in the form "locations/<identifier>", but has 97'],
    ],
    [
      'a negative cash on delivery',
      { cashOnDeliveryRequestCents: -1 },
      ['cashOnDeliveryRequestCents', 'must be at least 0, but is -1'],
    ],
    [
      'a null cash on delivery',
      { cashOnDeliveryRequestCents: null },
      ['cashOnDeliveryRequestCents', notNull],
    ],
    ['a null order', { order: null }, ['order', notNull]],
    [
      'a content description of 2 characters',
      { package: { ...parcel, contentDescription: '☕🫘' } },
      ['package.contentDescription', 'must be 3 to 128 characters long, but has 2'],
    ],
    [
      'a content description of 129 characters',
      { package: { ...parcel, contentDescription: 'x'.repeat(129) } },
      ['package.contentDescription', 'must be 3 to 128 characters long, but has 129'],
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
      origin: 'origins/ca1',
      destination: 'couriers/rutandina',
      package: { ...parcel, contentDescription: '' },
      cashOnDeliveryRequestCents: -100,
      order: null,
      idempotencyKey: '',
    });
    const faults = refused(
      ['origin', notOf('locations', 'origins/ca1')],
      ['destination', notOf('locations', 'couriers/rutandina')],
      ['package.contentDescription', 'must be 3 to 128 characters long, but has 0'],
      ['cashOnDeliveryRequestCents', 'must be at least 0, but is -100'],
      ['order', notNull],
      ['idempotencyKey', 'must be 1 to 255 characters long, but has 0'],
    );
    expect(answer).toEqual(answered(faults, []));
  });

  test('is sent if all values are at their limits', async () => {
    const answer = await ask({
      origin: 'a'.repeat(96 - 'locations/'.length),
      package: { ...parcel, contentDescription: '🫘'.repeat(128) },
      idempotencyKey: 'k'.repeat(255),
    });
    expect(answer.calls).toEqual([post]);
  });
});

describe('an error response to POST /v1/quotes', () => {
  test('becomes InvalidInput with the paths of the input fields', async () => {
    const answer = await ask({
      package: { ...parcel, weightKg: 0, dimensions: { lengthCm: 30, widthCm: -1, heightCm: 15 } },
    });
    const result = {
      __typename: 'InvalidInput',
      message:
        'The request is invalid: package.dimensions.widthCm must be more than 0; package.weightKg must be more than 0',
      fields: [
        { path: 'package.dimensions.widthCm', message: 'must be more than 0' },
        { path: 'package.weightKg', message: 'must be more than 0' },
      ],
    };
    expect(answer).toEqual(answered(result, [post]));
  });

  test('becomes InvalidInput with the path of each unknown id', async () => {
    const result = {
      __typename: 'InvalidInput',
      message:
        'The request is invalid: origin refers to an unknown location: locations/atlantis; order refers to an ' +
        'unknown order: orders/st0200',
      fields: [
        { path: 'origin', message: 'refers to an unknown location: locations/atlantis' },
        { path: 'order', message: 'refers to an unknown order: orders/st0200' },
      ],
    };
    expect(await ask({ origin: 'atlantis', order: 'st0200' })).toEqual(answered(result, [post]));
  });

  test.each<[string, unknown, object]>([
    [
      'fieldViolations in `details`',
      {
        error: {
          message: 'Bad.',
          details: [{ fieldViolations: [{ field: 'package.weight_kg', description: 'too heavy' }] }],
        },
      },
      { message: 'Bad.', fields: [{ path: 'package.weightKg', message: 'too heavy' }] },
    ],
    [
      'JSON pointers and an unknown field',
      {
        message: 'Bad.',
        errors: [
          { pointer: '#/destination', detail: 'is too far' },
          { pointer: '#/tariff', detail: 'is missing' },
        ],
      },
      {
        message: 'Bad.',
        fields: [
          { path: 'destination', message: 'is too far' },
          { path: '', message: 'tariff is missing' },
        ],
      },
    ],
    [
      'HTML instead of JSON',
      '<h1>Bad Request</h1>',
      { message: 'POST /v1/quotes returned 400.', fields: [] },
    ],
  ])('becomes InvalidInput if its body has %s', async (_what, body, result) => {
    fail({ kind: 'status', status: 400, body });
    expect(await ask()).toEqual(answered({ __typename: 'InvalidInput', ...result }, [post]));
  });

  test.each([
    ['the order', { order: 'ca2496' }, 'orders/ca2496'],
    ['the origin if the input has no order', { origin: 'huila-pitalito' }, 'locations/huila-pitalito'],
  ])('becomes NotFound for 404 with the id of %s', async (_what, fields, id) => {
    fail({ kind: 'status', status: 404, body: { error: { message: 'No such place.' } } });
    const result = { __typename: 'NotFound', message: 'No such place.', missingId: id };
    expect(await ask(fields)).toEqual(answered(result, [post]));
  });

  test('becomes Conflict for 409', async () => {
    fail({ kind: 'status', status: 409, body: { error: { message: 'The order is shipped already.' } } });
    const result = { __typename: 'Conflict', message: 'The order is shipped already.' };
    expect(await ask()).toEqual(answered(result, [post]));
  });
});

describe('a failed createQuote', () => {
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
  ])('returns a field error after one call if REST returns %s', async (_what, fault, error) => {
    // After 401, a server forgets what it has learned with the token.
    await using fresh = await startWaybill({}, { sandbox: waybill.sandbox });
    fail(fault);
    expect(told(await fresh.ask(CreateQuoteDocument, { input }))).toEqual({
      status: 200,
      data: { createQuote: null },
      errors: [{ path: ['createQuote'], ...error }],
      calls: [post],
    });
  });

  test('returns a field error after one call if REST rejects the token', async () => {
    const { data, errors, calls } = await ask({}, 'no-such-token');
    expect([data, errors?.map(({ extensions }) => extensions)]).toEqual([
      { createQuote: null },
      [{ code: 'UNAUTHENTICATED', retryable: false, upstreamStatus: 401 }],
    ]);
    expect(calls).toEqual([post]);
  });
});

describe('createQuote with a lost response', () => {
  test.each<Fault>([
    { kind: 'applied-then-cut' },
    { kind: 'reset' },
    { kind: 'reset-in-body' },
    { kind: 'short' },
  ])('returns OutcomeUnknown after one call: fault "$kind"', async (fault) => {
    fail(fault);
    expect(await ask()).toEqual(answered(unknown(null), [post]));
  });

  test('returns OutcomeUnknown after UPSTREAM_TIMEOUT_MS', async () => {
    await using impatient = await startWaybill({ UPSTREAM_TIMEOUT_MS: '2000' }, { sandbox: waybill.sandbox });
    fail({ kind: 'hang' });
    await learnMerchants(impatient, impatient.sandbox.tokens.first);
    const answer = await impatient.ask(CreateQuoteDocument, { input: { ...input, idempotencyKey: 'late' } });
    expect(answer).toEqual(answered(unknown('late'), [post]));
  });

  test('returns OutcomeUnknown again without a call on a retry with the same key', async () => {
    fail({ kind: 'applied-then-cut', times: 1 });
    const idempotencyKey = 'cut';
    expect(await ask({ idempotencyKey })).toEqual(answered(unknown(idempotencyKey), [post]));
    expect(await ask({ idempotencyKey })).toEqual(answered(unknown(idempotencyKey), []));
    expect(await ask({ idempotencyKey: 'cut, then anew' })).toEqual(answered(success, [post]));
  });
});

describe('the idempotencyKey of createQuote', () => {
  test('costs an organization call only the first time a token sends a key', async () => {
    await using fresh = await startWaybill({}, { sandbox: waybill.sandbox });
    const costOf = async (fields: Partial<CreateQuoteInput>) =>
      (await fresh.ask(CreateQuoteDocument, { input: { ...input, ...fields } })).calls;
    expect(await costOf({})).toEqual([post]);
    expect(await costOf({ idempotencyKey: 'merchant 1' })).toEqual([organizationCall, post]);
    expect(await costOf({ idempotencyKey: 'merchant 2' })).toEqual([post]);
  });

  test('returns the first quote if a retry uses bare identifiers', async () => {
    const idempotencyKey = 'twice';
    const first = await ask({ idempotencyKey });
    expect(first).toEqual(answered(success, [post]));
    expect(await ask({ idempotencyKey, origin: 'huila-pitalito' })).toEqual({ ...first, calls: [] });
  });

  test('costs one read if a retry selects more than the id', async () => {
    const whole = { input: { ...input, idempotencyKey: 'read again' } };
    const first = await waybill.ask(CreateWholeQuoteDocument, whole);
    expect(first.calls).toEqual([post]);
    if (first.data.createQuote.__typename !== 'CreateQuoteSuccess') throw new Error(JSON.stringify(first));
    const read = `GET /v1/${first.data.createQuote.quote.id}`;
    expect(await waybill.ask(CreateWholeQuoteDocument, whole)).toEqual({ ...first, calls: [read] });
  });

  test('returns NOT_FOUND if a retry selects more than the id of an expired quote', async () => {
    const idempotencyKey = 'expired';
    const first = await ask({ idempotencyKey });
    if (first.data.createQuote.__typename !== 'CreateQuoteSuccess') throw new Error(JSON.stringify(first));
    const { id } = first.data.createQuote.quote;
    waybill.sandbox.faults.add({ method: 'GET', path: `/v1/${id}`, kind: 'status', status: 404 });
    const whole = await waybill.ask(CreateWholeQuoteDocument, { input: { ...input, idempotencyKey } });
    expect([whole.data, whole.calls]).toEqual([{ createQuote: null }, [`GET /v1/${id}`]]);
    expect(whole.errors).toMatchObject([
      { message: expect.stringContaining(id), extensions: { code: 'NOT_FOUND', retryable: false } },
    ]);
    expect(await ask({ idempotencyKey })).toEqual({ ...first, calls: [] });
  });

  test('returns the first quote to a refreshed token of the merchant', async () => {
    const idempotencyKey = 'refreshed';
    const first = await ask({ idempotencyKey });
    const again = await ask({ idempotencyKey }, waybill.sandbox.tokens.firstRefreshed);
    expect(again).toEqual({ ...first, calls: [organizationCall] });
  });

  test('sends only one call for equal concurrent requests', async () => {
    gather(20);
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask({ idempotencyKey: 'at once' })));
    const [first] = answers;
    expect(first?.data).toEqual({ createQuote: success });
    expect(answers.map(({ data }) => data)).toEqual(answers.map(() => first?.data));
    expect(waybill.sandbox.requests.lines()).toEqual([post]);
  });

  test('returns Conflict without a call if a retry has a different input', async () => {
    const idempotencyKey = 'other input';
    expect(await ask({ idempotencyKey })).toEqual(answered(success, [post]));
    const result = {
      __typename: 'Conflict',
      message:
        'This idempotencyKey was used with another input. Nothing was written. Use a new key for a new write, or the ' +
        'original input to get the original result.',
    };
    expect(await ask({ idempotencyKey, order: 'ca2496' })).toEqual(answered(result, []));
  });

  test('can be used by two merchants independently', async () => {
    const { first, second } = waybill.sandbox.tokens;
    expect(await ask({ idempotencyKey: 'same key' }, first)).toEqual(answered(success, [post]));
    const quote = { id: expect.stringMatching(/^quotes\/st\d{4}$/) };
    expect(await ask({ idempotencyKey: 'same key' }, second)).toEqual(
      answered({ ...success, quote }, [organizationCall, post]),
    );
  });

  test('is ignored if it is null', async () => {
    const first = await ask({ idempotencyKey: null });
    expect(first).toEqual(answered(success, [post]));
    const second = await ask({ idempotencyKey: null });
    expect(second).toEqual(answered(success, [post]));
    expect(second.data).not.toEqual(first.data);
  });

  test.each([400, 404, 409, 413, 429])('can be reused after a %d response', async (status) => {
    const idempotencyKey = `free after ${status}`;
    fail({ kind: 'status', status, times: 1 });
    expect((await ask({ idempotencyKey })).calls).toEqual([post]);
    expect(await ask({ idempotencyKey })).toEqual(answered(success, [post]));
  });

  test.each<[string, Fault]>([
    ['500', { kind: 'status', status: 500 }],
    ['502', { kind: 'status', status: 502 }],
    ['503', { kind: 'status', status: 503 }],
    ['504', { kind: 'status', status: 504 }],
  ])('prevents a second call after a response with %s', async (what, fault) => {
    const idempotencyKey = `kept after ${what}`;
    fail({ ...fault, times: 1 });
    const { data, calls } = await ask({ idempotencyKey });
    expect([data, calls]).toEqual([{ createQuote: null }, [post]]);
    expect(await ask({ idempotencyKey })).toEqual(answered(unknown(idempotencyKey), []));
  });

  test.each<[string, Fault]>([
    ['incomplete JSON', { kind: 'cut-json' }],
    ['an order instead of a quote', { kind: 'change', change: () => ({ name: 'orders/ca2496' }) }],
    ['no record', { kind: 'change', change: () => [] }],
  ])('prevents a second call after a 2xx response with %s', async (what, fault) => {
    const idempotencyKey = `kept after ${what}`;
    fail({ ...fault, times: 1 });
    expect(await ask({ idempotencyKey })).toEqual(answered(unknown(idempotencyKey), [post]));
    expect(await ask({ idempotencyKey })).toEqual(answered(unknown(idempotencyKey), []));
  });
});
