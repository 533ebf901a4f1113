import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../src/graph/schema.ts';
import { createCompiledQueries } from '../src/server/operation/compiled-queries.ts';

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

test.each([
  'mutation { updateOrders(inputs: []) { __typename } }',
  '{ organization @skip(if: false) { id } }',
])('the executor runs what is not compiled: %s', (text) => {
  expect(compiledUses(text, 2)).toEqual([undefined, undefined]);
});
