import { readFileSync } from 'node:fs';
import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isLeafType,
  isObjectType,
  isSpecifiedScalarType,
  printSchema,
  validateSchema,
} from 'graphql';
import { afterAll, describe, expect, test } from 'vitest';
import { schema } from '../../../src/graph/schema.ts';
import { inputs, literal, takesKey } from '../../fixtures/mutation-inputs.ts';
import { startWaybill } from '../../harness.ts';

const types = Object.values(schema.getTypeMap()).filter(
  (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
);
const objectTypes = types.filter(isObjectType);

test('it is valid', () => expect(validateSchema(schema)).toEqual([]));

test('schema.graphql is what the code says', () => {
  const printed = readFileSync(new URL('../../../schema.graphql', import.meta.url), 'utf8');
  expect(printed, 'run `npm run codegen`').toBe(`${printSchema(schema)}\n`);
});

describe('descriptions', () => {
  interface Described {
    name: string;
    description?: string | null | undefined;
  }
  const within = (parent: string, parts: readonly Described[]) =>
    parts.map(({ name, description }) => ({ name: `${parent}.${name}`, description }));

  function describedParts(type: GraphQLNamedType): Described[] {
    if (isEnumType(type)) return within(type.name, type.getValues());
    if (isInputObjectType(type)) return within(type.name, Object.values(type.getFields()));
    if (!isObjectType(type) && !isInterfaceType(type)) return [];
    return Object.values(type.getFields()).flatMap((field) => [
      ...within(type.name, [field]),
      ...within(`${type.name}.${field.name}`, field.args),
    ]);
  }

  test('stand at every type, field, argument and enum value', () => {
    const described = types.flatMap((type): Described[] => [type, ...describedParts(type)]);
    expect(described.length).toBeGreaterThan(300);
    expect(described.filter(({ description }) => !description?.trim()).map(({ name }) => name)).toEqual([]);
  });

  test('are sentences', () => {
    const described = types.flatMap((type): Described[] => [type, ...describedParts(type)]);
    const unfinished = described.filter(({ description }) => !/[.`]$/.test(description ?? ''));
    expect(unfinished.map(({ name }) => name)).toEqual([]);
  });
});

/** A mutation for one member of its result. */
function written(mutation: string, member: string, more = {}): string {
  const key = takesKey(mutation) ? { idempotencyKey: member } : {};
  const input = literal({ ...inputs[mutation], ...more, ...key });
  return `mutation { ${mutation}(input: ${input}) { ... on ${member} { … } } }`;
}

/** Calls that a description tells of, and that only some inputs cost. */
const sometimes: Record<string, string[]> = {
  'Label.pdfUrl': ['GET /v1/shipments/{id}/label'],
  'Order.shipment': ['GET /v1/shipments'],
  'Mutation.createOrder': ['GET /v1/orders'],
  'Mutation.shipOrder': ['GET /v1/shipments', 'GET /v1/shipments/{id}'],
  'ShipOrderSuccess.order': ['GET /v1/orders/{id}'],
};

/** A query for one record of each type that has fields, with `…` where these go. */
const samples: Record<string, string> = {
  Query: '{ … }',
  Order: '{ order(id: "ca2481") { … } }',
  Recipient: '{ order(id: "ca2481") { recipient { … } } }',
  Address: '{ order(id: "ca2481") { recipient { address { … } } } }',
  CustomerBehavior: '{ order(id: "ca2481") { customerBehavior { … } } }',
  Money: '{ order(id: "ca2481") { sellingPrice { … } } }',
  OrderConnection: '{ orders(first: 1) { … } }',
  OrderEdge: '{ orders(first: 1) { edges { … } } }',
  PageInfo: '{ orders(first: 1) { pageInfo { … } } }',
  Shipment: '{ shipment(id: "ca0001") { … } }',
  ShipmentConnection: '{ shipments(first: 1) { … } }',
  ShipmentEdge: '{ shipments(first: 1) { edges { … } } }',
  Label: '{ shipment(id: "ca0001") { label { … } } }',
  Courier: '{ shipment(id: "ca0001") { courier { … } } }',
  Quote: '{ quote(id: "ca0001") { … } }',
  Package: '{ quote(id: "ca0001") { package { … } } }',
  PackageDimensions: '{ quote(id: "ca0001") { package { dimensions { … } } } }',
  Offer: '{ quote(id: "ca0001") { offers { … } } }',
  Origin: '{ origin(id: "ca1") { … } }',
  OriginConnection: '{ origins(first: 1) { … } }',
  OriginEdge: '{ origins(first: 1) { edges { … } } }',
  Location: '{ location(id: "narino-pasto") { … } }',
  LocationConnection: '{ locations(first: 1) { … } }',
  LocationEdge: '{ locations(first: 1) { edges { … } } }',
  Organization: '{ organization { … } }',
  Channel: '{ channel(id: "ca1") { … } }',
  ChannelConnection: '{ channels(first: 1) { … } }',
  ChannelEdge: '{ channels(first: 1) { edges { … } } }',
  Template: '{ channel(id: "ca1") { template(name: "pedido_confirmado") { … } } }',
  TemplateText: '{ channel(id: "ca1") { template(name: "pedido_confirmado") { body { … } } } }',
  TemplateParameterDefinition:
    '{ channel(id: "ca1") { template(name: "pedido_confirmado") { body { parameters { … } } } } }',
  TemplatePreview: '{ channel(id: "ca1") { template(name: "pedido_confirmado") { preview { … } } } }',
  TemplateConnection: '{ channel(id: "ca1") { templates(first: 1) { … } } }',
  TemplateEdge: '{ channel(id: "ca1") { templates(first: 1) { edges { … } } } }',
  Conversation: '{ conversation(id: "channels/ca1/conversations/ca53") { … } }',
  Message: '{ conversation(id: "channels/ca1/conversations/ca53") { messages(first: 1) { nodes { … } } } }',
  MessageConnection: '{ conversation(id: "channels/ca1/conversations/ca53") { messages(first: 1) { … } } }',
  MessageEdge:
    '{ conversation(id: "channels/ca1/conversations/ca53") { messages(first: 1) { edges { … } } } }',
  SentTemplate:
    '{ conversation(id: "channels/ca1/conversations/ca53") { messages(first: 1) { nodes { template { … } } } } }',
  TemplateParameter:
    '{ conversation(id: "channels/ca1/conversations/ca53") { messages(first: 1) { nodes { template { bodyParameters { … } } } } } }',

  // What is written has a key of its own for each type, so that only the first question for it makes calls.
  Mutation: 'mutation { … }',
  CreateOrderSuccess: written('createOrder', 'CreateOrderSuccess'),
  UpdateOrderSuccess: written('updateOrder', 'UpdateOrderSuccess'),
  CreateQuoteSuccess: written('createQuote', 'CreateQuoteSuccess'),
  CreateShipmentSuccess: written('createShipment', 'CreateShipmentSuccess'),
  SendMessageSuccess: written('sendMessage', 'SendMessageSuccess'),
  ShipOrderSuccess: written('shipOrder', 'ShipOrderSuccess'),
  NoOffer: written('shipOrder', 'NoOffer', { maxShipmentCostCents: 0 }),
  InvalidInput: 'mutation { updateOrder(input: { id: "ca2496" }) { ... on InvalidInput { … } } }',
  InvalidField: 'mutation { updateOrder(input: { id: "ca2496" }) { ... on InvalidInput { fields { … } } } }',
  NotFound: 'mutation { updateOrder(input: { id: "none", notes: "None" }) { ... on NotFound { … } } }',
  Conflict: 'mutation { updateOrder(input: { id: "ca0001", notes: "Late" }) { ... on Conflict { … } } }',
  OutcomeUnknown:
    'mutation { updateOrder(input: { id: "ca2480", notes: "Cut" }) { ... on OutcomeUnknown { … } } }',
  WriteFailed:
    'mutation { updateOrders(inputs: [{ id: "ca2415", notes: "Broken" }, { id: "" }]) { ... on WriteFailed { … } } }',
};

const ids: Record<string, string> = {
  order: 'ca2481',
  shipment: 'ca0001',
  quote: 'ca0001',
  origin: 'ca1',
  location: 'narino-pasto',
  channel: 'ca1',
  conversation: 'channels/ca1/conversations/ca53',
  'Channel.conversation': 'ca53',
  node: 'orders/ca2481',
};

describe('what a field costs', async () => {
  const waybill = await startWaybill();
  afterAll(() => waybill[Symbol.asyncDispose]());

  test('is known for every type', () => {
    expect(Object.keys(samples).sort()).toEqual(objectTypes.map(({ name }) => name).sort());
  });

  const { faults } = waybill.sandbox;
  faults.add({ kind: 'reset', method: 'PATCH', path: '/v1/orders/ca2480' });
  faults.add({ kind: 'status', status: 500, method: 'PATCH', path: '/v1/orders/ca2415' });

  /** The endpoints that a query asks, each once: `GET /v1/orders/{id}`. */
  async function endpoints(type: GraphQLObjectType, selection: string): Promise<Set<string>> {
    const sample = samples[type.name]?.replace('…', () => selection) ?? '';
    const { calls, errors } = await waybill.ask(
      await withNewRecords(sample, type.name === 'Mutation' ? selection : type.name),
    );
    expect(errors, `${type.name}: ${selection}`).toBeUndefined();
    return new Set(calls.map(endpointOf));
  }

  const records = new Map<string, string>();

  /** Puts an order that has no shipment yet in the place of ORDER, the same for the same use; and so a quote. */
  async function withNewRecords(sample: string, use: string): Promise<string> {
    let query = sample;
    for (const name of ['ORDER', 'QUOTE', 'COURIER']) {
      if (!query.includes(`"${name}"`)) continue;
      if (!records.has(`${use} ${name}`)) {
        const { data } = await waybill.ask<NewRecords, unknown>(`mutation {
          createOrder(input: ${literal(inputs.createOrder)}) { ... on CreateOrderSuccess { order { id } } }
          createQuote(input: ${literal(inputs.createQuote)}) {
            ... on CreateQuoteSuccess { quote { id cheapestOffer { courier { id } } } }
          }
        }`);
        records.set(`${use} ORDER`, data.createOrder.order.id);
        records.set(`${use} QUOTE`, data.createQuote.quote.id);
        records.set(`${use} COURIER`, data.createQuote.quote.cheapestOffer.courier.id);
      }
      query = query.replaceAll(`"${name}"`, () => JSON.stringify(records.get(`${use} ${name}`)));
    }
    return query;
  }

  test.each(objectTypes)('stands in the descriptions of the fields of $name', async (type) => {
    const parent = await endpoints(type, '__typename');
    for (const field of Object.values(type.getFields())) {
      const name = `${type.name}.${field.name}`;
      const asked = await endpoints(type, selectionOf(type, field));
      const costs = [...asked.difference(parent), ...(sometimes[name] ?? [])].sort();
      const told = [...(field.description ?? '').matchAll(/(GET|POST|PATCH) \/v1\/[a-z/{}]+/g)].map(
        ([call]) => call,
      );
      expect({ name, told: [...new Set(told)].sort() }).toEqual({ name, told: costs });
    }
  });
});

interface NewRecords {
  createOrder: { order: { id: string } };
  createQuote: { quote: { id: string; cheapestOffer: { courier: { id: string } } } };
}

function endpointOf(call: string): string {
  const [path = ''] = call.split('?');
  return path.replace(/(orders|shipments|quotes|channels|conversations)\/[^/]+/g, '$1/{id}');
}

/** A field, with something below it that an id does not tell, so that the record is read. */
function selectionOf(
  type: GraphQLObjectType,
  { name, args, type: fieldType }: GraphQLField<unknown, unknown>,
): string {
  const given = args.flatMap((argument) => {
    if (argument.name === 'id') return [`id: "${ids[`${type.name}.${name}`] ?? ids[name]}"`];
    if (argument.name === 'ids') return ['ids: ["orders/ca2481"]'];
    if (argument.name === 'name') return ['name: "pedido_confirmado"'];
    if (argument.name === 'referenceId') return ['referenceId: "1"'];
    if (argument.name === 'input') return [`input: ${literal(inputs[name])}`];
    if (argument.name === 'inputs') return [`inputs: ${literal(inputs[name.replace(/s$/, '')])}`];
    return [];
  });
  const below = getNamedType(fieldType);
  const selected = isLeafType(below) ? '' : isObjectType(below) ? `{ ${partOf(below)} }` : '{ __typename }';
  return `${name}${given.length > 0 ? `(${given.join(', ')})` : ''} ${selected}`;
}

/** A part of a record that costs no call of its own. */
function partOf(type: GraphQLObjectType): string {
  const parts = Object.values(type.getFields()).filter(
    ({ name, description }) => name !== 'id' && !description?.includes('GET /v1/'),
  );
  const leaf = parts.find((field) => isLeafType(getNamedType(field.type)));
  const [part] = leaf === undefined ? parts.map(({ name }) => `${name} { __typename }`) : [leaf.name];
  return part ?? 'id';
}
