import { afterAll, afterEach, describe, expect, test } from 'vitest';
import {
  CancelOrdersDocument,
  type UpdateOrderInput,
  UpdateOrdersDocument,
} from '../../documents.generated.ts';
import { tooManyWrites } from '../../fixtures/too-many-writes.ts';
import { startWaybill } from '../../harness.ts';

const waybill = await startWaybill();
const { ask, sandbox } = waybill;

afterEach(() => sandbox.faults.clear());
afterAll(() => waybill[Symbol.asyncDispose]());

const update = (...inputs: UpdateOrderInput[]) => ask(UpdateOrdersDocument, { inputs });
const patch = (identifier: string) => `PATCH /v1/orders/${identifier}`;
const success = (identifier: string, notes: string) => ({
  __typename: 'UpdateOrderSuccess',
  order: { id: `orders/${identifier}`, notes },
});

// None of them has a shipment yet.
const open = [
  'ca2500',
  'ca2498',
  'ca2496',
  'ca2492',
  'ca2490',
  'ca2489',
  'ca2488',
  'ca2483',
  'ca2480',
  'ca2476',
];

describe('updateOrders', () => {
  test('returns one result per input even if some updates fail', async () => {
    sandbox.faults.add({
      kind: 'status',
      status: 500,
      path: '/v1/orders/ca2483',
      body: { message: 'secret' },
    });
    sandbox.faults.add({ kind: 'applied-then-cut', path: '/v1/orders/ca2476' });
    sandbox.faults.add({
      kind: 'status',
      status: 429,
      path: '/v1/orders/ca2474',
      headers: { 'retry-after': '7' },
    });
    // The slowest comes first all the same.
    sandbox.faults.add({ kind: 'delay', delayMs: 30, path: '/v1/orders/ca2496' });
    const { data, errors, calls } = await update(
      { id: 'ca2496', notes: 'Primera' },
      { id: 'ca2490', notes: 'No', contentDescription: null },
      { id: 'orders/nosuch', notes: 'Tercera' },
      { id: 'ca2481', notes: 'Cuarta' },
      { id: 'ca2483', notes: 'Quinta' },
      { id: 'ca2476', notes: 'Sexta' },
      { id: 'ca2474', notes: 'Séptima' },
      { id: 'orders/ca2489', notes: 'Octava' },
    );
    expect({ data, errors }).toEqual({
      data: {
        updateOrders: [
          success('ca2496', 'Primera'),
          {
            __typename: 'InvalidInput',
            message:
              'The input is invalid, and nothing was written: contentDescription must not be null: omit the field instead; ' +
              'notes must be 3 to 2048 characters long, but has 2.',
            fields: [
              { path: 'contentDescription', message: 'must not be null: omit the field instead' },
              { path: 'notes', message: 'must be 3 to 2048 characters long, but has 2' },
            ],
          },
          { __typename: 'NotFound', message: 'orders/nosuch does not exist', missingId: 'orders/nosuch' },
          { __typename: 'Conflict', message: 'orders/ca2481 is IN_PROGRESS and can no longer be updated' },
          {
            __typename: 'WriteFailed',
            message: 'PATCH /v1/orders/ca2483 returned 500',
            code: 'UPSTREAM_ERROR',
            retryable: false,
            retryAfterMs: null,
          },
          {
            __typename: 'OutcomeUnknown',
            message:
              'The response of the REST service was lost, so the write may or may not have happened. ' +
              'Check the values of order(id: "orders/ca2476"), or send the same update again, which does no harm. ' +
              'If you then get a Conflict, the first update may have cancelled the order.',
            idempotencyKey: null,
          },
          {
            __typename: 'WriteFailed',
            message: 'PATCH /v1/orders/ca2474 returned 429',
            code: 'RATE_LIMITED',
            retryable: true,
            retryAfterMs: 7000,
          },
          success('ca2489', 'Octava'),
        ],
      },
      errors: undefined,
    });
    expect(calls.sort()).toEqual(
      ['ca2474', 'ca2476', 'ca2481', 'ca2483', 'ca2489', 'ca2496', 'nosuch'].map(patch),
    );
  });

  test('returns an empty list without a call if there are no updates', async () => {
    const { data, errors, calls } = await update();
    expect({ data, errors, calls }).toEqual({ data: { updateOrders: [] }, errors: undefined, calls: [] });
  });

  test('accepts 100 updates', async () => {
    const inputs = Array.from({ length: 10 }, (_, round) =>
      open.map((id) => ({ id, notes: `Ronda ${round}` })),
    ).flat();
    const { data, errors, calls } = await update(...inputs);
    expect({ data, errors }).toEqual({
      data: { updateOrders: inputs.map(({ id, notes }) => success(id, notes)) },
      errors: undefined,
    });
    expect(calls.sort()).toEqual(inputs.map(({ id }) => patch(id)).sort());
  });

  test('rejects 101 updates without a call', async () => {
    expect(await update(...Array(101).fill({ id: 'ca2496', notes: 'Hola' }))).toEqual(tooManyWrites(101));
  });

  test('rejects an update without a call if it has only an id', async () => {
    const { data, errors, calls } = await update({ id: 'ca2496' });
    const message = 'the input must have at least one field besides id';
    expect({ data, errors }).toEqual({
      data: {
        updateOrders: [
          {
            __typename: 'InvalidInput',
            message: `The input is invalid, and nothing was written: ${message}.`,
            fields: [{ path: '', message }],
          },
        ],
      },
      errors: undefined,
    });
    expect(calls).toEqual([]);
  });

  test('returns the new shipment status of each cancelled order', async () => {
    const { data, errors, calls } = await ask(CancelOrdersDocument, {
      inputs: [
        { id: 'ca2493', status: 'CANCELLED' },
        { id: 'ca2495', status: 'CANCELLED' },
      ],
    });
    const cancelled = (order: string, shipment: string) => ({
      __typename: 'UpdateOrderSuccess',
      order: {
        id: order,
        status: 'CANCELLED',
        shipment: { id: shipment, status: 'CANCELLATION_REQUESTED', order: { status: 'CANCELLED' } },
      },
    });
    expect({ data, errors }).toEqual({
      data: {
        updateOrders: [
          cancelled('orders/ca2493', 'shipments/ca2043'),
          cancelled('orders/ca2495', 'shipments/ca2045'),
        ],
      },
      errors: undefined,
    });
    expect(calls.sort()).toEqual([
      'GET /v1/quotes/ca2148',
      'GET /v1/quotes/ca2150',
      'GET /v1/shipments/ca2043',
      'GET /v1/shipments/ca2045',
      patch('ca2493'),
      patch('ca2495'),
    ]);
  });
});

describe('the PATCH calls of updateOrders', () => {
  /** Does the updates; answers also how many calls were under way at once at most. */
  async function watched(environment: Record<string, string>, inputs: UpdateOrderInput[]) {
    await using bounded = await startWaybill(environment, { sandbox });
    // A token that REST has not accepted leaves a quarter of the connections to others.
    await bounded.ask('{ organization { id } }');
    let most = 0;
    const watch = setInterval(() => {
      const underWay = sandbox.requests.entries().filter(({ status }) => status === undefined);
      most = Math.max(most, underWay.length);
    }, 1);
    const answer = await bounded.ask(UpdateOrdersDocument, { inputs }).finally(() => clearInterval(watch));
    return { ...answer, most };
  }

  test.each([2, 5])('are limited to UPSTREAM_CONNECTIONS at a time: %i', async (limit) => {
    // Long enough for a busy machine to have them all under way.
    sandbox.faults.add({ kind: 'delay', delayMs: 40, method: 'PATCH' });
    const inputs = open.map((id) => ({ id, notes: `A lo sumo ${limit}` }));
    const { data, errors, calls, most } = await watched({ UPSTREAM_CONNECTIONS: `${limit}` }, inputs);
    expect({ data, errors }).toEqual({
      data: { updateOrders: inputs.map(({ id, notes }) => success(id, notes)) },
      errors: undefined,
    });
    expect(calls.sort()).toEqual(open.map(patch).sort());
    expect(most).toBe(limit);
  });

  test('run one at a time for one order, even if full ids and bare identifiers are mixed', async () => {
    sandbox.faults.add({ kind: 'delay', delayMs: 10, method: 'PATCH', times: 2 });
    const inputs = ['ca2500', 'orders/ca2500', 'ca2500'].map((id, place) => ({ id, notes: `Nota ${place}` }));
    const { data, errors, calls, most } = await watched({}, inputs);
    expect({ data, errors }).toEqual({
      data: { updateOrders: inputs.map(({ notes }) => success('ca2500', notes)) },
      errors: undefined,
    });
    expect(calls).toEqual([patch('ca2500'), patch('ca2500'), patch('ca2500')]);
    expect(sandbox.requests.entries().map(({ body }) => body)).toEqual(
      inputs.map(({ notes }) => ({ order: { notes }, updateMask: ['notes'] })),
    );
    expect(most).toBe(1);
  });

  test('continue after a failed update of the same order', async () => {
    sandbox.faults.add({ kind: 'status', status: 503, path: '/v1/orders/ca2498', times: 1 });
    const { data, errors, calls } = await update(
      { id: 'ca2498', notes: 'Primera' },
      { id: 'ca2498', notes: 'Segunda' },
    );
    expect({ data, errors }).toEqual({
      data: {
        updateOrders: [
          {
            __typename: 'WriteFailed',
            message: 'PATCH /v1/orders/ca2498 returned 503',
            code: 'UPSTREAM_UNAVAILABLE',
            retryable: false,
            retryAfterMs: null,
          },
          success('ca2498', 'Segunda'),
        ],
      },
      errors: undefined,
    });
    expect(calls).toEqual([patch('ca2498'), patch('ca2498')]);
  });
});

describe('updateOrders with only failed updates', () => {
  const inputs = [
    { id: 'ca2496', notes: 'Hola' },
    { id: 'ca2490', notes: 'Hola' },
  ];

  test('returns one field error if all failures have the same code', async () => {
    const { data, errors, calls } = await ask(UpdateOrdersDocument, { inputs }, 'expired');
    expect(data).toEqual({ updateOrders: null });
    expect(errors).toEqual([
      {
        message: 'PATCH /v1/orders/ca2496 returned 401: This bearer token is unknown',
        locations: [{ line: 2, column: 3 }],
        path: ['updateOrders'],
        extensions: { code: 'UNAUTHENTICATED', retryable: false, upstreamStatus: 401 },
      },
    ]);
    expect(calls.sort()).toEqual([patch('ca2490'), patch('ca2496')]);
  });

  test('returns one result per input if the failures have different codes', async () => {
    sandbox.faults.add({ kind: 'status', status: 403, path: '/v1/orders/ca2496' });
    sandbox.faults.add({ kind: 'status', status: 503, path: '/v1/orders/ca2490' });
    const { data, errors, calls } = await update(...inputs);
    const failed = (message: string, code: string, retryable: boolean) => ({
      __typename: 'WriteFailed',
      message,
      code,
      retryable,
      retryAfterMs: null,
    });
    expect({ data, errors }).toEqual({
      data: {
        updateOrders: [
          failed('PATCH /v1/orders/ca2496 returned 403', 'FORBIDDEN', false),
          failed('PATCH /v1/orders/ca2490 returned 503', 'UPSTREAM_UNAVAILABLE', false),
        ],
      },
      errors: undefined,
    });
    expect(calls.sort()).toEqual([patch('ca2490'), patch('ca2496')]);
  });

  test('returns one result per input if all results are NotFound', async () => {
    const { data, errors, calls } = await ask(UpdateOrdersDocument, { inputs }, sandbox.tokens.second);
    expect({ data, errors }).toEqual({
      data: {
        updateOrders: [
          { __typename: 'NotFound', message: 'orders/ca2496 does not exist', missingId: 'orders/ca2496' },
          { __typename: 'NotFound', message: 'orders/ca2490 does not exist', missingId: 'orders/ca2490' },
        ],
      },
      errors: undefined,
    });
    expect(calls.sort()).toEqual([patch('ca2490'), patch('ca2496')]);
  });
});
