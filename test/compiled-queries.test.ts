import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../src/graph/schema.ts';
import { compiledQueries } from '../src/server/compiled-queries.ts';

/** Which of so many uses of a document run compiled. */
function compiledUses(plugin: ReturnType<typeof compiledQueries>, text: string, uses: number): boolean[] {
  const document = parse(text);
  return Array.from({ length: uses }, () => {
    let isCompiled = false;
    const args = { schema, document, operationName: undefined, variableValues: {} };
    const onExecute = plugin.onExecute as (event: object) => void; // Yoga hands over more than this one looks at.
    onExecute({
      args,
      setExecuteFn: () => {
        isCompiled = true;
      },
    });
    return isCompiled;
  });
}

test('a query runs compiled from the third time on, so that documents like no other cost no compiling', () => {
  const plugin = compiledQueries();
  expect(compiledUses(plugin, '{ organization { id } }', 4)).toEqual([false, false, true, true]);
  expect(compiledUses(plugin, '{ a: organization { id } }', 2)).toEqual([false, false]);
});

test('or from the first on, where that is wanted', () => {
  expect(compiledUses(compiledQueries(1), '{ organization { id } }', 2)).toEqual([true, true]);
});

test('mutations and what is not fit to be compiled never do', () => {
  const plugin = compiledQueries(1);
  expect(compiledUses(plugin, 'mutation { updateOrders(inputs: []) { __typename } }', 2)).toEqual([
    false,
    false,
  ]);
  expect(compiledUses(plugin, '{ organization @skip(if: false) { id } }', 2)).toEqual([false, false]);
});
