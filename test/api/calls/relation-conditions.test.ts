import { afterAll, describe, expect, test } from 'vitest';
import { startWaybill } from '../../harness.ts';

const waybill = await startWaybill();

afterAll(() => waybill[Symbol.asyncDispose]());

const order = 'GET /v1/orders/ca2481';
const shipment = 'GET /v1/shipments/ca2036';
const id = 'shipments/ca2036';

/** Queries of an order's shipment, whose status is selected only where `$x` is true. */
const conditional = {
  'a field': '{ order(id: "ca2481") { shipment { id } shipment @include(if: $x) { status } } }',
  'the first of two fields':
    '{ order(id: "ca2481") { shipment @include(if: $x) { status } shipment { id } } }',
  'an inline fragment':
    '{ order(id: "ca2481") { shipment { id } ... @include(if: $x) { shipment { status } } } }',
  'an inline fragment with a type':
    '{ node(id: "orders/ca2481") { ... on Order { shipment { id } } ... on Order @include(if: $x) { shipment { status } } } }',
  'a named fragment':
    '{ order(id: "ca2481") { shipment { id } ...F @include(if: $x) } } fragment F on Order { shipment { status } }',
  'a fragment that contains fragments':
    '{ order(id: "ca2481") { shipment { id } ...F @include(if: $x) } } ' +
    'fragment F on Order { ...G ...G } fragment G on Order { shipment { status } }',
  'a field in a fragment of the shipment':
    '{ order(id: "ca2481") { shipment { ...F } } } fragment F on Shipment { id status @include(if: $x) }',
  'the parent field':
    '{ order(id: "ca2481") { shipment { id } } order(id: "ca2481") @include(if: $x) { shipment { status } } }',
  'an aliased field':
    '{ o: order(id: "ca2481") { s: shipment { id } s: shipment { ... @include(if: $x) { status } } } }',
  'a fragment in a list item':
    '{ nodes(ids: ["orders/ca2481"]) { ... on Order { shipment { id } ... @include(if: $x) { shipment { status } } } } }',
};

describe.each(Object.entries(conditional))('@include on %s', (_what, selections) => {
  test('decides whether the shipment is read from REST', async () => {
    const { ask } = waybill;
    const query = `query ($x: Boolean!) ${selections}`;
    const without = await ask(query, { x: false });
    expect(without.errors).toBeUndefined();
    expect(JSON.stringify(without.data)).toContain(`{"id":"${id}"}`);
    expect(without.calls).toEqual([order]);
    const whole = await ask(query, { x: true });
    expect(whole.errors).toBeUndefined();
    expect(JSON.stringify(whole.data)).toMatch(/"status":"[A-Z_]+"/);
    expect(whole.calls).toEqual([order, shipment]);
  });
});

test('nested fragments that select only the id cost no call for the shipment', async () => {
  const fragments = Array.from(
    { length: 9 },
    (_, index) => `fragment F${index} on Shipment { ...F${index + 1} ...F${index + 1} }`,
  );
  const query = `{ order(id: "ca2481") { shipment { ...F0 } } } ${fragments.join(' ')} fragment F9 on Shipment { id }`;
  const { data, errors, calls } = await waybill.ask(query);
  expect(errors).toBeUndefined();
  expect(data).toEqual({ order: { shipment: { id } } });
  expect(calls).toEqual([order]);
});
