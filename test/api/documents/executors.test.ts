import { setTimeout as sleep } from 'node:timers/promises';
import { type GraphQLNamedType, getNamedType, isObjectType, parse } from 'graphql';
import { afterAll, expect, test, vi } from 'vitest';
import { schema } from '../../../src/graph/schema.ts';
import type { Fault } from '../../../src/sandbox/sandbox.ts';
import { collectDefinitions, SelectionSizes } from '../../../src/server/document-syntax/selections.ts';
import { fixedLimits } from '../../../src/server/limits/limits.ts';
import { graphqlJsExecutor } from '../../fixtures/graphql-js-executor.ts';
import { knownIdFor } from '../../fixtures/known-records.ts';
import { generateOperation, randomNumbers, type Values } from '../../fixtures/query-generator.ts';
import { type Answer, startWaybill } from '../../harness.ts';

// Counts tell their time, which must be the same for both executors.
vi.useFakeTimers({ toFake: ['Date'] });

// More where a type has not been reached by then, as any change of the schema makes other queries.
const queriesPerField = { least: 20, most: 80 };

const ids = (...names: string[]): Values => ({
  good: names.map((name) => JSON.stringify(name)),
  bad: ['"none"', '"couriers/rutandina"', '".."', '""'],
});

/** What arguments get, by the argument's whole name or by its name alone. An `id` that is not listed gets a known id. */
const values: Record<string, Values> = {
  'Query.order.id': ids('orders/ca2481', 'ca2496', 'ca2470'),
  'Query.shipment.id': ids('shipments/ca0001', 'ca1500'),
  'Query.quote.id': ids('quotes/ca0001', 'ca2000'),
  'Query.origin.id': ids('origins/ca1', 'ca4'),
  'Query.location.id': ids('locations/narino-pasto', 'antioquia-medellin'),
  'Query.channel.id': ids('channels/ca1', 'ca2', 'ca3'),
  'Query.conversation.id': ids('channels/ca1/conversations/ca60', 'channels/ca1/conversations/ca58'),
  'Channel.conversation.id': ids('ca60', 'channels/ca1/conversations/ca58', 'ca57'),
  'Query.node.id': ids('orders/ca2481', 'shipments/ca0001', 'quotes/ca0001', 'origins/ca1', 'channels/ca1'),
  'Query.nodes.ids': {
    good: [
      '["orders/ca2481", "locations/narino-pasto", "orders/ca2481", "quotes/ca0001"]',
      '["organization/cafe-andino", "channels/ca1/conversations/ca60", "shipments/none", "bad"]',
      '["bad", "origins/ca1", "", "channels/ca1", ".."]',
      '"shipments/ca0001"',
    ],
    bad: ['[]'],
  },
  'Channel.template.name': { good: ['"pedido_confirmado"', '"pedido_en_camino"'], bad: ['"none"'] },
  first: { good: ['0', '1', '2', '3', 'null'], bad: [] },
  after: { good: ['null'], bad: ['"forged"', '""'] },
  search: { good: ['"Medellín"', '"Lucía"', 'null', '""'], bad: ['"nobody at all"'] },
  status: { good: ['[NEW]', '[DELIVERED, RETURN]', 'CANCELLED', '[]', 'null'], bad: ['[UNRECOGNIZED]'] },
  'Query.shipments.status': {
    good: ['[DELIVERED]', '[WITH_ERROR, RETURN]', '[]', 'null'],
    bad: ['[UNRECOGNIZED]'],
  },
  createdSince: { good: ['"2026-10-30T00:00:00Z"', 'null'], bad: ['"soon"'] },
  createdUntil: { good: ['"2026-11-01T00:00:00Z"', 'null'], bad: ['""'] },
  referenceId: { good: ['"5320321908408"', '"none"'], bad: ['""'] },
  locale: { good: ['"en-US"', '"es-CO"', 'null'], bad: ['"not a locale"'] },
  language: { good: ['"es"', '"en"', 'null'], bad: ['"pt_BR"'] },
  headerParameters: {
    good: ['[]', 'null', '[{name: "1", value: "x"}]', '{name: "customer_name", value: "Íñigo"}'],
    bad: ['[{name: "a", value: "1"}, {name: "a", value: "2"}]'],
  },
  'Mutation.updateOrder.input': {
    good: [
      '{ id: "ca2496", notes: "Frágil" }',
      '{ id: "orders/ca2490", fulfiller: "REST", notes: "Otra" }',
      '{ id: "none", notes: "Nada" }',
    ],
    bad: ['{ id: "ca2496" }', '{ id: "..", notes: "Nada" }', '{ id: "ca0001", notes: "Nada" }'],
  },
  'Mutation.updateOrders.inputs': {
    good: [
      '[{ id: "ca2496", notes: "Frágil" }, { id: "none", notes: "Nada" }]',
      '{ id: "ca2490", paymentMethods: [] }',
    ],
    bad: ['[{ id: "none", notes: "Nada" }, { id: "none", notes: "Nunca" }]', '[]'],
  },
  'Mutation.shipOrder.input': {
    good: [
      '{ order: "none", origin: "ca1", package: { contentDescription: "Café", declaredValueCents: 1, weightKg: 1, dimensions: { heightCm: 1, lengthCm: 1, widthCm: 1 } } }',
    ],
    bad: [],
  },
  bodyParameters: { good: ['[]', '[{name: "1", value: "x"}, {name: "__proto__", value: "y"}]'], bad: [] },
};

function valuesOf(argument: string): Values | undefined {
  const [typeName = '', fieldName = '', name = ''] = argument.split('.');
  const listed = values[argument] ?? values[name];
  if (listed !== undefined || name !== 'id') return listed;
  const type = schema.getType(typeName);
  const field = isObjectType(type) ? type.getFields()[fieldName] : undefined;
  return field && ids(knownIdFor(field));
}

/** Values that the graph can't give out, in the place of what REST sends under these names. */
const broken: Record<string, unknown> = {
  locality: null,
  status: undefined,
  addressLines: 'no list',
  totalCostCents: 0.5,
  totalShipments: 1.5,
  createTime: 'soon',
  active: 'yes',
  buttons: [1, null, ['a']],
  location: 'couriers/rutandina',
  offers: [null, { courier: 'couriers/a' }, 7],
};

/** What is wrong with REST, in turn; a fault that strikes by its path does so whoever asks first. */
const faults: (Fault | undefined)[] = [
  undefined,
  undefined,
  { path: /locations|templates|shipments/, kind: 'status', status: 503 },
  {
    kind: 'change',
    change: (answer) =>
      JSON.parse(JSON.stringify(answer), (key, value) => (Object.hasOwn(broken, key) ? broken[key] : value)),
  },
];

// Every field that is generated has an alias, and many have lists below.
const limits = { aliases: 10_000, depth: 200, nodes: 100_000_000 };
const planned = await startWaybill({}, { limits });
const { sandbox } = planned;
const standard = await startWaybill({}, { limits, sandbox, execute: graphqlJsExecutor(schema) });

// Counts are kept for 30 seconds. Without a new token, counts of one fault may meet the next fault in one server alone.
let token = sandbox.tokens.first;

// Over a socket, known documents take the fast path.

async function askOverSocket(query: string, variables: unknown): Promise<Answer<unknown>> {
  sandbox.requests.clear();
  const response = await fetch(new URL('/graphql', planned.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = await response.json();
  return { status: response.status, data, errors, calls: sandbox.requests.lines() };
}

afterAll(async () => {
  await standard[Symbol.asyncDispose]();
  await planned[Symbol.asyncDispose]();
});

/** What the two have to agree on, whatever happens. */
function comparable({ status, data, errors = [] }: Answer<unknown>) {
  if (data === undefined) return { status, errors };
  return { status, data, blanked: new Set(errors.map(({ path }) => blankedBy(path, data))) };
}

/** The place of the null that stands for a field's error: the field's own, or that of a parent that may be null. */
function blankedBy(path: readonly (string | number)[] = [], data: unknown): string {
  let value = data;
  let depth = 0;
  for (; value !== null && depth < path.length; depth += 1) value = Object(value)[path[depth] ?? ''];
  expect(value, `the error at ${path.join('.')} has left no null`).toBeNull();
  return path.slice(0, depth).join('.');
}

/**
 * The errors of fields that are null themselves. Which errors are told of what lies below a null, beside the one that explains
 * it, is a matter of timing that the specification leaves open (6.4.4).
 */
function errorsOfNulls({ data, errors = [] }: Answer<unknown>): string[] {
  if (data === undefined) return [];
  const own = errors.filter(({ path = [] }) => blankedBy(path, data) === path.join('.'));
  return own.map((error) => JSON.stringify(error)).sort();
}

// Gets, pages that no query asks for, and those of batches and counts. The merchant of a token is read before its first shipOrder.
const unsettled =
  /^GET \/v1\/((orders|shipments)\/[^?]+|orders\?pageSize=(?!(1|2|3|20)$)\d+|shipments\?pageSize=\d+|(orders|shipments)\?pageSize=\d+&pageToken=[^&]+|locations\?pageSize=1000&query=.+|organizations\/mine)$/;

/**
 * The calls that every run makes. Orders and shipments may also be found in a list that happens to come in first, and
 * many of them in a page of their own, if calls have taken such times that this is expected to pay.
 */
function settledCalls({ calls }: Answer<unknown>): string[] {
  return calls.filter((call) => !unsettled.test(call)).sort();
}

/** Whether a query is beyond the limits that no setting moves. It would be refused, which says nothing here. */
function isTooLarge(query: string): boolean {
  const { operations, fragments } = collectDefinitions(parse(query));
  const sizes = new SelectionSizes(fragments);
  return operations
    .map((operation) => sizes.measure(operation))
    .some(({ selections }) => selections > fixedLimits.selections);
}

/** The names of the object types that a query can lead to. */
function reachableTypes(start: GraphQLNamedType | null | undefined, names = new Set<string>()): string[] {
  if (isObjectType(start) && !names.has(start.name)) {
    names.add(start.name);
    for (const { type } of Object.values(start.getFields())) reachableTypes(getNamedType(type), names);
  }
  return [...names];
}

// `SEED=new` draws other queries, and `SEED=<number>` those of a run before.
const { SEED = '20261121' } = process.env;
const seed = SEED === 'new' ? Date.now() % 1_000_000_000 : Number(SEED);

/** Beside a field that failed, calls of a mutation may still be on their way. */
const lateCallsMs = 10;

/** Sends an operation to both executors, and over the fast path. Expects equal answers for the same calls. */
async function compare(query: string, variables: object, fault: Fault | undefined): Promise<Answer<unknown>> {
  const remove = fault === undefined ? () => {} : sandbox.faults.add(fault);
  const one = await planned.ask<unknown, object>(query, variables, token);
  const other = await standard.ask<unknown, object>(query, variables, token);
  const again = await askOverSocket(query, variables);
  remove();
  const context = `${query}\n${JSON.stringify(variables)}`;
  expect(comparable(one), context).toEqual(comparable(other));
  expect(JSON.stringify(one.data), context).toBe(JSON.stringify(other.data));
  expect(errorsOfNulls(one), context).toEqual(errorsOfNulls(other));
  expect({ ...again, calls: [] }, context).toEqual({ ...one, calls: [] });
  if (one.errors === undefined) {
    expect(settledCalls(one), context).toEqual(settledCalls(other));
    expect(settledCalls(one), context).toEqual(settledCalls(again));
  } else await sleep(lateCallsMs);
  return one;
}

/** What the answers to many operations have shown. */
function createSurvey() {
  const typenames = new Set<string>();
  const codes = new Set<string>();
  let refusedVariables = 0;
  return {
    typenames,
    codes,
    refusedVariables: () => refusedVariables,
    add({ data, errors = [] }: Answer<unknown>) {
      if (data === undefined) refusedVariables += 1;
      for (const [, typename = ''] of JSON.stringify(data ?? null).matchAll(/"__typename":"(\w+)"/g))
        typenames.add(typename);
      for (const { extensions } of errors) codes.add(String(extensions.code));
    },
  };
}

test(`query plans and graphql-js return equal responses to queries: seed ${seed}`, async () => {
  const random = randomNumbers(seed);
  const rootFields = Object.keys(schema.getQueryType()?.getFields() ?? {});
  const survey = createSurvey();
  const ownTypes = reachableTypes(schema.getQueryType());
  const isEnough = (round: number) =>
    round >= queriesPerField.most ||
    (round >= queriesPerField.least && survey.typenames.size === ownTypes.length);
  for (let index = 0; !isEnough(Math.floor(index / rootFields.length)); index += 1) {
    const round = Math.floor(index / rootFields.length);
    if (index % rootFields.length === 0) token = sandbox.issueToken(token);
    const { query, variables } = generateOperation([rootFields[index % rootFields.length] ?? ''], {
      schema,
      random,
      // About half of the queries have conditions, under each fault.
      conditions: Math.floor(round / faults.length) % 2 === 1,
      extras: true,
      valuesOf,
    });
    if (!isTooLarge(query)) survey.add(await compare(query, variables, faults[round % faults.length]));
  }
  // The queries say something only if they get everywhere.
  expect([...survey.typenames].sort()).toEqual(ownTypes.sort());
  expect(survey.refusedVariables()).toBeGreaterThan(0);
  expect([...survey.codes].sort()).toEqual([
    'BAD_USER_INPUT',
    'INVALID_CURSOR',
    'NOT_FOUND',
    'UPSTREAM_INVALID_RESPONSE',
    'UPSTREAM_UNAVAILABLE',
  ]);
}, 120_000);

/** Mutations that may run several times: they write the same again, or nothing. */
const repeatable = ['updateOrder', 'updateOrders', 'shipOrder'];

test(`query plans and graphql-js return equal responses to mutations: seed ${seed}`, async () => {
  const random = randomNumbers(seed);
  const survey = createSurvey();
  for (let index = 0; index < 80; index += 1) {
    const names = Array.from({ length: 1 + (index % 3) }, () => repeatable[Math.floor(random() * 3)] ?? '');
    const { query, variables } = generateOperation(names, {
      schema,
      random,
      operation: 'mutation',
      conditions: index % 2 === 1,
      extras: true,
      valuesOf,
    });
    if (!isTooLarge(query)) survey.add(await compare(query, variables, faults[index % faults.length]));
  }
  expect(survey.typenames).toContain('UpdateOrderSuccess');
  expect(survey.typenames).toContain('NotFound');
  expect(survey.typenames).toContain('InvalidInput');
  expect(survey.refusedVariables()).toBeGreaterThan(0);
  expect(survey.codes).not.toContain('GRAPHQL_VALIDATION_FAILED');
}, 120_000);
