import { afterAll, describe, expect, test } from 'vitest';
import { order as orderToCreate } from './fixtures/order-to-create.ts';
import { startWaybill } from './harness.ts';

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

describe.each(pages)('first of %s', (coordinate, maximum, open) => {
  test.each([-1, -2_147_483_648, maximum + 1, 2_147_483_647])(
    'of %d, by literal and by variable, is refused and costs no call',
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

  test('of 0, null and the most, by literal and by variable, is taken', async () => {
    for (const first of [0, null, maximum]) {
      const byLiteral = await ask(queryOf(open, String(first)));
      const byVariable = await ask(`query ($first: Int) ${queryOf(open, '$first')}`, { first });
      expect([byLiteral.errors, byVariable.errors]).toEqual([undefined, undefined]);
    }
  });
});

describe('variables that do not fit their types', () => {
  const record = 'mutation ($input: CreateOrderInput!) { createOrder(input: $input) { __typename } }';
  const unknown = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`field${index}`, 1]));

  test.each([
    ['a mutation', record, { input: { ...orderToCreate, ...unknown } }],
    [
      'a query',
      'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }',
      { ids: Array.from({ length: 60 }, () => ({})) },
    ],
  ])('in %s: five of sixty errors are told, and no call is made', async (_what, document, variables) => {
    const { status, data, errors, calls } = await ask(document, variables);
    expect({ status, data, codes: errors?.map(({ extensions }) => extensions.code), calls }).toEqual({
      status: 400,
      data: undefined,
      codes: Array(5).fill('BAD_USER_INPUT'),
      calls: [],
    });
    expect(errors?.[4]?.message).toMatch(/ \(\d+ more errors are not shown\.\)$/);
  });
});

test('an id of another tenant is answered as one that there is not', async () => {
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
