import { getNamedType, getOperationAST, isInterfaceType, isObjectType, parse } from 'graphql';
import { afterAll, describe, expect, test } from 'vitest';
import { schema } from '../../../src/graph/schema.ts';
import { defaultLimits } from '../../../src/server/limits/limits.ts';
import { listSizeOf } from '../../../src/server/limits/list-size.ts';
import { maxNesting } from '../../../src/server/limits/nesting.ts';
import { createOperationLimits } from '../../../src/server/limits/operation-limits.ts';
import { startWaybill } from '../../harness.ts';

const waybill = await startWaybill();
const { ask } = waybill;

afterAll(() => waybill[Symbol.asyncDispose]());

describe('brackets within brackets', () => {
  test.each([
    ['', 0],
    ['{ a }', 1],
    ['{ a(b: [1]) { c } d { e { f } } }', 3],
    ['{{{', 3],
    [']}){', 1],
    ['{ a(b: "{{{") }', 2],
    ['{ a(b: "\\"{{{") }', 2],
    ['{ a(b: "\\\\") { b { c } } }', 3],
    ['{ a(b: "") { b } }', 2],
    ['{ a(b: """{{{""") }', 2],
    ['{ a(b: """ \\""" {{{ """) { b { c } } }', 3],
    ['{ a(b: """ " {{{ """) }', 2],
    ['{ a(b: """{{{', 2],
    // A string ends with its line, where the parser ends too.
    ['{ a(b: "{{{\n{{', 4],
    ['# {{{\n{ a }', 1],
    ['# {{{\r{ a }', 1],
    ['{ a # "\n { b { c } } }', 3],
    ['{ a(b: "#") { b { c } } }', 3],
  ])('%j', (text, depth) => {
    expect(maxNesting(text, 50)).toBe(depth);
  });

  test('are counted no further than is of use', () => {
    expect(maxNesting('{'.repeat(1_000_000), 50)).toBe(51);
  });
});

test('every list of objects says how many there are', () => {
  const unknown: string[] = [];
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__') || !(isObjectType(type) || isInterfaceType(type))) continue;
    for (const field of Object.values(type.getFields())) {
      try {
        const size = listSizeOf(type, field);
        // A page of a list that says of itself how long it is at most.
        if (size?.by === 'first') expect(size.maximum, field.name).toBeLessThanOrEqual(1_000);
        const isConnection = getNamedType(field.type).name.endsWith('Connection');
        expect(size?.by === 'first', `${type.name}.${field.name}`).toBe(isConnection);
      } catch (error) {
        unknown.push(String(error));
      }
    }
  }
  expect(unknown).toEqual([]);
});

/** How many nodes an operation has, as its refusal says where none is allowed. */
function nodesOf(query: string, variables: Record<string, unknown> = {}): number {
  const { check } = createOperationLimits(schema, { ...defaultLimits, nodes: -1 });
  const document = parse(query);
  const definition = getOperationAST(document);
  if (!definition) throw new Error(`No single operation: ${query}`);
  const error = check({ document, definition, variables });
  const message = typeof error === 'number' ? '' : error.message;
  const [, count] = /there are (\d+|more than 1000000) objects at most/.exec(message) ?? [];
  return count === 'more than 1000000' ? Number.POSITIVE_INFINITY : Number(count);
}

describe('nodes', () => {
  const first = 'query ($first: Int) { orders(first: $first) { nodes { id shipment { id } } } }';

  test.each<[query: string, variables: Record<string, unknown>, nodes: number]>([
    ['{ __typename organization { balance { cents } } }', {}, 1],
    ['{ order(id: "a") { id recipient { address { locality } } } }', {}, 1],
    // The rows that REST is asked for.
    ['{ orders { pageInfo { hasNextPage } } }', {}, 20],
    ['{ orders(first: 0) { pageInfo { hasNextPage } } }', {}, 1],
    ['{ orders(first: 5) { nodes { recipient { orders(first: 0) { nodes { id } } } } } }', {}, 10],
    ['{ orders { nodes { id } } }', {}, 20],
    ['{ orders(first: null) { nodes { id } } }', {}, 20],
    ['{ orders(first: 0) { nodes { id shipment { id } } } }', {}, 2],
    ['{ orders(first: 7) { edges { cursor node { id } } } }', {}, 7],
    ['{ orders(first: 7) { nodes { id } edges { node { shipment { id } } } } }', {}, 21],
    [first, { first: 1_000 }, 2_000],
    [first, {}, 40],
    [first, { first: null }, 40],
    [first, { first: 'many' }, 2],
    ['query ($first: Int = 3) { orders(first: $first) { nodes { id } } }', {}, 3],
    ['query ($first: Int = 3) { orders(first: $first) { nodes { id } } }', { first: 5 }, 5],
    ['{ nodes(ids: ["a", "b"]) { id } }', {}, 2],
    ['{ nodes(ids: "a") { id } }', {}, 1],
    [
      'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Order { shipment { id } } } }',
      { ids: ['a', 'b'] },
      4,
    ],
    ['query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: 'a' }, 1],
    ['{ quote(id: "a") { offers { courier { id } } } }', {}, 21],
    ['{ a: orders(first: 5) { nodes { id } } b: orders(first: 6) { nodes { id } } }', {}, 11],
    // What is answered as one is counted as one.
    [
      '{ orders(first: 5) { nodes { shipment { id } } } ...F } fragment F on Query { orders(first: 5) { nodes { shipment { status } } } }',
      {},
      10,
    ],
    // Lists within lists.
    [
      'query ($all: Int, $each: Int) { orders(first: $all) { nodes { recipient { orders(first: $each) { nodes { id } } } } } }',
      { all: 100, each: 99 },
      10_000,
    ],
    [
      'mutation ($inputs: [UpdateOrderInput!]!) { updateOrders(inputs: $inputs) { ... on UpdateOrderSuccess { order { id } } } }',
      { inputs: [{}, {}, {}] },
      // Ten for each write.
      36,
    ],
    [
      `{ orders(first: 0) { nodes { ${'recipient { orders(first: 1000) { nodes { '.repeat(120)} id ${'} } } '.repeat(120)} } } }`,
      {},
      Number.POSITIVE_INFINITY,
    ],
    [
      `{ orders(first: 1000) { nodes { ${'recipient { orders(first: 1000) { nodes { '.repeat(40)} id ${'} } } '.repeat(40)} } } }`,
      {},
      Number.POSITIVE_INFINITY,
    ],
  ])('of %s with %j', (query, variables, nodes) => {
    expect(nodesOf(query, variables)).toBe(nodes);
  });

  test('are counted by the real values each time that a document comes', async () => {
    const query = `query ($all: Int, $each: Int) {
      orders(first: $all) { nodes { recipient { orders(first: $each) { nodes { id } } } } }
    }`;
    expect((await ask(query, { all: 1, each: 1 })).errors).toBeUndefined();
    expect(await ask(query, { all: 100, each: 100 })).toEqual({
      status: 400,
      data: undefined,
      errors: [
        {
          message:
            'The limit "nodes" allows 3000, but there are 10100 objects at most. ' +
            'Lower "first", or nest fewer lists in lists.',
          locations: [{ line: 1, column: 1 }],
          extensions: { code: 'GRAPHQL_LIMIT_EXCEEDED', retryable: false },
        },
      ],
      calls: [],
    });
    expect((await ask(query, { all: 1, each: 1 })).errors).toBeUndefined();
  });
});

describe('values', () => {
  const refused = (message: string) => ({
    status: 400,
    data: undefined,
    errors: [{ message, extensions: { code: 'GRAPHQL_LIMIT_EXCEEDED', retryable: false } }],
    calls: [],
  });
  const nodes = 'query ($ids: [ID!]!) { organization { id } nodes(ids: $ids) { id } }';

  test('of 101 items in a list of a variable', async () => {
    const ids = Array.from({ length: 101 }, () => 'orders/ca2481');
    expect(await ask(nodes, { ids })).toEqual(
      refused(
        'The limit "listItems" allows 100, but there are 101 items in one list. Split the list over several operations.',
      ),
    );
  });

  test('of 101 items in a list within an input, whatever its type', async () => {
    const record = 'mutation ($input: CreateOrderInput!) { createOrder(input: $input) { __typename } }';
    for (const field of ['paymentMethods', 'unknown']) {
      const answer = await ask(record, { input: { recipient: { [field]: Array(101).fill('PSE') } } });
      expect(answer.errors?.[0]?.message).toMatch(/^The limit "listItems" allows 100, but there are 101/);
      expect([answer.status, answer.calls]).toEqual([400, []]);
    }
  });

  test('20,000 deep', async () => {
    const body = `{"query":${JSON.stringify(nodes)},"variables":{"ids":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`;
    const response = await waybill.fetch('/graphql', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${waybill.sandbox.tokens.first}`,
      },
      body,
    });
    const { status, data, errors } = refused(
      'The limit "nesting" allows 50, but there are more than 50 brackets within brackets. Nest less deeply.',
    );
    expect([response.status, await response.json()]).toEqual([status, { data, errors }]);
  });

  test('are looked at only with an access token', async () => {
    const { status, errors } = await ask(nodes, { ids: Array(101).fill('orders/a') }, null);
    expect([status, errors?.[0]?.extensions.code]).toEqual([401, 'UNAUTHENTICATED']);
  });

  test('of a page are within what its list has at most', async () => {
    const channel = (first: number) =>
      `{ channel(id: "ca1") { templates(first: ${first}) { nodes { name } } } }`;
    expect((await ask(channel(101))).errors?.[0]?.message).toBe(
      'Expected "first" of Channel.templates to be from 0 to 100, but got 101.',
    );
    expect((await ask(channel(100))).errors).toBeUndefined();
  });

  test('of a page are within 1,000', async () => {
    const answer = await ask('query ($first: Int) { orders(first: $first) { nodes { id } } }', {
      first: 1_001,
    });
    expect(answer.errors?.[0]?.message).toBe(
      'Expected "first" of Query.orders to be from 0 to 1000, but got 1001.',
    );
    expect(answer.calls).toEqual([]);
  });
});

test('refuses a page of no rows under each of a thousand orders without a call', async () => {
  const fields = Array.from({ length: 29 }, (_, index) => `f${index}: orders(first: 0) { nodes { id } }`);
  const answer = await ask(`{ orders(first: 1000) { nodes { recipient { ${fields.join(' ')} } } } }`);
  expect(answer).toMatchObject({ status: 400, data: undefined, calls: [] });
  expect(answer.errors?.[0]?.message).toMatch(/^The limit "nodes" allows 3000, but there are 30000 objects/);
});
