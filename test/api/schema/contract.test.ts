import { isAbstractType, isListType, isNonNullType, isObjectType } from 'graphql';
import { afterAll, expect, test } from 'vitest';
import { schema } from '../../../src/graph/schema.ts';
import { knownRecords } from '../../fixtures/known-records.ts';
import { startWaybill } from '../../harness.ts';

// What clients with a normalizing store, such as Relay's, rest on.

const waybill = await startWaybill();
afterAll(() => waybill[Symbol.asyncDispose]());

const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'));
const objects = types.filter(isObjectType);

test('only nodes, labels and messages have an id', () => {
  const withId = objects.filter((type) => 'id' in type.getFields());
  const others = withId.filter((type) => !type.getInterfaces().some(({ name }) => name === 'Node'));
  const records = [...knownRecords.map(({ typename }) => typename), 'Label', 'Message'];
  expect(withId.map(({ name }) => name).sort()).toEqual(records.sort());
  expect(others.map(({ name }) => name)).toEqual(['Label', 'Message']);
});

test('no two types share an id', async () => {
  // Every type that has an id, from all sides.
  const { data } = await waybill.ask<Record<string, unknown>, { ids: string[] }>(
    `query ($ids: [ID!]!) {
    orders(first: 200) { nodes { __typename id shipment {
      __typename id label { __typename id } courier { __typename id } origin { __typename id location { __typename id } }
      quote { __typename id order { __typename id } origin { __typename id } destination { __typename id } }
    } } }
    organization { __typename id }
    channels { nodes { __typename id } }
    conversation(id: "channels/ca1/conversations/ca60") { __typename id messages { nodes { __typename id } } }
    nodes(ids: $ids) { __typename id }
  }`,
    { ids: knownRecords.map(({ id }) => id) },
  );
  const typesById = new Map<string, Set<string>>();
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('id' in value && '__typename' in value) {
      const types = typesById.get(String(value.id)) ?? new Set();
      typesById.set(String(value.id), types.add(String(value.__typename)));
    }
    for (const part of Object.values(value)) walk(part);
  };
  walk(data);
  expect(typesById.size).toBeGreaterThan(400);
  expect([...typesById].filter(([, types]) => types.size > 1)).toEqual([]);
  expect(new Set([...typesById.values()].flatMap((types) => [...types]))).toEqual(
    new Set(objects.filter((type) => 'id' in type.getFields()).map(({ name }) => name)),
  );
});

test('a field has one type in all members of a union, except reason and shipment', () => {
  const clashes = types.flatMap((type) => {
    if (!isAbstractType(type) || type.name === 'Node') return [];
    const byName = new Map<string, string>();
    return schema.getPossibleTypes(type).flatMap((member) =>
      Object.values(member.getFields()).flatMap((field) => {
        const other = byName.get(field.name) ?? String(field.type);
        byName.set(field.name, other);
        return other === String(field.type) ? [] : [`${type.name}: ${member.name}.${field.name}`];
      }),
    );
  });
  // Clients give these an alias: each kind of reason has an enum of its own, and only a conflict may lack the shipment.
  expect(clashes).toEqual([
    'CreateShipmentResult: CreateShipmentSuccess.shipment',
    'ShipOrderResult: NoOffer.reason',
    'ShipOrderResult: ShipOrderSuccess.shipment',
    'UserError: NoOffer.reason',
  ]);
});

test('every root field except "nodes" is nullable', () => {
  const roots = [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
    Object.values(type?.getFields() ?? {}),
  );
  const nonNull = roots.filter(({ type }) => isNonNullType(type)).map(({ name }) => name);
  // Its items may be null, and nothing else of it can fail.
  expect(nonNull).toEqual(['nodes']);
  const lists = roots.filter(({ type }) => isListType(type)).map(({ name, type }) => [name, String(type)]);
  expect(lists).toEqual([
    ['createOrders', '[CreateOrderResult!]'],
    ['sendMessages', '[SendMessageResult!]'],
    ['shipOrders', '[ShipOrderResult!]'],
    ['updateOrders', '[UpdateOrderResult!]'],
  ]);
});

test('the schema has a description', () => {
  expect(schema.description).toMatch(/^The orders, delivery quotes, shipments and messages of a merchant/);
});

test('a failed mutation does not affect other mutations of the request', async () => {
  const { sandbox } = waybill;
  sandbox.faults.add({ kind: 'status', status: 503, method: 'PATCH', path: '/v1/orders/ca2491' });
  const { status, data, errors, calls } = await waybill.ask(`mutation {
    first: updateOrder(input: { id: "ca2490", notes: "one" }) { ... on UpdateOrderSuccess { order { notes } } }
    second: updateOrder(input: { id: "ca2491", notes: "two" }) { ... on UpdateOrderSuccess { order { notes } } }
    third: updateOrder(input: { id: "ca2490", notes: "three" }) { ... on UpdateOrderSuccess { order { notes } } }
  }`);
  expect(status).toBe(200);
  expect(data).toEqual({
    first: { order: { notes: 'one' } },
    second: null,
    third: { order: { notes: 'three' } },
  });
  expect(errors).toMatchObject([{ path: ['second'], extensions: { code: 'UPSTREAM_UNAVAILABLE' } }]);
  expect(calls).toEqual(['PATCH /v1/orders/ca2490', 'PATCH /v1/orders/ca2491', 'PATCH /v1/orders/ca2490']);
  sandbox.faults.clear();
});

test('a failed root list is null and does not affect other root lists', async () => {
  const { sandbox } = waybill;
  sandbox.faults.add({ kind: 'status', status: 503, method: 'GET', path: '/v1/orders' });
  const { data, errors } = await waybill.ask('{ orders { nodes { id } } channels { nodes { id } } }');
  expect(data).toEqual({
    orders: null,
    channels: { nodes: expect.arrayContaining([{ id: 'channels/ca1' }]) },
  });
  expect(errors).toMatchObject([{ path: ['orders'] }]);
  sandbox.faults.clear();
});

test('a courier is a node that costs no call', async () => {
  const { data, errors, calls } = await waybill.ask(
    '{ node(id: "couriers/rutandina") { id __typename ... on Courier { code } } }',
  );
  expect(data).toEqual({ node: { id: 'couriers/rutandina', __typename: 'Courier', code: 'rutandina' } });
  expect([errors, calls]).toEqual([undefined, []]);
});

test.each([
  ['labels/ca2036', 'labels/ca2036'],
  ['ca2036', 'labels/ca2036'],
  ['shipments/ca2036', 'labels/shipments/ca2036'],
])('a label with the REST name %s has the id %s', async (label, id) => {
  waybill.sandbox.faults.add({
    kind: 'change',
    path: '/v1/shipments/ca2036',
    change: (shipment) => ({ ...(shipment as object), label }),
  });
  const { data } = await waybill.ask('{ shipment(id: "ca2036") { label { id } } }');
  expect(data).toEqual({ shipment: { label: { id } } });
  waybill.sandbox.faults.clear();
});
