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
import { schema } from '../src/graph/schema.ts';
import { startWaybill } from './harness.ts';

const types = Object.values(schema.getTypeMap()).filter(
  (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
);
const objectTypes = types.filter(isObjectType);

test('it is valid', () => expect(validateSchema(schema)).toEqual([]));

test('schema.graphql is what the code says', () => {
  const printed = readFileSync(new URL('../schema.graphql', import.meta.url), 'utf8');
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

  /** The endpoints that a query asks, each once: `GET /v1/orders/{id}`. */
  async function endpoints(type: GraphQLObjectType, selection: string): Promise<Set<string>> {
    const { calls, errors } = await waybill.ask(samples[type.name]?.replace('…', selection) ?? '');
    expect(errors, `${type.name}: ${selection}`).toBeUndefined();
    return new Set(calls.map(endpointOf));
  }

  test.each(objectTypes)('stands in the descriptions of the fields of $name', async (type) => {
    const parent = await endpoints(type, '__typename');
    for (const field of Object.values(type.getFields())) {
      const asked = await endpoints(type, selectionOf(type, field));
      const costs = [...asked.difference(parent)].sort();
      const told = [...(field.description ?? '').matchAll(/GET \/v1\/[a-z/{}]+/g)]
        .map(([call]) => call)
        .sort();
      const pdf = `${type.name}.${field.name}` === 'Label.pdfUrl' ? ['GET /v1/shipments/{id}/label'] : [];
      expect({ field: `${type.name}.${field.name}`, told }).toEqual({
        field: `${type.name}.${field.name}`,
        told: [...costs, ...pdf],
      });
    }
  });
});

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
