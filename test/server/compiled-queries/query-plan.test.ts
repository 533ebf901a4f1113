import { buildSchema, type ExecutionResult, execute, type GraphQLSchema, isObjectType, parse } from 'graphql';
import { expect, test } from 'vitest';
import { withStrictLeafSerializers } from '../../../src/graph/fields/strict-leaf-serializers.ts';
import { QueryPlan } from '../../../src/server/compiled-queries/compiled-queries.ts';
import { definitionsOf } from '../../../src/server/document-syntax/selections.ts';

const types = `
  interface Thing { name: String! }
  type Book implements Thing { name: String! pages: Int }
  type Shelf implements Thing { name: String! books(first: Int = 2): [Book!] things: [Thing] }
  enum Kind { A B }
  type Query {
    text(of: String = "none"): String
    required: String!
    kinds: [Kind!]
    numbers: [Int]
    late: [Book]
    lateRequired: [Book!]
    thing(name: String!): Thing
    shelf: Shelf
    self: Query
    selfRequired: Query!
  }
`;

const book = (name: string, more: object = {}) => ({ __typename: 'Book', name, pages: 7, ...more });
const fails = (message: string) => Promise.reject(new Error(message));
const source = {
  text: ({ of }: { of: string }) => of,
  required: () => null,
  kinds: () => new Set(['A', 'B']),
  numbers: [1, new Error('no number'), null, 'x'],
  late: () => [Promise.resolve(book('a')), fails('second'), book('c'), Promise.resolve(null)],
  lateRequired: () => [book('a'), fails('second')],
  thing: ({ name }: { name: string }) => (name === 'none' ? { name } : book(name)),
  shelf: {
    __typename: 'Shelf',
    name: 'top',
    books: async ({ first }: { first: number }) => [book('a'), book('b'), book('c')].slice(0, first),
    things: [
      book('a'),
      { __typename: 'Shelf', name: new Error('no name') },
      { __typename: 'Kind', name: 'b' },
    ],
  },
};
Object.assign(source, { self: source, selfRequired: source });

function schemaOfSource(): GraphQLSchema {
  const schema = buildSchema(types);
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const isOfSource = type.name === 'Query' || field.args.length > 0;
      if (!isOfSource) continue;
      field.resolve = (parent, args) => {
        const value = Reflect.get(Object(parent ?? source), field.name) ?? Reflect.get(source, field.name);
        return typeof value === 'function' ? value(args) : value;
      };
    }
  }
  return schema;
}

const schema = schemaOfSource();
// Plans validate leaf values themselves.
const exactSchema = withStrictLeafSerializers(schemaOfSource());

interface ComparableResult {
  data: unknown;
  errors: string[];
}

/** The result with sorted errors, because concurrent errors have no fixed order. */
const completed = ({ data, errors = [] }: ExecutionResult): ComparableResult => ({
  data: JSON.parse(JSON.stringify(data)),
  errors: errors.map((error) => JSON.stringify(error)).sort(),
});

test.each<[what: string, query: string, variables?: Record<string, unknown>]>([
  ['values at hand', '{ a: text(of: "x") text numbers kinds __typename }'],
  ['arguments from variables', 'query ($of: String) { text(of: $of) }', { of: 'v' }],
  ['variables that are left out', 'query ($of: String) { text(of: $of) }'],
  ['variables with a default', 'query ($first: Int! = 1) { shelf { books(first: $first) { name } } }'],
  ['items that are promises, some of which reject', '{ late { name } }'],
  ['a non-null item that fails', '{ lateRequired { name } text }'],
  ['a non-null field that is null', '{ self { required } text }'],
  ['a null that propagates to the root', '{ selfRequired { selfRequired { required } } }'],
  [
    'types of an interface',
    '{ thing(name: "a") { __typename name ... on Book { pages } ... on Shelf { name } } }',
  ],
  [
    'a type that does not implement the interface',
    '{ shelf { name things { __typename ... on Thing { name } } } }',
  ],
  [
    'fields from several fragments',
    '{ ...F shelf { name } } fragment F on Query { ...G shelf { books { name } } } fragment G on Query { shelf { books { pages } } }',
  ],
  ['an introspection', '{ __type(name: "Book") { name fields { name type { kind ofType { name } } } } }'],
])(
  'a query plan has the same result as the graphql-js executor: %s',
  async (_what, query, variables = {}) => {
    const document = parse(query);
    const [definition] = definitionsOf(document).operations;
    if (definition === undefined) throw new Error(`Expected an operation, but got ${query}`);
    const plan = new QueryPlan(schema, document, definition);
    const expected = completed(await execute({ schema: exactSchema, document, variableValues: variables }));
    for (let run = 0; run < 2; run += 1) {
      const { variableValues } = plan.coerceVariables(variables);
      if (variableValues === undefined) throw new Error('Expected variables that fit');
      const result = completed(await plan.run({}, variableValues));
      expect(result.data).toEqual(expected.data);
      if (!query.includes('things')) expect(result.errors).toEqual(expected.errors);
      else expect(result.errors).toHaveLength(expected.errors.length);
    }
  },
);

test('reports variables that do not fit', () => {
  const document = parse('query ($name: String!) { thing(name: $name) { name } }');
  const [definition] = definitionsOf(document).operations;
  if (definition === undefined) throw new Error('Expected an operation');
  const { variableValues, errors } = new QueryPlan(schema, document, definition).coerceVariables({});
  expect([variableValues, errors?.length]).toEqual([undefined, 1]);
});
