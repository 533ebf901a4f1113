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
  isUnionType,
  printSchema,
  validateSchema,
} from 'graphql';
import { afterAll, describe, expect, test } from 'vitest';
import { schema } from '../../../src/graph/schema.ts';
import { learnMerchants } from '../../fixtures/known-merchant.ts';
import { knownIdFor } from '../../fixtures/known-records.ts';
import { inputFor, literal } from '../../fixtures/mutation-inputs.ts';
import { startWaybill } from '../../harness.ts';

const types = Object.values(schema.getTypeMap()).filter(
  (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
);
const objectTypes = types.filter(isObjectType);

test('the schema is valid', () => expect(validateSchema(schema)).toEqual([]));

test('schema.graphql equals the schema of the code', () => {
  const printed = readFileSync(new URL('../../../schema.graphql', import.meta.url), 'utf8');
  expect(printed, 'run `npm run codegen`').toBe(`${printSchema(schema)}\n`);
});

test('the fields of Subscription have the arguments, types and resolvers of Query', () => {
  const fieldsOf = (type: GraphQLObjectType | null | undefined) => type?.toConfig().fields ?? {};
  const watched = fieldsOf(schema.getSubscriptionType());
  const queried = fieldsOf(schema.getQueryType());
  const names = ['conversation', 'nodes', 'order', 'orders', 'organization', 'shipment', 'shipments'];
  expect(Object.keys(watched).sort()).toEqual(names);
  expect(watched).toEqual(Object.fromEntries(names.map((name) => [name, queried[name]])));
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

  test('exist for each type, field, argument and enum value', () => {
    const described = types.flatMap((type): Described[] => [type, ...describedParts(type)]);
    expect(described.length).toBeGreaterThan(300);
    expect(described.filter(({ description }) => !description?.trim()).map(({ name }) => name)).toEqual([]);
  });

  test('end with a full stop or a code span', () => {
    const described = types.flatMap((type): Described[] => [type, ...describedParts(type)]);
    const unfinished = described.filter(({ description }) => !/[.`]$/.test(description ?? ''));
    expect(unfinished.map(({ name }) => name)).toEqual([]);
  });
});

/** A mutation for one member of its result, without a key. The descriptions of the keys say what a repeated key costs. */
function written(mutation: string, member: string, more = {}): string {
  const input = literal({ ...inputFor(mutation), ...more });
  return `mutation { ${mutation}(input: ${input}) { ... on ${member} { … } } }`;
}

/** Calls that a description tells of, and that only some inputs cost. */
const sometimes: Record<string, string[]> = {
  'Label.pdfUrl': ['GET /v1/shipments/{id}/label'],
  'Order.shipment': ['GET /v1/shipments'],
  'Mutation.createOrder': ['GET /v1/orders'],
  'Mutation.createOrders': ['GET /v1/orders'],
  'Mutation.createShipment': ['GET /v1/orders/{id}'],
  'Mutation.createLabelDocument': ['GET /v1/shipments'],
  'Mutation.shipOrder': ['GET /v1/shipments', 'GET /v1/shipments/{id}'],
  'ShipOrderSuccess.order': ['GET /v1/orders/{id}'],
};

const labelDocument = written('createLabelDocument', 'CreateLabelDocumentSuccess');

/** Queries for types of results and errors, with `…` in the place of the fields. The other types are found by a search. */
const resultSamples: Record<string, string> = {
  NoOffer: written('shipOrder', 'NoOffer', { maxShipmentCostCents: 0 }),
  LabelDocument: labelDocument.replace('…', 'document { … }'),
  LabelDocumentEntry: labelDocument.replace('…', 'document { entries { … } }'),
  InvalidInput: 'mutation { updateOrder(input: { id: "ca2496" }) { ... on InvalidInput { … } } }',
  InvalidField: 'mutation { updateOrder(input: { id: "ca2496" }) { ... on InvalidInput { fields { … } } } }',
  NotFound: 'mutation { updateOrder(input: { id: "none", notes: "None" }) { ... on NotFound { … } } }',
  Conflict: written('shipOrder', 'Conflict', { order: 'ca2481' }),
  OutcomeUnknown:
    'mutation { updateOrder(input: { id: "ca2480", notes: "Cut" }) { ... on OutcomeUnknown { … } } }',
  WriteFailed:
    'mutation { updateOrders(inputs: [{ id: "ca2415", notes: "Broken" }, { id: "" }]) { ... on WriteFailed { … } } }',
};

/**
 * A short query for one object of each type that a query leads to, with `…` in the place of the fields, such as
 * `{ order(id: "orders/ca2481") { recipient { … } } }`. Leads through lists only to what nothing else leads to.
 */
function readSamples(): Record<string, string> {
  const found = new Map([['Query', '{ … }']]);
  for (const throughLists of [false, true]) {
    // The loop reaches the entries that it adds, too.
    for (const [typeName, sample] of found) {
      const parent = objectTypes.find(({ name }) => name === typeName);
      for (const field of Object.values(parent?.getFields() ?? {})) {
        const type = getNamedType(field.type);
        if (!isObjectType(type) || found.has(type.name)) continue;
        if (!throughLists && type.name.endsWith('Connection')) continue;
        const selection = `${field.name}${argumentsOf(field)} { … }`;
        found.set(
          type.name,
          sample.replace('…', () => selection),
        );
      }
    }
  }
  return Object.fromEntries(found);
}

/** A mutation for each success. */
function successSamples(): Record<string, string> {
  const samples = Object.values(schema.getMutationType()?.getFields() ?? {}).flatMap(
    ({ name, type, args }) => {
      const result = getNamedType(type);
      const isBatch = args.some((argument) => argument.name === 'inputs');
      const members = !isBatch && isUnionType(result) ? result.getTypes() : [];
      const successes = members.filter((member) => member.name.endsWith('Success'));
      return successes.map((member) => [member.name, written(name, member.name)]);
    },
  );
  return Object.fromEntries(samples);
}

/** A query or mutation for one object of each type, with `…` in the place of the fields. */
const samples: Record<string, string> = {
  ...readSamples(),
  Mutation: 'mutation { … }',
  ...successSamples(),
  ...resultSamples,
};

describe('the cost of a field', async () => {
  const waybill = await startWaybill();
  afterAll(() => waybill[Symbol.asyncDispose]());
  // The call for the merchant is made once per token, so no description of a field names it.
  await learnMerchants(waybill, waybill.sandbox.tokens.first);

  // A subscription costs what its query costs: test/api/live.
  const askedTypes = objectTypes.filter((type) => type !== schema.getSubscriptionType());

  test('is tested for every object type', () => {
    expect(Object.keys(samples).sort()).toEqual(askedTypes.map(({ name }) => name).sort());
  });

  const { faults } = waybill.sandbox;
  faults.add({ kind: 'reset', method: 'PATCH', path: '/v1/orders/ca2480' });
  faults.add({ kind: 'status', status: 500, method: 'PATCH', path: '/v1/orders/ca2415' });

  /** The endpoints that a query asks, each once: `GET /v1/orders/{id}`. */
  async function endpoints(type: GraphQLObjectType, selection: string): Promise<Set<string>> {
    const sample = samples[type.name]?.replace('…', () => selection) ?? '';
    const { data, calls, errors } = await waybill.ask(await withNewRecords(sample));
    expect(errors, `${type.name}: ${selection}`).toBeUndefined();
    if (selection === '__typename') {
      expect(JSON.stringify(data), `${sample} finds no ${type.name}`).toContain(
        `"__typename":"${type.name}"`,
      );
    }
    return new Set(calls.map(endpointOf));
  }

  /** Replaces ORDER, QUOTE and COURIER by an order without a shipment, a new quote, and a courier that it offers. */
  async function withNewRecords(sample: string): Promise<string> {
    if (!/"(?:ORDER|QUOTE|COURIER)"/.test(sample)) return sample;
    const { data } = await waybill.ask<NewRecords, unknown>(`mutation {
      createOrder(input: ${literal(inputFor('createOrder'))}) { ... on CreateOrderSuccess { order { id } } }
      createQuote(input: ${literal(inputFor('createQuote'))}) {
        ... on CreateQuoteSuccess { quote { id cheapestOffer { courier { id } } } }
      }
    }`);
    const { order } = data.createOrder;
    const { quote } = data.createQuote;
    return sample
      .replaceAll('"ORDER"', JSON.stringify(order.id))
      .replaceAll('"QUOTE"', JSON.stringify(quote.id))
      .replaceAll('"COURIER"', JSON.stringify(quote.cheapestOffer.courier.id));
  }

  test.each(askedTypes)('is in the description of the field: type $name', async (type) => {
    const parent = await endpoints(type, '__typename');
    for (const field of Object.values(type.getFields())) {
      const name = `${type.name}.${field.name}`;
      const asked = await endpoints(type, selectionOf(field));
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
  return path.replace(/\/([a-z]+)\/(?!mine$)[^/]+/g, '/$1/{id}');
}

/** A field with a selection that an id is not enough for, so that the record is read. */
function selectionOf(field: GraphQLField<unknown, unknown>): string {
  const below = getNamedType(field.type);
  const selected = isLeafType(below) ? '' : isObjectType(below) ? `{ ${partOf(below)} }` : '{ __typename }';
  return `${field.name}${argumentsOf(field)} ${selected}`;
}

/** The arguments of a field that finds something: `(id: "orders/ca2481")`, or the empty string. */
function argumentsOf(field: GraphQLField<unknown, unknown>): string {
  const given = field.args.flatMap(({ name }) => {
    if (name === 'id') return [`id: "${knownIdFor(field)}"`];
    if (name === 'ids') return [`ids: ["${knownIdFor(field)}"]`];
    if (name === 'name') return ['name: "pedido_confirmado"'];
    if (name === 'referenceId') return ['referenceId: "1"'];
    if (name === 'input' || name === 'inputs') return [`${name}: ${literal(inputFor(field.name))}`];
    return [];
  });
  return given.length > 0 ? `(${given.join(', ')})` : '';
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
