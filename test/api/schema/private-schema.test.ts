import { parse, print } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWaybill, type Waybill } from '../../harness.ts';

let waybill: Waybill;
beforeAll(async () => {
  waybill = await startWaybill({ SCHEMA: 'private' });
});
afterAll(() => waybill[Symbol.asyncDispose]());

describe('a private schema', () => {
  test.each([
    ['__schema', '{ __schema { queryType { name } types { name fields { name type { name } } } } }'],
    ['__type', '{ __type(name: "Order") { name fields { name } } }'],
    ['__schema', '{ innocent: __schema { description } }'],
    ['__type', '{ ...F } fragment F on Query { ... { __type(name: "Order") { kind } } }'],
    ['__schema', 'mutation { __schema { description } }'],
  ])('rejects %s: %s', async (field, query) => {
    const { data, errors, calls } = await waybill.ask(query);
    expect({ data, errors, calls }).toMatchObject({
      data: undefined,
      errors: expect.arrayContaining([
        expect.objectContaining({
          message: expect.stringContaining(field),
          extensions: { code: 'GRAPHQL_VALIDATION_FAILED', retryable: false },
        }),
      ]),
      calls: [],
    });
  });

  test('allows __typename', async () => {
    expect(await waybill.ask('{ __typename }')).toEqual({
      status: 200,
      data: { __typename: 'Query' },
      errors: undefined,
      calls: [],
    });
  });

  test('serves no GraphiQL', async () => {
    for (const path of ['/', '/graphql', '/graphiql/app.js']) {
      const response = await waybill.fetch(path, { headers: { accept: 'text/html' } });
      expect([path, response.status >= 400]).toEqual([path, true]);
      expect(await response.text()).not.toContain('GraphiQL');
    }
  });
});

const mistakes: [what: string, query: string, variables?: object][] = [
  ['a field', '{ order { id } ordrs { nodes { id } } }'],
  ['a nested field', '{ orders { nodes { idd statuss } } }'],
  ['an argument', '{ orders(frist: 1) { nodes { id } } }'],
  ['a type', 'query ($a: Strin) { orders { nodes { id } } } fragment F on Ordr { id }'],
  ['a directive', '{ orders @skp(if: true) { nodes { id } } }'],
  ['an enum value', '{ orders(status: [NEWW]) { nodes { id } } }'],
  ['an enum value as a string', '{ orders(status: ["NEW"]) { nodes { id } } }'],
  ['an input field', 'mutation { createOrder(input: { recipent: {} }) { __typename } }'],
  ['a fragment', '{ orders { nodes { ...Fieldss } } } fragment Fields on Order { id }'],
  [
    'an enum value in a variable',
    'query ($s: [OrderStatus!]) { orders(status: $s) { nodes { id } } }',
    { s: ['NEWW'] },
  ],
  [
    'an enum value in a variable of a query with @include',
    'query ($s: [OrderStatus!]) { orders(status: $s) { nodes { id @include(if: true) } } }',
    { s: ['NEWW'] },
  ],
  [
    'an input field in a variable',
    'mutation ($i: CreateOrderInput!) { createOrder(input: $i) { __typename } }',
    { i: { recipent: {}, statuss: 'NEW', status: 'NEWW' } },
  ],
];

describe('a misspelled name', () => {
  test.each(mistakes)('gets no suggestion in a private schema: %s', async (_what, query, variables) => {
    const { data, errors, calls } = await waybill.ask(query, variables);
    expect({ data, calls }).toEqual({ data: undefined, calls: [] });
    expect(errors?.length).toBeGreaterThan(0);
    expect(JSON.stringify(errors)).not.toContain('id you mean');
  });

  test('gets a suggestion in a public schema', async () => {
    await using open = await startWaybill({}, { sandbox: waybill.sandbox });
    const { errors, calls } = await open.ask(print(parse('{ ordrs { nodes { id } } }')));
    expect(errors?.map(({ message }) => message)).toEqual([
      'Cannot query field "ordrs" on type "Query". Did you mean "orders", "order", or "nodes"?',
    ]);
    expect(calls).toEqual([]);
  });
});
