import {
  type FieldNode,
  GraphQLIncludeDirective,
  type GraphQLResolveInfo,
  GraphQLSkipDirective,
  getDirectiveValues,
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

/**
 * What was found of a field where no condition decides about it. It is then the same for all rows and requests, who would
 * spend more time on this than on anything else in a list.
 */
const knownOnlyId = new WeakMap<FieldNode, boolean>();

/** Whether the field's selections need nothing but the record's name. */
export function selectsOnlyId(info: GraphQLResolveInfo): boolean {
  const [field] = info.fieldNodes;
  const isAlone = field !== undefined && info.fieldNodes.length === 1;
  const known = isAlone ? knownOnlyId.get(field) : undefined;
  if (known !== undefined) return known;
  const { fields, isUnconditional } = fieldsBelow(info.fieldNodes, info);
  const isOnlyId = fields.every(isOfName);
  if (isAlone && isUnconditional) knownOnlyId.set(field, isOnlyId);
  return isOnlyId;
}

/** Whether a record is selected that is reached from the field by this path, and more of it than its name tells. */
export function selectsRecordAt(path: readonly string[], info: GraphQLResolveInfo): boolean {
  const records = path.reduce<readonly FieldNode[]>(
    (fields, name) => fieldsBelow(fields, info).fields.filter((field) => field.name.value === name),
    info.fieldNodes,
  );
  return !fieldsBelow(records, info).fields.every(isOfName);
}

function isOfName({ name }: FieldNode): boolean {
  return name.value === 'id' || name.value === '__typename';
}

interface FieldsBelow {
  fields: FieldNode[];
  /** Whether none of them, nor any that is left out, stands under a condition. */
  isUnconditional: boolean;
}

/** The fields that are selected of these ones' values, whatever fragments they come from. */
function fieldsBelow(parents: readonly FieldNode[], info: GraphQLResolveInfo): FieldsBelow {
  // Each fragment is looked into once, as fragments may spread each other over and over.
  const seen = new Set<string>();
  let isUnconditional = true;

  function fieldsOf(selectionSet: SelectionSetNode | undefined): FieldNode[] {
    return (selectionSet?.selections ?? []).flatMap((selection) => {
      if ((selection.directives?.length ?? 0) > 0) {
        isUnconditional = false;
        if (isLeftOut(selection, info)) return [];
      }
      if (selection.kind === Kind.FIELD) return [selection];
      if (selection.kind === Kind.INLINE_FRAGMENT) return fieldsOf(selection.selectionSet);
      const name = selection.name.value;
      if (seen.has(name)) return [];
      seen.add(name);
      return fieldsOf(info.fragments[name]?.selectionSet);
    });
  }

  const fields = parents.flatMap(({ selectionSet }) => fieldsOf(selectionSet));
  return { fields, isUnconditional };
}

/** By @skip or @include, which compiled queries never hold. */
function isLeftOut(selection: SelectionNode, { variableValues }: GraphQLResolveInfo): boolean {
  return (
    getDirectiveValues(GraphQLSkipDirective, selection, variableValues)?.if === true ||
    getDirectiveValues(GraphQLIncludeDirective, selection, variableValues)?.if === false
  );
}
