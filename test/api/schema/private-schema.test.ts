import { parse, print } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWaybill, type Waybill } from '../../harness.ts';

let waybill: Waybill;
beforeAll(async () => {
  waybill = await startWaybill({ SCHEMA: 'private' });
});
afterAll(() => waybill[Symbol.asyncDispose]());

const refused = (field: string) => ({
  // As to all that ask for `application/json`, about all documents that are not valid.
  status: 200,
  data: undefined,
  errors: [
    {
      message: `The schema of this server is private: "${field}" can't be asked for.`,
      locations: [expect.anything()],
      extensions: { code: 'GRAPHQL_VALIDATION_FAILED', retryable: false },
    },
  ],
  calls: [],
});

describe('a private schema', () => {
  test.each([
    ['__schema', '{ __schema { queryType { name } types { name fields { name type { name } } } } }'],
    ['__type', '{ __type(name: "Order") { name fields { name } } }'],
    ['__schema', '{ innocent: __schema { description } }'],
    ['__type', '{ ...F } fragment F on Query { ... { __type(name: "Order") { kind } } }'],
    ['__schema', 'mutation { __schema { description } }'],
  ])('is not told by %s: %s', async (field, query) => {
    const answer = await waybill.ask(query);
    // A mutation has no such field in any schema, which is an error of its own.
    const errors = answer.errors?.filter(({ message }) => !message.startsWith('Cannot query field'));
    expect({ ...answer, errors }).toEqual(refused(field));
  });

  test('still tells the type of a value that is there', async () => {
    expect(await waybill.ask('{ __typename }')).toEqual({
      status: 200,
      data: { __typename: 'Query' },
      errors: undefined,
      calls: [],
    });
  });

  test('has no page that explores it', async () => {
    for (const path of ['/', '/graphql', '/graphiql/app.js']) {
      const response = await waybill.fetch(path, { headers: { accept: 'text/html' } });
      expect([path, response.status >= 400]).toEqual([path, true]);
      expect(await response.text()).not.toContain('GraphiQL');
    }
  });
});

const mistakes: [what: string, query: string, variables?: object][] = [
  ['a field', '{ order { id } ordrs { nodes { id } } }'],
  ['a field below', '{ orders { nodes { idd statuss } } }'],
  ['an argument', '{ orders(frist: 1) { nodes { id } } }'],
  ['a type', 'query ($a: Strin) { orders { nodes { id } } } fragment F on Ordr { id }'],
  ['a directive', '{ orders @skp(if: true) { nodes { id } } }'],
  ['an enum value', '{ orders(status: [NEWW]) { nodes { id } } }'],
  ['an enum value as a string', '{ orders(status: ["NEW"]) { nodes { id } } }'],
  ['an input field', 'mutation { createOrder(input: { recipent: {} }) { __typename } }'],
  ['a fragment', '{ orders { nodes { ...Fieldss } } } fragment Fields on Order { id }'],
  [
    'an enum value of a query\u2019s variable',
    'query ($s: [OrderStatus!]) { orders(status: $s) { nodes { id } } }',
    { s: ['NEWW'] },
  ],
  [
    'an enum value of a variable, walked',
    'query ($s: [OrderStatus!]) { orders(status: $s) { nodes { id @include(if: true) } } }',
    { s: ['NEWW'] },
  ],
  [
    'an input field of a variable',
    'mutation ($i: CreateOrderInput!) { createOrder(input: $i) { __typename } }',
    { i: { recipent: {}, statuss: 'NEW', status: 'NEWW' } },
  ],
];

const needs: [what: string, query: string, variables: object | undefined, names: string[], words: string][] =
  [
    ['a selection', '{ orders }', undefined, ['{ ... }'], 'must have a selection of subfields.'],
    [
      'fields of a literal',
      'mutation { createOrder(input: {}) { __typename } }',
      undefined,
      ['recipient', 'contentDescription'],
      'Expected value of type "CreateOrderInput" to include all of its required fields, found: {',
    ],
    [
      'fields of a variable',
      'mutation ($i: CreateOrderInput!) { createOrder(input: $i) { __typename } }',
      { i: {} },
      ['recipient', 'contentDescription'],
      'to include all of its required fields, found: {}.',
    ],
    [
      'fields of a large variable',
      'mutation ($i: CreateOrderInput!) { createOrder(input: $i) { __typename } }',
      { i: { notes: 'x'.repeat(10_000) } },
      ['recipient', 'contentDescription'],
      'to include all of its required fields, found: ',
    ],
    ['an argument', '{ order { id } }', undefined, ['id:', 'ID!'], 'A required argument is missing.'],
  ];

test.each(needs)('what %s lacks is not named', async (_what, query, variables, names, words) => {
  const { data, errors, calls } = await waybill.ask(query, variables);
  expect({ data, calls }).toEqual({ data: undefined, calls: [] });
  const messages = JSON.stringify(errors?.map(({ message }) => message));
  expect(errors?.[0]?.message).toContain(words);
  for (const name of names) expect(messages).not.toContain(name);
});

test.each([
  ['a literal', 'mutation { createOrder(input: {}) { __typename } }', undefined],
  ['a variable', 'mutation ($i: CreateOrderInput!) { createOrder(input: $i) { __typename } }', { i: {} }],
  [
    'one field less',
    'mutation ($i: CreateOrderInput!) { createOrder(input: $i) { __typename } }',
    { i: { notes: 'abc' } },
  ],
  ['arguments', '{ conversation { id } }', undefined],
])('what %s lacks is not counted', async (_what, query, variables) => {
  const { data, errors, calls } = await waybill.ask(query, variables);
  expect({ data, calls }).toEqual({ data: undefined, calls: [] });
  expect(errors).toHaveLength(1);
  expect(errors?.[0]?.message).not.toMatch(/more|recipient/);
});

test('what is lacking in two places is said of both', async () => {
  const { errors, calls } = await waybill.ask(
    'mutation { a: createOrder(input: {}) { __typename } b: createOrder(input: {}) { __typename } }',
  );
  const message =
    'Expected value of type "CreateOrderInput" to include all of its required fields, found: {  }.';
  expect(errors?.map(({ message }) => message)).toEqual([message, message]);
  expect(calls).toEqual([]);
});

describe('a name that is nearly right', () => {
  test.each(mistakes)(
    'of %s is not completed where the schema is private',
    async (_what, query, variables) => {
      const { data, errors, calls } = await waybill.ask(query, variables);
      expect({ data, calls }).toEqual({ data: undefined, calls: [] });
      expect(errors?.length).toBeGreaterThan(0);
      expect(JSON.stringify(errors)).not.toContain('id you mean');
    },
  );

  test('is completed where it is public', async () => {
    await using open = await startWaybill({}, { sandbox: waybill.sandbox });
    const { errors, calls } = await open.ask(print(parse('{ ordrs { nodes { id } } }')));
    expect(errors?.map(({ message }) => message)).toEqual([
      'Cannot query field "ordrs" on type "Query". Did you mean "orders", "order", or "nodes"?',
    ]);
    expect(calls).toEqual([]);
  });
});
