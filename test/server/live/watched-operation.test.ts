import { getOperationAST, parse, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { schema } from '../../../src/graph/schema.ts';
import { createOperationReader } from '../../../src/server/live/watched-operation.ts';

const reader = createOperationReader(schema);

function operationOf(text: string, variables?: Record<string, unknown>) {
  const document = parse(text);
  expect(validate(schema, document)).toEqual([]);
  const definition = getOperationAST(document);
  if (definition == null) throw new Error('The text has no operation');
  return { document, definition, variables };
}

describe('an argument that needs a scan', () => {
  test.each([
    ['status', 'subscription { shipments(status: [IN_PROGRESS]) { nodes { id } } }'],
    ['courier', 'subscription { shipments(courier: "x") { nodes { id } } }'],
    ['createdSince', 'subscription { shipments(createdSince: "2026-01-01T00:00:00Z") { nodes { id } } }'],
    ['updatedUntil', 'subscription { orders(updatedUntil: "2026-01-01T00:00:00Z") { nodes { id } } }'],
    ['hasShipment', 'subscription { orders(hasShipment: false) { nodes { id } } }'],
    ['shipmentStatus', 'subscription { orders(shipmentStatus: WITH_ERROR) { nodes { id } } }'],
    [
      'status',
      'subscription { ...F } fragment F on Subscription { shipments(status: [WITH_ERROR]) { nodes { id } } }',
    ],
    [
      'status',
      'subscription ($s: [ShipmentStatus!] = [WITH_ERROR]) { shipments(status: $s) { nodes { id } } }',
    ],
  ])('is refused with its name and with what to do instead: %s', (argument, text) => {
    const { message = '' } = reader.checkArguments(operationOf(text)) ?? {};
    expect(message).toContain(`"${argument}" of Subscription.`);
    expect(message).toContain('Query the list once, and watch its rows with the subscription nodes(ids: …).');
  });

  test.each([
    ['a value of a variable', { s: ['WITH_ERROR'] }, true],
    ['null', { s: null }, false],
    ['an empty list', { s: [] }, false],
    ['no value', {}, false],
  ])('is refused only if it has a value: %s', (_what, variables, isRefused) => {
    const text = 'subscription ($s: [ShipmentStatus!]) { shipments(status: $s) { nodes { id } } }';
    expect(reader.checkArguments(operationOf(text, variables)) !== undefined).toBe(isRefused);
  });

  test.each([
    'subscription { shipments(first: 3, after: "x") { nodes { id } } }',
    'subscription { orders(status: [NEW], search: "x") { nodes { id } } }',
    'subscription { nodes(ids: ["orders/a"]) { id } }',
  ])('is not found if REST has all filters of the operation: %s', (text) => {
    expect(reader.checkArguments(operationOf(text))).toBeUndefined();
  });
});

describe('the compared data', () => {
  test.each([
    [
      'a field',
      '{ shipment(id: "a") { status label { id url } } }',
      { shipment: { status: 'X', label: { id: 'l', url: 'signed' } } },
      { shipment: { status: 'X', label: { id: 'l' } } },
    ],
    [
      'an alias in a list, by a fragment',
      '{ shipments { nodes { ...L } } } fragment L on Shipment { paper: label { link: url pdfUrl } }',
      { shipments: { nodes: [{ paper: { link: 'signed', pdfUrl: 'p' } }, null, { paper: null }] } },
      { shipments: { nodes: [{ paper: { pdfUrl: 'p' } }, null, { paper: null }] } },
    ],
    [
      'an interface',
      '{ nodes(ids: ["a"]) { ... on Shipment { label { url } } ... on Order { shipment { label { url } } } } }',
      { nodes: [{ label: { url: 's' } }, { shipment: { label: { url: 's' } } }] },
      { nodes: [{ label: {} }, { shipment: { label: {} } }] },
    ],
    [
      'cursors',
      '{ orders { edges { cursor node { status } } pageInfo { hasNextPage startCursor end: endCursor } } }',
      {
        orders: {
          edges: [{ cursor: 'c', node: { status: 'X' } }],
          pageInfo: { hasNextPage: true, startCursor: 'c', end: 'c' },
        },
      },
      { orders: { edges: [{ node: { status: 'X' } }], pageInfo: { hasNextPage: true } } },
    ],
  ])('has no value that is new at each read: %s', (_what, fields, data, expected) => {
    expect(reader.comparable(operationOf(`subscription ${fields}`), data)).toEqual(expected);
  });

  test('is the whole data if the operation has no signed URL', () => {
    const data = { order: { referenceUrl: 'https://shop.test' } };
    expect(reader.comparable(operationOf('subscription { order(id: "a") { referenceUrl } }'), data)).toBe(
      data,
    );
  });
});
