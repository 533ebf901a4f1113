import { getOperationAST, parse } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { schema } from '../../../src/graph/schema.ts';
import {
  createCompiledQueries,
  isCompilable,
} from '../../../src/server/compiled-queries/compiled-queries.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

let waybill: Waybill;
beforeAll(async () => {
  waybill = await startWaybill();
});
afterAll(() => waybill[Symbol.asyncDispose]());

function isFit(query: string): boolean {
  const document = parse(query);
  const operation = getOperationAST(document);
  if (operation === null || operation === undefined) throw new Error('the document has no one operation');
  return isCompilable(document, operation);
}

const nested = (depth: number) => `${'{ order '.repeat(depth)}{ id }${' }'.repeat(depth)}`;

/** Each fragment spreads the next one twice: 2^40 selections when spread out. */
const exponential = [
  'query { __schema { ...F0 } }',
  ...Array.from({ length: 40 }, (_, index) => {
    return `fragment F${index} on __Schema { ...F${index + 1} ...F${index + 1} }`;
  }),
  'fragment F40 on __Schema { __typename }',
].join('\n');

test.each([
  [
    'a screen',
    'query { orders(first: 9) { nodes { ...F } } } fragment F on Order { id shipment { status } }',
    true,
  ],
  ['1,000 selections', `{ ${'__typename '.repeat(1_000)} }`, true],
  ['1,001 selections', `{ ${'__typename '.repeat(1_001)} }`, false],
  ['20 levels', nested(19), true],
  ['21 levels', nested(20), false],
  ['a condition', 'query ($x: Boolean!) { order(id: "a") { id @include(if: $x) } }', true],
  ['a condition in a fragment', 'query { ...F } fragment F on Query { __typename @skip(if: true) }', true],
  ['an alias that compiled queries would drop', '{ order(id: "a") { __proto__: id } }', false],
])('%s', (_what, query, expected) => {
  expect(isFit(query)).toBe(expected);
});

test('fragments that double again and again are told at once', () => {
  expect(isFit(exponential)).toBe(false);
});

test('fragments under a condition answer what GraphQL says', async () => {
  const query = `query ($no: Boolean!) {
    order(id: "ca2481") { recipient { lastName } ...F @include(if: $no) }
  }
  fragment F on Order { recipient { ... { firstName } } }`;
  const answer = await waybill.ask<unknown, { no: boolean }>(query, { no: false });
  expect(answer.data).toEqual({ order: { recipient: { lastName: 'Ñáñez Peñalosa' } } });
});

test('the alias "__proto__" is answered like any other', async () => {
  const { data, errors } = await waybill.ask<{ order: object }, object>(
    '{ order(id: "ca2481") { __proto__: contentDescription id } }',
  );
  expect([errors, Object.entries(data?.order ?? {}).map(([name]) => name)]).toEqual([
    undefined,
    ['__proto__', 'id'],
  ]);
});

test('the variable "__proto__", which would count as not given, is refused without a call', async () => {
  const query = 'query ($__proto__: String) { orders(search: $__proto__) { nodes { id } } }';
  const { data, errors, calls } = await waybill.ask(query, JSON.parse('{ "__proto__": "Nobody" }'));
  expect({ data, calls }).toEqual({ data: undefined, calls: [] });
  expect(errors).toEqual([
    {
      message: 'A variable can\u2019t be named "__proto__" here: choose another name.',
      locations: [{ line: 1, column: 8 }],
      extensions: { code: 'GRAPHQL_VALIDATION_FAILED', retryable: false },
    },
  ]);
});

/** The compiled query of each of so many uses of a document's only operation. */
function compiledUses(text: string, uses: number) {
  const document = parse(text);
  const [definition] = document.definitions;
  if (definition?.kind !== 'OperationDefinition') throw new Error(`Expected an operation, but got ${text}`);
  const compiled = createCompiledQueries(schema);
  return Array.from({ length: uses }, () => compiled({ document, definition, variables: undefined }));
}

test('a query is compiled at its first use, once', () => {
  const [first, second] = compiledUses('{ organization { id } }', 2);
  expect(first).toBeTypeOf('function');
  expect(second).toBe(first);
});

test('the executor runs mutations', () => {
  const text = 'mutation { updateOrders(inputs: []) { __typename } }';
  expect(compiledUses(text, 2)).toEqual([undefined, undefined]);
});

test('new documents are parsed one in each round, so that known ones go on', async () => {
  const known = '{ __typename }';
  await waybill.ask(known);
  const finished: string[] = [];
  const send = async (name: string, query: string) => {
    const { data } = await waybill.ask(query);
    expect(data).toBeDefined();
    finished.push(name);
  };
  const sent = Array.from({ length: 50 }, (_, index) => send('new', `{ new${index}: __typename }`));
  await Promise.all([...sent, send('known', known)]);
  expect(finished.indexOf('known')).toBeLessThan(25);
});
