import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../src/graph/schema.ts';
import { definitionsOf } from '../src/server/limits/selections.ts';
import { type CompiledQueries, createCompiledQueries } from '../src/server/operation/compiled-queries.ts';

/** Which of so many uses of a document run compiled. */
function compiledUses(queries: CompiledQueries, text: string, uses: number): boolean[] {
  const document = parse(text);
  const [definition] = definitionsOf(document).operations;
  if (definition === undefined) throw new Error(`Expected an operation, but got ${text}`);
  const operation = { document, definition, variables: undefined };
  return Array.from({ length: uses }, () => {
    const run = queries.use(operation);
    expect(queries.of(operation)).toBe(run);
    return run !== undefined;
  });
}

test('a query runs compiled from the third time on, so that documents like no other cost no compiling', () => {
  const queries = createCompiledQueries(schema);
  expect(compiledUses(queries, '{ organization { id } }', 4)).toEqual([false, false, true, true]);
  expect(compiledUses(queries, '{ a: organization { id } }', 2)).toEqual([false, false]);
});

test('or from the first on, where that is wanted', () => {
  const queries = createCompiledQueries(schema, 1);
  expect(compiledUses(queries, '{ organization { id } }', 2)).toEqual([true, true]);
});

test('mutations and what is not fit to be compiled never do', () => {
  const queries = createCompiledQueries(schema, 1);
  expect(compiledUses(queries, 'mutation { updateOrders(inputs: []) { __typename } }', 2)).toEqual([
    false,
    false,
  ]);
  expect(compiledUses(queries, '{ organization @skip(if: false) { id } }', 2)).toEqual([false, false]);
});
