import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Fault } from '../../../src/sandbox/sandbox.ts';
import {
  OrderRowEdgesDocument,
  OrderRowsDocument,
  OrdersWithShipmentsDocument,
  OrderWithFailuresDocument,
} from '../../documents.generated.ts';
import { type Answer, startWaybill, type Waybill } from '../../harness.ts';

let waybill: Waybill;
beforeAll(async () => {
  waybill = await startWaybill();
});
afterEach(() => waybill.sandbox.faults.clear());
afterAll(() => waybill[Symbol.asyncDispose]());

const fail = (fault: Fault) => waybill.sandbox.faults.add(fault);

/** Errors in the order of their paths, without their places in the document. */
function told(errors: Answer<unknown>['errors']) {
  return errors
    ?.map(({ message, path, extensions }) => ({ message, path: path?.join('.'), ...extensions }))
    .sort((one, other) => String(one.path).localeCompare(String(other.path)));
}

const broken = { code: 'UPSTREAM_INVALID_RESPONSE', retryable: false };
const shipment = '/v1/shipments/ca2036';

describe('a field whose call fails', () => {
  const data = {
    order: {
      id: 'orders/ca2481',
      shipment: null,
      recipient: { fullName: 'Lucía Ñáñez Peñalosa', location: { locality: 'Medellín (Laureles)' } },
    },
  };
  const down = { code: 'UPSTREAM_UNAVAILABLE', retryable: true };
  const call = `GET ${shipment}`;

  test.each<[string, Fault, object]>([
    [
      '503 with a message in the body',
      { kind: 'status', status: 503, body: { error: { message: 'down' } } },
      { message: `${call} returned 503`, ...down, upstreamStatus: 503 },
    ],
    [
      'an HTML page with 502',
      { kind: 'status', status: 502, body: '<h1>Bad Gateway</h1>', contentType: 'text/html' },
      { message: `${call} returned 502`, ...down, upstreamStatus: 502 },
    ],
    [
      '500 without a body',
      { kind: 'status', status: 500 },
      { message: `${call} returned 500`, code: 'UPSTREAM_ERROR', retryable: false, upstreamStatus: 500 },
    ],
    [
      '403',
      { kind: 'status', status: 403 },
      { message: `${call} returned 403`, code: 'FORBIDDEN', retryable: false, upstreamStatus: 403 },
    ],
    [
      '429 with Retry-After',
      { kind: 'status', status: 429, headers: { 'retry-after': '3' } },
      {
        message: `${call} returned 429`,
        code: 'RATE_LIMITED',
        retryable: true,
        retryAfterMs: 3000,
        upstreamStatus: 429,
      },
    ],
    ['a connection reset', { kind: 'reset' }, { message: `${call} got no response (ECONNRESET)`, ...down }],
    ['incomplete JSON', { kind: 'cut-json' }, { message: `${call} returned no JSON`, ...broken }],
    [
      'the wrong record',
      { kind: 'change', change: (answer) => ({ ...(answer as object), name: 'shipments/ca0001' }) },
      { message: `${call} returned a different record than the requested one`, ...broken },
    ],
    [
      'a null body',
      { kind: 'change', change: () => null },
      { message: `${call} returned a response that is not a record of shipments`, ...broken },
    ],
    [
      'an array body',
      { kind: 'change', change: (answer) => [answer] },
      { message: `${call} returned a response that is not a record of shipments`, ...broken },
    ],
    [
      'a redirect',
      { kind: 'status', status: 302, headers: { location: 'http://elsewhere.invalid/' } },
      { message: `${call} returned 302`, ...broken, upstreamStatus: 302 },
    ],
  ])('is null with an error after %s', async (_what, fault, error) => {
    fail({ ...fault, path: shipment });
    const answer = await waybill.ask(OrderWithFailuresDocument, { id: 'ca2481' });
    expect([answer.status, answer.data]).toEqual([200, data]);
    expect(told(answer.errors)).toEqual([{ path: 'order.shipment', ...error }]);
    expect(answer.calls.sort()).toEqual([
      'GET /v1/locations?pageSize=1000&query=locations/antioquia-medellin-laureles',
      'GET /v1/orders/ca2481',
      'GET /v1/shipments/ca2036',
    ]);
  });

  test.each([404, 410])('is null without an error after %d', async (status) => {
    fail({ kind: 'status', path: shipment, status });
    const answer = await waybill.ask(OrderWithFailuresDocument, { id: 'ca2481' });
    expect([answer.data, answer.errors]).toEqual([data, undefined]);
  });

  test('is null with an error if the call reads locations', async () => {
    fail({ kind: 'status', path: '/v1/locations', status: 503 });
    const answer = await waybill.ask(OrderWithFailuresDocument, { id: 'ca2481' });
    expect(answer.data.order).toEqual({
      id: 'orders/ca2481',
      shipment: { status: 'OUT_FOR_DELIVERY' },
      recipient: { fullName: 'Lucía Ñáñez Peñalosa', location: null },
    });
    expect(told(answer.errors)).toEqual([
      {
        message: 'GET /v1/locations returned 503',
        path: 'order.recipient.location',
        ...down,
        upstreamStatus: 503,
      },
    ]);
  });

  test('is null only in the row of the failed call', async () => {
    fail({ kind: 'status', path: '/v1/shipments/ca2046', status: 503 });
    const { data, errors, calls } = await waybill.ask(OrdersWithShipmentsDocument, { first: 4 });
    expect(data.orders.nodes).toEqual([
      { id: 'orders/ca2500', shipment: null },
      { id: 'orders/ca2499', shipment: { status: 'GENERATING_LABEL' } },
      { id: 'orders/ca2498', shipment: null },
      { id: 'orders/ca2497', shipment: null },
    ]);
    const message = 'GET /v1/shipments/ca2046 returned 503';
    expect(told(errors)).toEqual([
      { message, path: 'orders.nodes.3.shipment', ...down, upstreamStatus: 503 },
    ]);
    expect(calls.sort()).toEqual([
      'GET /v1/orders?pageSize=4',
      'GET /v1/shipments/ca2046',
      'GET /v1/shipments/ca2047',
    ]);
  });
});

describe('an invalid row of a list', () => {
  const message = (row: number) => `GET /v1/orders returned an invalid record of orders in row ${row}`;

  /** REST answers the page of orders with these rows in place of its first ones. */
  const replaceRows = (...rows: unknown[]) =>
    fail({
      kind: 'change',
      path: '/v1/orders',
      change: (answer) => {
        const page = answer as { orders: unknown[] };
        return { ...page, orders: [...rows, ...page.orders.slice(rows.length)] };
      },
    });

  test('becomes a null node without affecting other rows', async () => {
    replaceRows(null, 'orders/ca2499', { id: 1 });
    const { data, errors, calls } = await waybill.ask(OrderRowsDocument, { first: 4 });
    expect(data.orders.nodes).toEqual([null, null, null, { id: 'orders/ca2497', fulfiller: 'OPERATOR' }]);
    expect(told(errors)).toEqual([
      { message: message(0), path: 'orders.nodes.0', ...broken },
      { message: message(1), path: 'orders.nodes.1', ...broken },
      { message: message(2), path: 'orders.nodes.2', ...broken },
    ]);
    expect(calls).toEqual(['GET /v1/orders?pageSize=4']);
  });

  test('becomes an edge with a null node', async () => {
    replaceRows(null);
    const { data, errors } = await waybill.ask(OrderRowEdgesDocument, { first: 2 });
    expect(data.orders.edges).toEqual([{ node: null }, { node: { id: 'orders/ca2499' } }]);
    expect(told(errors)).toEqual([{ message: message(0), path: 'orders.edges.0.node', ...broken }]);
  });

  test('becomes a null node if a required field is missing or null', async () => {
    replaceRows({ name: 'orders/ca2500' }, { name: 'orders/ca2499', fulfiller: null });
    const { data, errors } = await waybill.ask(OrderRowsDocument, { first: 3 });
    expect(data.orders.nodes).toEqual([null, null, { id: 'orders/ca2498', fulfiller: 'OPERATOR' }]);
    const unusableSetting = (path: string) => ({
      message: `The REST service sent no valid value for the field at ${path}.`,
      path,
      ...broken,
    });
    expect(told(errors)).toEqual([
      unusableSetting('orders.nodes.0.fulfiller'),
      unusableSetting('orders.nodes.1.fulfiller'),
    ]);
  });
});

test.each([null, {}, 'rows', undefined])(
  'the field "orders" is null if the REST service sends %j instead of a list',
  async (orders) => {
    waybill.changeAnswer('/v1/orders', { orders });
    const { data, errors, calls } = await waybill.ask(OrderRowsDocument, { first: 2 });
    expect(data).toEqual({ orders: null });
    expect(told(errors)).toEqual([
      {
        message: 'GET /v1/orders returned a response that is not a list of orders',
        path: 'orders',
        ...broken,
      },
    ]);
    expect(calls).toEqual(['GET /v1/orders?pageSize=2']);
  },
);
