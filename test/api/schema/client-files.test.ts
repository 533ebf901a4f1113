import { buildSchema, isObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { scalars } from '../../../client/scalars.generated.ts';
import { clientFiles } from '../../../src/graph/client-files.ts';
import { schema } from '../../../src/graph/schema.ts';
import { startWaybill } from '../../harness.ts';

const files = clientFiles(schema);

/** The fields of the client's schema with the directive, and its levels. */
const marked = new Map<string, string>(
  Object.values(buildSchema(files['schema.graphql'] ?? '').getTypeMap())
    .filter((type) => isObjectType(type))
    .flatMap((type) =>
      Object.values(type.getFields()).flatMap(({ name, astNode }) => {
        const directive = astNode?.directives?.find((one) => one.name.value === 'semanticNonNull');
        const levels = (directive?.arguments ?? []).length === 0 ? '0' : '1';
        return directive === undefined ? [] : [[`${type.name}.${name}`, levels] as const];
      }),
    ),
);

test.each([
  ['OrderConnection.nodes', '1'],
  ['ShipmentEdge.node', '0'],
  ['Query.orders', '0'],
  ['Subscription.shipments', '0'],
  ['Recipient.orders', '0'],
  ['Query.orderCounts', '0'],
  ['Mutation.shipOrder', '0'],
  ['Mutation.createOrders', '0'],
])('the client schema marks %s as null only with an error, at level %s', (coordinate, level) => {
  expect(marked.get(coordinate)).toBe(level);
});

test.each(['Query.order', 'Query.nodes', 'Order.shipment', 'Shipment.label', 'Quote.cheapestOffer'])(
  'the client schema does not mark %s, which can be null without an error',
  (coordinate) => {
    expect(marked.has(coordinate)).toBe(false);
  },
);

test('a field that the client schema marks is null only with an error at its path', async () => {
  await using waybill = await startWaybill();
  waybill.sandbox.faults.add({ kind: 'status', status: 500 });
  const { data, errors } = await waybill.ask<{ orders: null; orderCounts: null; shipments: null }, object>(
    '{ orders { nodes { id } } orderCounts { total } shipments { nodes { id } } }',
  );
  expect(data).toEqual({ orders: null, orderCounts: null, shipments: null });
  expect(errors?.map(({ path }) => path?.join('.')).sort()).toEqual(['orderCounts', 'orders', 'shipments']);
});

test('the client files have a TypeScript type for each custom scalar', () => {
  const own = Object.values(schema.getTypeMap())
    .filter(({ name, astNode }) => /^[A-Z]/.test(name) && astNode === undefined)
    .filter((type) => 'serialize' in type && !('getValues' in type))
    .map(({ name }) => name)
    .filter((name) => !['ID', 'String', 'Int', 'Float', 'Boolean'].includes(name));
  expect(Object.keys(scalars).sort()).toEqual(own.sort());
});
