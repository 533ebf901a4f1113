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
import type { Loaders } from '../../loaders/loaders.ts';
import type { RecordLoader } from '../../loaders/record-loader.ts';
import { InvalidResponseError } from '../../rest/errors.ts';
import { type Collection, isNameOf, shown } from '../../rest/resource-name.ts';

/** The records that others name, by collection. As functions, as a loader is made when it is asked for. */
const relatedLoaders = {
  orders: ({ orderById }: Loaders) => orderById,
  shipments: ({ shipmentById }: Loaders) => shipmentById,
  quotes: ({ quoteById }: Loaders) => quoteById,
  origins: ({ originById }: Loaders) => originById,
  locations: ({ locationById }: Loaders) => locationById,
  channels: ({ channelById }: Loaders) => channelById,
} satisfies { [C in Collection]?: unknown };

type Related = keyof typeof relatedLoaders;

/** The record of each, as its loader has it. */
type NamedRecords = {
  [C in Related]: ReturnType<(typeof relatedLoaders)[C]> extends RecordLoader<infer Json> ? Json : never;
};

// As a type over all collections, which lets a call know the record from the collection.
const loaderOf: { readonly [C in Related]: (loaders: Loaders) => RecordLoader<NamedRecords[C]> } =
  relatedLoaders;

/**
 * The record that a REST payload names. The name alone answers a selection of `id`, without a call; for anything else,
 * and where no `info` tells what is selected, the loader is asked.
 * @throws InvalidResponseError when REST put something else there than a name of `collection`.
 */
export function relatedRecord<C extends Related>(
  collection: C,
  name: string | null | undefined,
  loaders: Loaders,
  info?: GraphQLResolveInfo,
): NamedRecords[C] | Promise<NamedRecords[C] | null> | null {
  if (name === undefined || name === null || name === '') return null;
  expectName(collection, name);
  // Nothing but the name is read from it, as nothing but the id is selected.
  if (info !== undefined && selectsOnlyId(info)) return { name } as NamedRecords[C];
  return loaderOf[collection](loaders).find(name);
}

/** @throws InvalidResponseError when a name that came from REST is not one of `collection`. */
export function expectName(collection: Collection, name: string): void {
  if (isNameOf(collection, name)) return;
  throw new InvalidResponseError(
    `Expected a name of ${collection} from REST, but got ${shown(String(name))}`,
  );
}

/** Whether the field's selections need nothing but the record's name. */
export const selectsOnlyId = foundOncePerField((fields, below) => below(fields).every(isOfName));

/**
 * Tells of a field whether a record is selected that is reached from it by one of these paths, and more of it than its name
 * tells.
 */
export function selectsRecordAt(
  ...paths: readonly (readonly string[])[]
): (info: GraphQLResolveInfo) => boolean {
  return foundOncePerField((fields, below) =>
    paths.some((path) => {
      const records = path.reduce<readonly FieldNode[]>(
        (parents, name) => below(parents).filter((field) => field.name.value === name),
        fields,
      );
      return !below(records).every(isOfName);
    }),
  );
}

/** The fields that are selected of these ones' values, whatever fragments they come from. */
type Below = (parents: readonly FieldNode[]) => FieldNode[];

/**
 * What is found of a field is kept where no condition decides about it. It is then the same for all rows and requests, who
 * would spend more time on this than on anything else in a list.
 */
function foundOncePerField(
  find: (fields: readonly FieldNode[], below: Below) => boolean,
): (info: GraphQLResolveInfo) => boolean {
  const foundOf = new WeakMap<FieldNode, boolean>();
  return (info) => {
    const { fieldNodes } = info;
    const [field] = fieldNodes;
    const isAlone = field !== undefined && fieldNodes.length === 1;
    const known = isAlone ? foundOf.get(field) : undefined;
    if (known !== undefined) return known;
    let isUnconditional = true;
    const found = find(fieldNodes, (parents) => {
      const below = fieldsBelow(parents, info);
      isUnconditional &&= below.isUnconditional;
      return below.fields;
    });
    if (isAlone && isUnconditional) foundOf.set(field, found);
    return found;
  };
}

function isOfName({ name }: FieldNode): boolean {
  return name.value === 'id' || name.value === '__typename';
}

interface FieldsBelow {
  fields: FieldNode[];
  /** Whether none of them, nor any that is left out, stands under a condition. */
  isUnconditional: boolean;
}

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
