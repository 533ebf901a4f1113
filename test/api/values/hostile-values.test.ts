import { afterAll, describe, expect, test } from 'vitest';
import { order as orderToCreate } from '../../fixtures/order-to-create.ts';
import { startWaybill } from '../../harness.ts';

const waybill = await startWaybill();
const { ask, sandbox } = waybill;

afterAll(() => waybill[Symbol.asyncDispose]());

/** The pages there are, and how many rows each gives at most. */
const pages: [coordinate: string, maximum: number, open: string][] = [
  ['Query.orders', 1_000, '{ orders'],
  ['Query.shipments', 1_000, '{ shipments'],
  ['Query.locations', 1_000, '{ locations'],
  ['Query.origins', 1_000, '{ origins'],
  ['Query.channels', 100, '{ channels'],
  ['Channel.templates', 100, '{ channel(id: "ca1") { templates'],
  ['Conversation.messages', 100, '{ conversation(id: "channels/ca1/conversations/ca60") { messages'],
  ['Recipient.orders', 1_000, '{ order(id: "ca2481") { recipient { orders'],
];

/** A query of a page, which closes as many brackets as it opens. */
const queryOf = (open: string, first: string) =>
  `${open}(first: ${first}) { pageInfo { hasNextPage } }${' }'.repeat(open.split('{').length - 1)}`;

describe.each(pages)('the argument `first` of %s', (coordinate, maximum, open) => {
  test.each([-1, -2_147_483_648, maximum + 1, 2_147_483_647])(
    'is rejected without a call if it is %d',
    async (first) => {
      const refused = {
        status: 400,
        data: undefined,
        errors: [
          {
            message: `Expected "first" of ${coordinate} to be from 0 to ${maximum}, but got ${first}.`,
            locations: [expect.any(Object)],
            extensions: { code: 'GRAPHQL_LIMIT_EXCEEDED', retryable: false },
          },
        ],
        calls: [],
      };
      expect(await ask(queryOf(open, String(first)))).toEqual(refused);
      expect(await ask(`query ($first: Int) ${queryOf(open, '$first')}`, { first })).toEqual(refused);
      const byDefault = `query ($first: Int = ${first}) ${queryOf(open, '$first')}`;
      expect(await ask(byDefault)).toEqual(refused);
    },
  );

  test('accepts 0, null and the maximum', async () => {
    for (const first of [0, null, maximum]) {
      const byLiteral = await ask(queryOf(open, String(first)));
      const byVariable = await ask(`query ($first: Int) ${queryOf(open, '$first')}`, { first });
      expect([byLiteral.errors, byVariable.errors]).toEqual([undefined, undefined]);
    }
  });
});

describe('variables of the wrong type', () => {
  const record = 'mutation ($input: CreateOrderInput!) { createOrder(input: $input) { __typename } }';
  const unknown = Object.fromEntries(Array.from({ length: 39 }, (_, index) => [`field${index}`, 1]));

  test.each([
    ['a mutation', record, { input: { ...orderToCreate, ...unknown } }],
    [
      'a query',
      'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }',
      { ids: Array.from({ length: 60 }, () => ({})) },
    ],
  ])('cause at most five errors and a note about the error limit: %s', async (_what, document, variables) => {
    const { status, data, errors, calls } = await ask(document, variables);
    expect({ status, data, codes: errors?.map(({ extensions }) => extensions.code), calls }).toEqual({
      status: 400,
      data: undefined,
      codes: Array(6).fill('BAD_USER_INPUT'),
      calls: [],
    });
    expect(errors?.[5]?.message).toBe(
      'Too many errors processing variables, error limit reached. Execution aborted.',
    );
  });
});

describe('large variables', () => {
  const record = 'mutation ($input: CreateOrderInput!) { createOrder(input: $input) { __typename } }';
  const objectOf = (fields: number) =>
    Object.fromEntries(Array.from({ length: fields }, (_, index) => [`field${index}`, 1]));

  test.each<[fault: string, variables: Record<string, unknown>]>([
    ['an object of 40,000 unknown fields', { input: objectOf(40_000) }],
    ['40,000 unknown variables', { input: orderToCreate, ...objectOf(40_000) }],
    ['a list of 100 lists', { input: Array(100).fill(Array(100).fill(1)) }],
  ])('are rejected with one error: %s', async (_fault, variables) => {
    const message =
      'The limit "values" allows 10000, but there are more than 10000 fields and list items in the variables. ' +
      'Split the operation into several.';
    expect(await ask(record, variables)).toEqual({
      status: 400,
      data: undefined,
      errors: [{ message, extensions: { code: 'GRAPHQL_LIMIT_EXCEEDED', retryable: false } }],
      calls: [],
    });
  });

  const nodes = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';
  test.each<[fault: string, document: string, variables: Record<string, unknown>, start: string]>([
    [
      'an object of 50 unknown fields and a long string',
      record,
      { input: { ...objectOf(49), text: 'x'.repeat(250_000) } },
      'Variable "$input" has invalid value: Expected value of type "CreateOrderInput" to include',
    ],
    [
      'a list of a long string and 99 nulls',
      nodes,
      { ids: ['x'.repeat(250_000), ...Array(99).fill(null)] },
      'Variable "$ids" has invalid value at [1]: Expected value of non-null type "ID!" not to be null.',
    ],
  ])(
    'cause five short errors and a note about the error limit: %s',
    async (_fault, document, variables, start) => {
      const { status, data, errors, calls } = await ask(document, variables);
      expect({ status, data, codes: errors?.map(({ extensions }) => extensions), calls }).toEqual({
        status: 400,
        data: undefined,
        codes: Array(6).fill({ code: 'BAD_USER_INPUT', retryable: false }),
        calls: [],
      });
      expect(errors?.[0]?.message.slice(0, start.length)).toBe(start);
      for (const { message } of errors ?? []) expect(message.length).toBeLessThanOrEqual(1_001);
    },
  );

  test.each([
    ['a query', 'query ($first: Int) { orders(first: $first) { nodes { id } } }'],
    [
      'a query with a directive',
      'query ($first: Int) { orders(first: $first) { nodes { id @skip(if: false) } } }',
    ],
    [
      'a mutation',
      'mutation ($first: Boolean!) { updateOrders(inputs: []) @include(if: $first) { __typename } }',
    ],
  ])('are truncated in the error message of %s', async (_what, document) => {
    for (const length of [5_000, 250_000]) {
      const { errors, calls } = await ask(document, { first: 'x'.repeat(length) });
      expect([errors?.map(({ message }) => message.length), calls]).toEqual([[1_001], []]);
    }
  });

  test('are accepted if their types are correct', async () => {
    const ids = Array.from({ length: 90 }, () => `conversations/${'a'.repeat(128)}`);
    const { status, data, calls } = await ask(nodes, { ids });
    expect({ status, data, calls }).toEqual({
      status: 200,
      data: { nodes: Array(90).fill(null) },
      calls: [],
    });
  });
});

describe('a search text', () => {
  const searches: [field: string, argument: string, selection: string][] = [
    ['orders', 'search', '{ nodes { id } }'],
    ['locations', 'search', '{ nodes { id } }'],
    ['orderByReference', 'referenceId', '{ id }'],
  ];

  test.each(searches)(
    'is rejected without a call if it has over 256 characters: %s',
    async (field, argument, selection) => {
      const query = `query ($text: String!) { ${field}(${argument}: $text) ${selection} }`;
      for (const [text, came] of [
        ['x'.repeat(257), '257'],
        ['👩'.repeat(257), 'more than 256'],
        ['x'.repeat(200_000), 'more than 256'],
      ]) {
        const { errors, calls } = await ask(query, { text });
        expect({ errors, calls }).toEqual({
          errors: [
            {
              message: `Expected "${argument}" to have at most 256 characters, but it has ${came}.`,
              locations: [expect.any(Object)],
              path: [field],
              extensions: { code: 'BAD_USER_INPUT', retryable: false },
            },
          ],
          calls: [],
        });
      }
    },
  );

  test.each(searches)('can have 256 characters of any kind: %s', async (field, argument, selection) => {
    const query = `query ($text: String!) { ${field}(${argument}: $text) ${selection} }`;
    const { calls } = await ask(query, { text: '👩'.repeat(256) });
    expect(calls).toHaveLength(1);
  });
});

test('an id of another merchant returns the same result as an unknown id', async () => {
  const query = 'query ($id: ID!) { order(id: $id) { id } }';
  const [own, foreign, none] = [
    await ask(query, { id: 'ca2481' }),
    await ask(query, { id: 'ca2481' }, sandbox.tokens.second),
    await ask(query, { id: 'none' }, sandbox.tokens.second),
  ];
  expect(own.data).toEqual({ order: { id: 'orders/ca2481' } });
  expect([foreign.status, foreign.data, foreign.errors]).toEqual([none.status, none.data, none.errors]);
  expect(foreign.data).toEqual({ order: null });
});
