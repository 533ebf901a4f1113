import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Fault } from '../../../src/sandbox/sandbox.ts';
import { CreateOrderDocument, type CreateOrderInput } from '../../documents.generated.ts';
import {
  amongTheNewest,
  answered,
  byReference,
  order,
  post,
  refused,
  unknown,
} from '../../fixtures/order-to-create.ts';
import { type Answer, startWaybill, type Waybill } from '../../harness.ts';

let waybill: Waybill;
beforeAll(async () => {
  // A search counts at once.
  waybill = await startWaybill({}, { processingMs: 0 });
});
afterEach(() => waybill.sandbox.faults.clear());
afterAll(() => waybill[Symbol.asyncDispose]());

const { recipient } = order;

const ask = (fields: Partial<CreateOrderInput> = {}, bearer?: string | null) =>
  waybill.ask(CreateOrderDocument, { input: { ...order, ...fields } }, bearer);
const fail = (fault: Fault) => waybill.sandbox.faults.add({ method: 'POST', path: '/v1/orders', ...fault });

/** What a client is told, but for the place of an error in the document. */
function told({ status, data, errors, calls }: Answer<unknown>) {
  const messages = errors?.map(({ message, path, extensions }) => ({ message, path, ...extensions }));
  return { status, data, calls, errors: messages };
}

const notNull = 'must not be null: omit the field instead';
const notOfLocations = (given: string) =>
  `must be an id of the form "locations/<identifier>" or a bare identifier, but is "${given}"`;

describe('an invalid input of createOrder', () => {
  test.each<[string, Partial<CreateOrderInput>, [path: string, message: string]]>([
    [
      'a contentDescription of 2 characters',
      { contentDescription: '☕🫘' },
      ['contentDescription', 'must be 3 to 128 characters long, but has 2'],
    ],
    [
      'a contentDescription of 129 characters',
      { contentDescription: '🫘'.repeat(129) },
      ['contentDescription', 'must be 3 to 128 characters long, but has 129'],
    ],
    ['empty notes', { notes: '' }, ['notes', 'must be 3 to 2048 characters long, but has 0']],
    [
      'notes of 2 characters that are 4 UTF-16 units',
      { notes: '🫘🫘' },
      ['notes', 'must be 3 to 2048 characters long, but has 2'],
    ],
    [
      'notes of 2049 characters',
      { notes: 'x'.repeat(2049) },
      ['notes', 'must be 3 to 2048 characters long, but has 2049'],
    ],
    [
      'a negative cash-on-delivery amount',
      { cashOnDeliveryRequestCents: -1 },
      ['cashOnDeliveryRequestCents', 'must be at least 0, but is -1'],
    ],
    [
      'a location of 97 characters',
      { recipient: { ...recipient, location: `locations/${'a'.repeat(87)}` } },
      [
        'recipient.location',
        'must have at most 96 characters in the form "locations/<identifier>", but has 97',
      ],
    ],
    [
      'a location that is too long with its prefix',
      { recipient: { ...recipient, location: 'a'.repeat(87) } },
      [
        'recipient.location',
        'must have at most 96 characters in the form "locations/<identifier>", but has 97',
      ],
    ],
    [
      'the id of an origin as the location',
      { recipient: { ...recipient, location: 'origins/ca1' } },
      ['recipient.location', notOfLocations('origins/ca1')],
    ],
    [
      'an empty location',
      { recipient: { ...recipient, location: '' } },
      ['recipient.location', notOfLocations('')],
    ],
    [
      'the document type UNRECOGNIZED',
      { recipient: { ...recipient, documentType: 'UNRECOGNIZED' } },
      ['recipient.documentType', 'must be one of CC, CE, NI and TI: UNRECOGNIZED is for output only'],
    ],
    ['a null status', { status: null }, ['status', notNull]],
    ['null payment methods', { paymentMethods: null }, ['paymentMethods', notNull]],
    ['a null referenceId', { referenceId: null }, ['referenceId', notNull]],
    ['a null referenceUrl', { referenceUrl: null }, ['referenceUrl', notNull]],
    ['a null fulfiller', { fulfiller: null }, ['fulfiller', notNull]],
    [
      'an empty idempotency key',
      { idempotencyKey: '' },
      ['idempotencyKey', 'must be 1 to 255 characters long, but has 0'],
    ],
    [
      'an idempotency key of 256 characters',
      { idempotencyKey: '🔑'.repeat(256) },
      ['idempotencyKey', 'must be 1 to 255 characters long, but has 256'],
    ],
  ])('is rejected without a call if it has %s', async (_what, fields, fault) => {
    expect(await ask(fields)).toEqual(answered(refused(fault), []));
  });

  test('is rejected with an error for each field, sorted as in the schema', async () => {
    const answer = await ask({
      recipient: { ...recipient, documentType: 'UNRECOGNIZED', location: 'a/b' },
      contentDescription: '',
      notes: 'no',
      cashOnDeliveryRequestCents: -500,
      status: null,
      paymentMethods: null,
      referenceId: null,
      referenceUrl: null,
      fulfiller: null,
      idempotencyKey: '',
    });
    const result = refused(
      ['recipient.documentType', 'must be one of CC, CE, NI and TI: UNRECOGNIZED is for output only'],
      ['recipient.location', notOfLocations('a/b')],
      ['contentDescription', 'must be 3 to 128 characters long, but has 0'],
      ['notes', 'must be 3 to 2048 characters long, but has 2'],
      ['cashOnDeliveryRequestCents', 'must be at least 0, but is -500'],
      ['status', notNull],
      ['paymentMethods', notNull],
      ['referenceId', notNull],
      ['referenceUrl', notNull],
      ['fulfiller', notNull],
      ['idempotencyKey', 'must be 1 to 255 characters long, but has 0'],
    );
    expect(answer).toEqual(answered(result, []));
  });

  test.each<[string, Record<string, unknown>]>([
    ['a null for a required value', { notes: null }],
    ['a null among the payment methods', { paymentMethods: ['PSE', null] }],
    ['a status that a new order cannot have', { status: 'READY' }],
    ['an amount of half a cent', { sellingPriceCents: 0.5 }],
    ['an amount beyond the safe integers', { sellingPriceCents: 9_007_199_254_740_992 }],
    ['a relative URL', { referenceUrl: '/orders/1' }],
    ['an unknown field', { referenceGid: 'gid://1' }],
  ])('is rejected by GraphQL if it has %s', async (_what, fields) => {
    const document = 'mutation ($input: CreateOrderInput!) { createOrder(input: $input) { __typename } }';
    const { data, errors, calls } = await waybill.ask(document, { input: { ...order, ...fields } });
    expect([data, errors?.map(({ extensions }) => extensions)]).toEqual([
      undefined,
      [{ code: 'BAD_USER_INPUT', retryable: false }],
    ]);
    expect(calls).toEqual([]);
  });
});

describe('a REST error of createOrder', () => {
  test('becomes InvalidInput with the input path of each rejected field', async () => {
    const answer = await ask({
      recipient: {
        ...recipient,
        firstName: '',
        address: { addressLines: ['Calle 1', ''] },
      },
      paymentMethods: ['PSE', ''],
      fulfiller: 'NOBODY',
    });
    const faults: [path: string, message: string][] = [
      ['recipient.firstName', 'must have at least 1 character'],
      ['recipient.address.addressLines.1', 'must have at least 1 character'],
      ['paymentMethods.1', 'must have at least 1 character'],
      ['fulfiller', 'must be one of OPERATOR, PARTNER'],
    ];
    const result = {
      __typename: 'InvalidInput',
      message: `The request is invalid: ${faults.map((fault) => fault.join(' ')).join('; ')}`,
      fields: faults.map(([path, message]) => ({ path, message })),
    };
    expect(answer).toEqual(answered(result, [post]));
  });

  const email = { path: 'recipient.email', message: 'is no address' };

  test.each<[string, unknown, { message: string; fields: { path: string; message: string }[] }]>([
    [
      'a list of errors in "details"',
      { error: { message: 'Bad.', details: [{ field: 'recipient.email', message: 'is no address' }] } },
      { message: 'Bad.', fields: [email] },
    ],
    [
      'a list of fieldViolations in "details"',
      {
        error: {
          message: 'Bad.',
          details: [{ fieldViolations: [{ field: 'order.recipient.email', description: 'is no address' }] }],
        },
      },
      { message: 'Bad.', fields: [email] },
    ],
    [
      'an RFC 9457 problem',
      {
        type: 'https://rest.example/problems/invalid',
        title: 'Bad.',
        status: 400,
        errors: [{ pointer: '#/recipient/email', detail: 'is no address' }],
      },
      { message: 'Bad.', fields: [email] },
    ],
    [
      'an RFC 9457 problem without fields',
      { type: 'about:blank', title: 'Bad Request', status: 400, detail: 'The email is no address.' },
      { message: 'The email is no address.', fields: [] },
    ],
    [
      'a list of errors of unknown fields',
      {
        message: 'Bad.',
        errors: [
          { field: 'tariff', message: 'is missing' },
          { field: 'recipient.regionCode', message: 'is unknown' },
          { field: 'constructor', message: 'is odd' },
        ],
      },
      {
        message: 'Bad.',
        fields: [
          { path: '', message: 'tariff is missing' },
          { path: 'recipient', message: 'regionCode is unknown' },
          { path: '', message: 'constructor is odd' },
        ],
      },
    ],
    ['plain text', 'notes are rude', { message: 'notes are rude', fields: [] }],
    ['HTML', '<h1>Bad Request</h1>', { message: `${post} returned 400.`, fields: [] }],
    ['JSON that is not an object', [1, 'notes'], { message: `${post} returned 400.`, fields: [] }],
    ['empty', undefined, { message: `${post} returned 400.`, fields: [] }],
  ])('becomes InvalidInput if the body is %s', async (_what, body, result) => {
    for (const status of [400, 422]) {
      fail({ kind: 'status', status, body, times: 1 });
      const message = result.message.replace('400', String(status));
      expect(await ask()).toEqual(answered({ __typename: 'InvalidInput', ...result, message }, [post]));
    }
  });

  const withReference = { referenceId: 'refused' };
  const search = 'GET /v1/orders?pageSize=1000&search=refused';

  test.each([409, 412])(
    'becomes Conflict with the message for a %d if a search finds no order',
    async (status) => {
      fail({ kind: 'status', status, body: { error: { message: 'There is one with this reference.' } } });
      const result = { __typename: 'Conflict', message: 'There is one with this reference.' };
      expect(await ask(withReference)).toEqual(answered(result, [post, search]));
    },
  );

  test('becomes Conflict for a 409 with an empty body if a search finds no order', async () => {
    fail({ kind: 'status', status: 409 });
    const result = { __typename: 'Conflict', message: `${post} returned 409.` };
    expect(await ask(withReference)).toEqual(answered(result, [post, search]));
  });

  test.each([409, 412])(
    'becomes OutcomeUnknown if the status is %d and no search is possible',
    async (status) => {
      fail({ kind: 'status', status, body: { error: { message: 'There is one already.' } } });
      const message =
        `${post} returned ${status}: There is one already. The write may or may not have happened. A proxy may have sent ` +
        `the request twice, so that the REST service rejected only the second one. ${amongTheNewest}`;
      const result = { __typename: 'OutcomeUnknown', message, idempotencyKey: null };
      expect(await ask()).toEqual(answered(result, [post]));
    },
  );

  test.each([404, 410])('becomes InvalidInput if the status is %d', async (status) => {
    fail({ kind: 'status', status, body: { message: 'No such location.' } });
    const result = { __typename: 'InvalidInput', message: 'No such location.', fields: [] };
    expect(await ask()).toEqual(answered(result, [post]));
  });
});

describe('a failed createOrder', () => {
  test.each<[string, Fault, object]>([
    [
      '401',
      { kind: 'status', status: 401 },
      { code: 'UNAUTHENTICATED', retryable: false, upstreamStatus: 401 },
    ],
    ['403', { kind: 'status', status: 403 }, { code: 'FORBIDDEN', retryable: false, upstreamStatus: 403 }],
    [
      '429 with Retry-After',
      { kind: 'status', status: 429, headers: { 'retry-after': '3' } },
      { code: 'RATE_LIMITED', retryable: true, retryAfterMs: 3000, upstreamStatus: 429 },
    ],
    [
      '429 without Retry-After',
      { kind: 'status', status: 429 },
      { code: 'RATE_LIMITED', retryable: true, upstreamStatus: 429 },
    ],
    [
      '500',
      { kind: 'status', status: 500 },
      { code: 'UPSTREAM_ERROR', retryable: false, upstreamStatus: 500 },
    ],
    [
      '502',
      { kind: 'status', status: 502 },
      { code: 'UPSTREAM_UNAVAILABLE', retryable: false, upstreamStatus: 502 },
    ],
    [
      '503',
      { kind: 'status', status: 503 },
      { code: 'UPSTREAM_UNAVAILABLE', retryable: false, upstreamStatus: 503 },
    ],
    [
      '504',
      { kind: 'status', status: 504 },
      { code: 'UPSTREAM_ERROR', retryable: false, upstreamStatus: 504 },
    ],
    [
      '302',
      { kind: 'status', status: 302, headers: { location: '/elsewhere' } },
      { code: 'UPSTREAM_INVALID_RESPONSE', retryable: false, upstreamStatus: 302 },
    ],
  ])('returns a field error after one call if REST returns %s', async (what, fault, extensions) => {
    fail(fault);
    const message = `${post} returned ${what.slice(0, 3)}`;
    expect(told(await ask())).toEqual({
      status: 200,
      data: { createOrder: null },
      errors: [{ path: ['createOrder'], message, ...extensions }],
      calls: [post],
    });
  });

  test('returns a field error after one call if REST rejects the token', async () => {
    const { data, errors, calls } = await ask({}, 'no-such-token');
    expect([data, errors?.map(({ extensions }) => extensions)]).toEqual([
      { createOrder: null },
      [{ code: 'UNAUTHENTICATED', retryable: false, upstreamStatus: 401 }],
    ]);
    expect(calls).toEqual([post]);
  });
});

test('createOrder without a token returns UNAUTHENTICATED without a call', async () => {
  const { errors, calls } = await ask({}, null);
  expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['UNAUTHENTICATED']);
  expect(calls).toEqual([]);
});

describe('createOrder without a readable response', () => {
  test.each<Fault>([
    { kind: 'applied-then-cut' },
    { kind: 'reset' },
    { kind: 'reset-in-body' },
    { kind: 'short' },
    { kind: 'cut-json' },
    { kind: 'change', change: () => ({ name: 'quotes/ca2151' }) },
  ])('returns OutcomeUnknown after one call: fault "$kind"', async (fault) => {
    fail(fault);
    expect(await ask()).toEqual(answered(unknown(amongTheNewest, null), [post]));
  });

  test('returns OutcomeUnknown after UPSTREAM_TIMEOUT_MS', async () => {
    await using impatient = await startWaybill({ UPSTREAM_TIMEOUT_MS: '1000' }, { sandbox: waybill.sandbox });
    fail({ kind: 'hang' });
    const answer = await impatient.ask(CreateOrderDocument, { input: order });
    expect(answer).toEqual(answered(unknown(amongTheNewest, null), [post]));
  });

  test('recommends orderByReference and an idempotency key if there is a referenceId', async () => {
    fail({ kind: 'reset' });
    const check = `${byReference('R-1')} With an idempotencyKey, Waybill itself looks for the order on a retry.`;
    expect(await ask({ referenceId: 'R-1' })).toEqual(answered(unknown(check, null), [post]));
    expect(await ask({ referenceId: 'R-1', idempotencyKey: null })).toEqual(
      answered(unknown(check, null), [post]),
    );
  });

  test('does not recommend orderByReference if the referenceId is empty', async () => {
    fail({ kind: 'reset' });
    expect(await ask({ referenceId: '' })).toEqual(answered(unknown(amongTheNewest, null), [post]));
  });
});
