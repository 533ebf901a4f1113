import {
  GraphQLIncludeDirective,
  type GraphQLResolveInfo,
  GraphQLSkipDirective,
  getDirectiveValues,
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

function isLeftOut(selection: SelectionNode, info: GraphQLResolveInfo): boolean {
  if (selection.directives === undefined || selection.directives.length === 0) return false;
  return (
    getDirectiveValues(GraphQLSkipDirective, selection, info.variableValues)?.if === true ||
    getDirectiveValues(GraphQLIncludeDirective, selection, info.variableValues)?.if === false
  );
}
