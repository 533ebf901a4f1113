import { readFileSync } from 'node:fs';
import { buildSchema } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../../src/graph/schema.ts';
import { unnamedBreakingChanges } from '../../fixtures/breaking-changes.ts';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

test('each breaking change since the last release is named in CHANGELOG.md', () => {
  const [, nextVersion = ''] = read('CHANGELOG.md').split(/^## /m);
  expect(nextVersion).toMatch(/^\[Unreleased\]/);
  expect(unnamedBreakingChanges(buildSchema(read('.ci/released.graphql')), schema, nextVersion)).toEqual([]);
});

const text = `
  directive @shown(by: String) on FIELD
  interface Named { name: String }
  type Query implements Named { name: String notes: String! item(id: ID): Item either: Either }
  type Item { id: ID } type Gone { id: ID }
  union Either = Item | Gone
  enum Status { READY SENT }
  input Filter { search: String }
`;
const released = buildSchema(text);
function change(from: string, to: string) {
  expect(text).toContain(from);
  return buildSchema(text.replace(from, to));
}

test.each([
  ['a field that is gone', 'notes: String!', '', 'Query.notes'],
  ['a field of another type', 'notes: String!', 'notes: String', 'Query.notes'],
  ['an argument that is gone', 'item(id: ID)', 'item', 'Query.item(id:)'],
  ['a new required argument', 'item(id: ID)', 'item(id: ID by: Int!)', 'Query.item(by:)'],
  ['an enum value that is gone', 'READY SENT', 'READY', 'Status.SENT'],
  ['a new required input field', 'search: String', 'search: String at: Int!', 'Filter.at'],
  ['a union member that is gone', 'Item | Gone', 'Item', 'Gone'],
  ['a type that is gone', 'enum Status { READY SENT }', '', 'Status'],
  ['an interface that is gone', 'Query implements Named', 'Query', 'Query'],
  ['a directive that is gone', 'directive @shown(by: String) on FIELD', '', '@shown'],
])('%s is reported as a problem until CHANGELOG.md names the change', (_title, from, to, coordinate) => {
  const current = change(from, to);
  const problems = unnamedBreakingChanges(released, current, `The field \`Query.other\` and ${coordinate}`);
  expect(problems).toEqual([expect.stringContaining(`or name \`${coordinate}\` under the next version`)]);
  expect(unnamedBreakingChanges(released, current, `- \`${coordinate}\` is gone.`)).toEqual([]);
});

test.each([
  ['a new field', 'notes: String!', 'notes: String! other: Int'],
  ['a new enum value', 'READY SENT', 'READY SENT LOST'],
  ['an output field that is no longer null', 'name: String notes', 'name: String! notes'],
  ['a new optional argument', 'item(id: ID)', 'item(id: ID by: Int)'],
])('%s breaks nothing', (_title, from, to) => {
  expect(unnamedBreakingChanges(released, change(from, to), '')).toEqual([]);
});
