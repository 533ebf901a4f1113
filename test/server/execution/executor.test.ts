import { setTimeout as sleep } from 'node:timers/promises';
import { buildSchema, type ExecutionResult, GraphQLSchema, isObjectType, parse } from 'graphql';
import { expect, test } from 'vitest';
import { collectDefinitions } from '../../../src/server/document-syntax/selections.ts';
import type { Operation } from '../../../src/server/document-syntax/valid-operation.ts';
import { createExecutor, type Execute } from '../../../src/server/execution/executor.ts';
import { graphqlJsExecutor } from '../../fixtures/graphql-js-executor.ts';

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
  input Filter { kinds: [Kind!]! first: Int = 2 }
  type Mutation {
    write(text: String!, ms: Int = 0): Query
    writeRequired(text: String): Query!
    writeAll(filter: Filter!): [Int!]
  }
`;

const book = (name: string, more: object = {}) => ({ __typename: 'Book', name, pages: 7, ...more });
const fails = (message: string) => Promise.reject(new Error(message));
const written: string[] = [];
const source = {
  write: async ({ text, ms }: { text: string; ms: number }) => {
    written.push(`begin ${text}`);
    await sleep(ms);
    written.push(`end ${text}`);
    return text === 'fails' ? fails(text) : source;
  },
  writeRequired: ({ text }: { text: string }) => (text === 'null' ? null : source),
  writeAll: ({ filter }: { filter: { first: number } }) => [filter.first, 1],
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
      const isOfSource = type.name === 'Query' || type.name === 'Mutation' || field.args.length > 0;
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
const graphqlJs = graphqlJsExecutor(schema);

function operationOf(text: string, variables?: Record<string, unknown>, index = 0): Operation {
  const document = parse(text);
  const definition = collectDefinitions(document).operations[index];
  if (definition === undefined) throw new Error(`Expected an operation, but got ${text}`);
  return { document, definition, variables };
}

/** The result as clients see it. The errors are sorted, because concurrent errors have no fixed order. */
async function resultOf(execute: Execute, operation: Operation) {
  const { data, errors = [] }: ExecutionResult = await execute(operation, {});
  return { data: JSON.stringify(data), errors: errors.map((error) => JSON.stringify(error)).sort() };
}

test.each<[what: string, query: string, variables?: Record<string, unknown>]>([
  ['synchronous values', '{ a: text(of: "x") text numbers kinds __typename }'],
  ['arguments from variables', 'query ($of: String) { text(of: $of) }', { of: 'v' }],
  ['missing variables', 'query ($of: String) { text(of: $of) }'],
  ['variables with a default', 'query ($first: Int! = 1) { shelf { books(first: $first) { name } } }'],
  ['items that are promises, some of them rejected', '{ late { name } }'],
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
    'one field that is included and skipped',
    '{ text @skip(if: true) text self { text @skip(if: true) } self { shelf { name } } }',
  ],
  ['an object without fields', 'query ($no: Boolean!) { self { text @include(if: $no) } }', { no: false }],
  [
    'an introspection query',
    '{ __type(name: "Book") { name fields { name type { kind ofType { name } } } } }',
  ],
  [
    'introspection fields beside other fields',
    '{ text __schema { queryType { __typename name } } shelf { __typename name } __typename }',
  ],
  ['an alias named __proto__', '{ __proto__: text a: self { __proto__: shelf { name } } }'],
  [
    'a mutation',
    'mutation { a: write(text: "a") { text } b: writeRequired(text: "b") { numbers } __typename }',
  ],
  ['a mutation with variables', 'mutation ($f: Filter!) { writeAll(filter: $f) }', { f: { kinds: 'A' } }],
  [
    'a failed mutation field between successful fields',
    'mutation { a: write(text: "a") { text } b: write(text: "fails") { text } c: write(text: "c") { required text } }',
  ],
  [
    'a failed non-null mutation field between other fields',
    'mutation { a: write(text: "a") { text } writeRequired(text: "null") { text } c: write(text: "c") { text } }',
  ],
  [
    'a null that propagates through a mutation',
    'mutation { writeRequired { required late { name } } c: write(text: "c") { text } }',
  ],
  ['a missing variable', 'query ($name: String!) { thing(name: $name) { name } }'],
  ['a variable of the wrong type', 'query ($of: String) { text(of: $of) }', { of: 7 }],
  [
    'several invalid variables',
    'mutation ($f: Filter!, $t: String!) { writeAll(filter: $f) write(text: $t) { text } }',
    { f: { kinds: ['A', 'C'], first: 1.5, last: 1 }, t: null },
  ],
  [
    'more invalid values than a response may list',
    'mutation ($f: Filter!) { writeAll(filter: $f) }',
    { f: { kinds: Array(60).fill('C') } },
  ],
  [
    'a null condition at the root',
    'query ($is: Boolean = true) { text ... @include(if: $is) { required } }',
    { is: null },
  ],
  [
    'a null condition below the root',
    'query ($is: Boolean = true) { text self { text shelf { name @skip(if: $is) } } late { name @include(if: $is) } }',
    { is: null },
  ],
])('plans match graphql-js: %s', async (_what, query, variables) => {
  const operation = operationOf(query, variables);
  const execute = createExecutor(schema);
  written.length = 0;
  const expected = await resultOf(graphqlJs, operation);
  const expectedWrites = written.splice(0);
  for (let use = 0; use < 2; use += 1) {
    const result = await resultOf(execute, operation);
    expect(result.data).toBe(expected.data);
    // The messages about values without a type of their own differ. No client sees them.
    if (query.includes('things')) expect(result.errors).toHaveLength(expected.errors.length);
    else expect(result.errors).toEqual(expected.errors);
    expect(written.splice(0)).toEqual(expectedWrites);
  }
});

test('the root fields of a mutation run one after the other', async () => {
  written.length = 0;
  const query = 'mutation { a: write(text: "a", ms: 20) { late { name } } b: write(text: "b") { text } }';
  await createExecutor(schema)(operationOf(query), {});
  expect(written).toEqual(['begin a', 'end a', 'begin b', 'end b']);
});

test('a mutation ends after a non-null root field fails', async () => {
  written.length = 0;
  const query = 'mutation { writeRequired(text: "null") { text } write(text: "b") { text } }';
  const { data } = await createExecutor(schema)(operationOf(query), {});
  expect({ data, written }).toEqual({ data: null, written: [] });
});

test('an invalid variable causes the status 400', async () => {
  const query = 'query ($name: String!) { thing(name: $name) { name } }';
  const { data, errors } = await createExecutor(schema)(operationOf(query), {});
  expect({ data, http: errors?.map(({ extensions }) => extensions.http) }).toEqual({
    data: undefined,
    http: [{ status: 400 }],
  });
});

test.each([
  [false, /unknown field "firs"\. Did you mean "first"\?/],
  [true, /unknown field "firs", found: /],
])(
  'hideSuggestions decides whether errors about variables have suggestions: %s',
  async (hideSuggestions, message) => {
    const variables = { f: { kinds: [], firs: 1 } };
    const operation = operationOf('mutation ($f: Filter!) { writeAll(filter: $f) }', variables);
    const { errors } = await createExecutor(schema, hideSuggestions)(operation, {});
    expect(errors?.map((error) => error.message)).toEqual([expect.stringMatching(message)]);
  },
);

test('@skip and @include of another operation in the document have no effect', async () => {
  const query =
    'query A($a: Boolean!) { text @include(if: $a) } query B($b: Boolean!) { ...F } fragment F on Query { text @include(if: $b) }';
  const result = await createExecutor(schema)(operationOf(query, { b: true }, 1), {});
  expect(result).toEqual({ data: { text: 'none' } });
});

test('all combinations of @skip and @include work, even more than the plan cache holds', async () => {
  const names = Array.from({ length: 6 }, (_, index) => `is${index}`);
  const query = `query (${names.map((name) => `$${name}: Boolean!`)}) {
    ${names.map((name) => `${name}: text @include(if: $${name}) not_${name}: text @skip(if: $${name})`).join(' ')}
  }`;
  const operation = operationOf(query);
  const execute = createExecutor(schema);
  for (let outcome = 0; outcome < 2 ** names.length; outcome += 1) {
    const variables = Object.fromEntries(names.map((name, index) => [name, Boolean(outcome & (1 << index))]));
    const result = await execute({ ...operation, variables }, {});
    expect(Object.keys(result.data ?? {})).toEqual(
      names.map((name) => (variables[name] ? name : `not_${name}`)),
    );
  }
});

test('an operation is planned only once, at the first use', async () => {
  let objects = 0;
  const counting = schemaOfSource();
  counting.getRootType = (...args) => {
    objects += 1;
    return GraphQLSchema.prototype.getRootType.apply(counting, args);
  };
  const execute = createExecutor(counting);
  const operation = operationOf('{ text }');
  for (let use = 0; use < 3; use += 1)
    expect(await execute(operation, {})).toEqual({ data: { text: 'none' } });
  expect(objects).toBe(1);
});
