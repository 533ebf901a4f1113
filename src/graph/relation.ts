import {
  type DirectiveNode,
  type GraphQLResolveInfo,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import type { RecordLoader } from '../loaders/record-loader.ts';
import { InvalidResponseError } from '../rest/errors.ts';
import { type Collection, isNameOf, shown } from '../rest/resource-name.ts';

/**
 * The record that a REST payload names. The name alone answers a selection of `id`, without a call; for anything else,
 * and where no `info` tells what is selected, the loader is asked.
 * @throws InvalidResponseError when REST put something else there than a name of `collection`.
 */
export function related<Json extends { name: string }>(
  collection: Collection,
  name: string | null | undefined,
  loader: () => RecordLoader<Json>,
  info?: GraphQLResolveInfo,
): Json | Promise<Json | null> | null {
  if (name === undefined || name === null || name === '') return null;
  expectName(collection, name);
  // Nothing but the name is read from it, as nothing but the id is selected.
  return info !== undefined && selectsOnlyId(info) ? ({ name } as Json) : loader().load(name);
}

/** @throws InvalidResponseError when a name that came from REST is not one of `collection`. */
export function expectName(collection: Collection, name: string): void {
  if (isNameOf(collection, name)) return;
  throw new InvalidResponseError(
    `Expected a name of ${collection} from REST, but got ${shown(String(name))}`,
  );
}

/** Whether the field's selections need nothing but the record's name. */
export function selectsOnlyId(info: GraphQLResolveInfo): boolean {
  return info.fieldNodes.every(
    (field) => field.selectionSet === undefined || onlyId(field.selectionSet, info),
  );
}

function onlyId(selections: SelectionSetNode, info: GraphQLResolveInfo): boolean {
  return selections.selections.every((selection) => {
    if (isLeftOut(selection, info)) return true;
    if (selection.kind === 'Field')
      return selection.name.value === 'id' || selection.name.value === '__typename';
    if (selection.kind === 'InlineFragment') return onlyId(selection.selectionSet, info);
    const fragment = info.fragments[selection.name.value];
    return fragment !== undefined && onlyId(fragment.selectionSet, info);
  });
}

function isLeftOut({ directives = [] }: SelectionNode, info: GraphQLResolveInfo): boolean {
  return directives.some((directive) => {
    const { value: name } = directive.name;
    if (name === 'skip') return condition(directive, info) === true;
    return name === 'include' && condition(directive, info) === false;
  });
}

/** The `if` of a directive; undefined where it can't be told, so that nothing is taken to be left out. */
function condition(directive: DirectiveNode, info: GraphQLResolveInfo): unknown {
  const given = directive.arguments?.find((argument) => argument.name.value === 'if')?.value;
  if (given?.kind === Kind.BOOLEAN) return given.value;
  return given?.kind === Kind.VARIABLE ? variables(info)[given.name.value] : undefined;
}

/** Compiled queries hand over the values alone, where GraphQL's own executor keeps them beside their sources. */
function variables({ variableValues }: GraphQLResolveInfo): Readonly<Record<string, unknown>> {
  const { coerced = variableValues }: { coerced?: object } = variableValues;
  // An object without a prototype, with the name of each variable as a key.
  return coerced as Readonly<Record<string, unknown>>;
}
