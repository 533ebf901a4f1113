import { parse } from 'graphql';
import { expect, test } from 'vitest';
import {
  collectDefinitions,
  type SelectionFilter,
  SelectionSizes,
  selectedFields,
} from '../../../src/server/document-syntax/selections.ts';

/** The fields that an operation selects, as `typeCondition.fieldName`. */
function fieldsOf(text: string, filter?: SelectionFilter): string[] {
  const { operations, fragments } = collectDefinitions(parse(text));
  const sets = operations.map(({ selectionSet }) => selectionSet);
  return selectedFields(sets, fragments, filter).map(
    ({ node, condition }) => `${condition ?? ''}.${node.name.value}`,
  );
}

function sizesOf(text: string) {
  const { operations, fragments } = collectDefinitions(parse(text));
  const sizes = new SelectionSizes(fragments);
  return { sizes: operations.map((operation) => sizes.measure(operation)), isCyclic: sizes.isCyclic };
}

/** Each fragment spreads the next one twice. */
const doubling = `{ ...F0 } ${Array.from({ length: 40 }, (_, index) => {
  return `fragment F${index} on Query { ...F${index + 1} ...F${index + 1} }`;
}).join(' ')} fragment F40 on Query { a @skip(if: true) b: c { d } }`;

const circle = '{ a ...A } fragment A on Query { b { ...A } ...B } fragment B on Query { c ...A }';

test('selectedFields returns fields in document order, each fragment once', () => {
  expect(fieldsOf('{ a { x } ...F b ...F ... { c } } fragment F on Query { d a }')).toEqual([
    '.a',
    'Query.d',
    'Query.a',
    '.b',
    '.c',
  ]);
  expect(fieldsOf(doubling)).toEqual(['Query.a', 'Query.c']);
  expect(fieldsOf(circle)).toEqual(['.a', 'Query.b', 'Query.c']);
  expect(fieldsOf('{ a ...Unknown }')).toEqual(['.a']);
});

test('selectedFields excludes all fields below an excluded type condition', () => {
  const query = '{ a ... on A { b ... { c } ... on B { d } } ... on B { e ... on A { f } } }';
  expect(
    fieldsOf(query, { includesType: (condition) => condition === 'A', includesSelection: () => true }),
  ).toEqual(['.a', 'A.b', 'A.c']);
});

test('SelectionSizes counts a fragment once per spread', () => {
  const { sizes, isCyclic } = sizesOf(doubling);
  const spreads = 2 ** 40;
  expect({ sizes, isCyclic }).toEqual({
    sizes: [
      {
        selections: 2 * spreads - 1 + 3 * spreads,
        aliases: spreads,
        depth: 2,
      },
    ],
    isCyclic: false,
  });
});

test('SelectionSizes returns finite sizes for circular fragments', () => {
  const { sizes, isCyclic } = sizesOf(circle);
  expect(isCyclic).toBe(true);
  expect(sizes).toMatchObject([{ selections: 7, depth: 1 }]);
});
