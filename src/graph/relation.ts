import {
  type DirectiveNode,
  type FieldNode,
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
  if (areOnlyId(info.fieldNodes, info)) return true;
  // The one node of a field that is resolved is not left out.
  if (info.fieldNodes.length === 1) return false;
  const included = includedNodes(info);
  return included.length > 0 && areOnlyId(included, info);
}

function areOnlyId(fields: readonly FieldNode[], info: GraphQLResolveInfo): boolean {
  return fieldsBelow(fields, info).every(({ name }) => name.value === 'id' || name.value === '__typename');
}

/**
 * The field's nodes without those that are left out, by themselves or by what is around them: compiled queries hand
 * over all. A fragment's type is not looked at, as only nodes that were handed over count.
 */
function includedNodes(info: GraphQLResolveInfo): FieldNode[] {
  const root = fieldsIn([info.operation.selectionSet], info);
  const reached = new Set(
    responseKeys(info.path).reduce<FieldNode[]>(
      (fields, key, depth) => (depth === 0 ? fields : fieldsBelow(fields, info)).filter(hasKey(key)),
      root,
    ),
  );
  // Compiled queries select what stands in a fragment of a node that is left out, so that such a node counts.
  return info.fieldNodes.filter((field) => reached.has(field) || hasFragment(field));
}

function hasFragment({ selectionSet }: FieldNode): boolean {
  return selectionSet?.selections.some(({ kind }) => kind !== Kind.FIELD) ?? false;
}

const hasKey =
  (key: string) =>
  ({ alias, name }: FieldNode): boolean =>
    (alias ?? name).value === key;

/** The names of the fields from the root to this one, as the answer has them. */
function responseKeys(path: GraphQLResolveInfo['path'] | undefined): string[] {
  const keys: string[] = [];
  // Numbers are places in lists.
  for (let step = path; step !== undefined; step = step.prev)
    if (typeof step.key === 'string') keys.unshift(step.key);
  return keys;
}

function fieldsBelow(fields: readonly FieldNode[], info: GraphQLResolveInfo): FieldNode[] {
  return fieldsIn(
    fields.flatMap(({ selectionSet }) => selectionSet ?? []),
    info,
  );
}

/** The fields that are selected there and in the fragments there, without what is left out. */
function fieldsIn(selectionSets: readonly SelectionSetNode[], info: GraphQLResolveInfo): FieldNode[] {
  const fields: FieldNode[] = [];
  // A set takes each fragment once, and goes on through what is added meanwhile.
  const open = new Set(selectionSets);
  for (const { selections } of open) {
    for (const selection of selections) {
      if (isLeftOut(selection, info)) continue;
      if (selection.kind === Kind.FIELD) fields.push(selection);
      else {
        const fragment =
          selection.kind === Kind.FRAGMENT_SPREAD ? info.fragments[selection.name.value] : selection;
        if (fragment !== undefined) open.add(fragment.selectionSet);
      }
    }
  }
  return fields;
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
