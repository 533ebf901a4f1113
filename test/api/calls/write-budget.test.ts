import { afterAll, describe, expect, test } from 'vitest';
import { parcel } from '../../fixtures/order-to-ship.ts';
import { tooManyWrites } from '../../fixtures/too-many-writes.ts';
import { startWaybill } from '../../harness.ts';

// One operation writes at most 100 things, over all of its fields and lists.

const waybill = await startWaybill();
afterAll(() => waybill[Symbol.asyncDispose]());

const updates = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `ca${2000 + index}`, notes: 'changed' }));
const shipments = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    order: `ca${2000 + index}`,
    origin: 'ca1',
    package: parcel,
  }));
const literal = (count: number) => `[${'{ id: "ca2000", notes: "changed" } '.repeat(count)}]`;
const aliased = (count: number, field: string) =>
  Array.from({ length: count }, (_, index) => `a${index}: ${field}`).join(' ');

describe('an operation with more than 100 writes', () => {
  test.each<[string, number, string, Record<string, unknown>]>([
    [
      'a variable of 100 updates that is used 20 times',
      2_000,
      `mutation ($inputs: [UpdateOrderInput!]!) { ${aliased(20, 'updateOrders(inputs: $inputs) { __typename }')} }`,
      { inputs: updates(100) },
    ],
    [
      'two lists of shipments',
      101,
      `mutation ($a: [ShipOrderInput!]!, $b: [ShipOrderInput!]!) {
        a: shipOrders(inputs: $a) { __typename } b: shipOrders(inputs: $b) { __typename }
      }`,
      { a: shipments(100), b: shipments(1) },
    ],
    [
      'a list and a single write in fragments',
      101,
      `mutation ($inputs: [UpdateOrderInput!]!) { ...Both }
      fragment Both on Mutation { updateOrders(inputs: $inputs) { __typename } ... on Mutation { ...One } }
      fragment One on Mutation { updateOrder(input: { id: "ca2000", notes: "changed" }) { __typename } }`,
      { inputs: updates(100) },
    ],
    [
      'list literals in the document',
      120,
      `mutation { ${aliased(2, `updateOrders(inputs: ${literal(60)}) { __typename }`)} }`,
      {},
    ],
    [
      'the default value of a variable',
      120,
      `mutation ($inputs: [UpdateOrderInput!]! = ${literal(60)}) { ${aliased(2, 'updateOrders(inputs: $inputs) { __typename }')} }`,
      {},
    ],
  ])('is rejected without a call: %s', async (_what, count, document, variables) => {
    expect(await waybill.ask(document, variables)).toEqual(tooManyWrites(count));
  });
});

test('an operation with 100 writes runs', async () => {
  const document = `mutation ($inputs: [UpdateOrderInput!]!) {
    ${aliased(5, 'updateOrders(inputs: $inputs) { __typename }')}
  }`;
  const { errors, calls } = await waybill.ask(document, { inputs: updates(20) });
  expect(errors).toBeUndefined();
  expect(calls.length).toBe(100);
});

test('a single value in place of a list counts as one write', async () => {
  const document = 'mutation ($input: [UpdateOrderInput!]!) { updateOrders(inputs: $input) { __typename } }';
  const { data, calls } = await waybill.ask(document, { input: { id: 'ca2490', notes: 'changed' } });
  expect(data).toEqual({ updateOrders: [{ __typename: 'UpdateOrderSuccess' }] });
  expect(calls).toEqual(['PATCH /v1/orders/ca2490']);
});
