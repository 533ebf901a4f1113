import { buildSchema, type ExecutionResult, execute, type GraphQLSchema, isObjectType, parse } from 'graphql';
import { expect, test } from 'vitest';
import { withStrictLeafSerializers } from '../../../src/graph/fields/strict-leaf-serializers.ts';
import { createCompiledQueries } from '../../../src/server/compiled-queries/compiled-queries.ts';
import { collectDefinitions } from '../../../src/server/document-syntax/selections.ts';

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
  [
    'conditions without variables',
    '{ text @skip(if: true) self @include(if: true) { text @skip(if: false) } }',
  ],
  [
    'conditions on fields, inline fragments and spreads',
    `query ($yes: Boolean!, $no: Boolean = false) {
      a: text @include(if: $no) b: text @skip(if: $yes) c: text @include(if: $yes) @skip(if: $no)
      ... @include(if: $no) { d: text } ...F @skip(if: $no) self { ...F @include(if: $no) ...G }
    }
    fragment F on Query { shelf @include(if: $yes) { name } e: text @skip(if: $yes) }
    fragment G on Query { text ...F }`,
    { yes: true },
  ],
  [
    'one field that is included and left out',
    '{ text @skip(if: true) text self { text @skip(if: true) } self { shelf { name } } }',
  ],
  ['an object without fields', 'query ($no: Boolean!) { self { text @include(if: $no) } }', { no: false }],
  ['an introspection', '{ __type(name: "Book") { name fields { name type { kind ofType { name } } } } }'],
])(
  'a query plan has the same result as the graphql-js executor: %s',
  async (_what, query, variables = {}) => {
    const document = parse(query);
    const [definition] = collectDefinitions(document).operations;
    if (definition === undefined) throw new Error(`Expected an operation, but got ${query}`);
    const compiled = createCompiledQueries(schema);
    const expected = completed(await execute({ schema: exactSchema, document, variableValues: variables }));
    for (let use = 0; use < 2; use += 1) {
      const run = compiled({ document, definition, variables })?.(variables);
      if (run === undefined) throw new Error('Expected a plan, and variables that fit');
      const result = completed(await run({}));
      expect(result.data).toEqual(expected.data);
      if (!query.includes('things')) expect(result.errors).toEqual(expected.errors);
      else expect(result.errors).toHaveLength(expected.errors.length);
    }
  },
);

test.each([
  ['a variable is missing', 'query ($name: String!) { thing(name: $name) { name } }', {}],
  ['a condition is null', 'query ($is: Boolean = true) { text @include(if: $is) }', { is: null }],
])('leaves variables that do not fit to the graphql-js executor: %s', (_what, query, variables) => {
  const document = parse(query);
  const [definition] = collectDefinitions(document).operations;
  if (definition === undefined) throw new Error('Expected an operation');
  const compiled = createCompiledQueries(schema)({ document, definition, variables });
  expect(compiled).toBeTypeOf('function');
  expect(compiled?.(variables)).toBeUndefined();
});

test('the conditions of another operation in the document have no say', async () => {
  const document = parse(
    'query A($a: Boolean!) { text @include(if: $a) } query B($b: Boolean!) { ...F } fragment F on Query { text @include(if: $b) }',
  );
  const variables = { b: true };
  const [, definition] = collectDefinitions(document).operations;
  if (definition === undefined) throw new Error('Expected two operations');
  const result = await createCompiledQueries(schema)({ document, definition, variables })?.(variables)?.({});
  expect(result?.data).toEqual({ text: 'none' });
});

test('each outcome of the conditions has a plan, and more outcomes than are kept have one too', async () => {
  const names = Array.from({ length: 6 }, (_, index) => `is${index}`);
  const query = `query (${names.map((name) => `$${name}: Boolean!`)}) {
    ${names.map((name) => `${name}: text @include(if: $${name}) not_${name}: text @skip(if: $${name})`).join(' ')}
  }`;
  const document = parse(query);
  const [definition] = collectDefinitions(document).operations;
  if (definition === undefined) throw new Error('Expected an operation');
  const compiled = createCompiledQueries(schema);
  for (let outcome = 0; outcome < 2 ** names.length; outcome += 1) {
    const variables = Object.fromEntries(names.map((name, index) => [name, Boolean(outcome & (1 << index))]));
    const result = await compiled({ document, definition, variables })?.(variables)?.({});
    expect(Object.keys(result?.data ?? {})).toEqual(
      names.map((name) => (variables[name] ? name : `not_${name}`)),
    );
  }
});
