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
import { quoteForMessage } from '../../base/quote-for-message.ts';
import type { Loaders } from '../../loaders/loaders.ts';
import type { RecordLoader } from '../../loaders/record-loader.ts';
import { InvalidResponseError } from '../../rest/errors.ts';
import { type Collection, isResourceName } from '../../rest/resource-name.ts';
import type {
  ChannelJson,
  LocationJson,
  OrderJson,
  OriginJson,
  QuoteJson,
  ShipmentJson,
} from '../../rest/wire-schema.ts';

/** The collections whose records have an id. */
export interface RecordByCollection {
  orders: OrderJson;
  shipments: ShipmentJson;
  quotes: QuoteJson;
  origins: OriginJson;
  locations: LocationJson;
  channels: ChannelJson;
}

/** Functions, because `Loaders` makes each loader on first use. */
export const recordLoaders: {
  readonly [C in keyof RecordByCollection]: (loaders: Loaders) => RecordLoader<RecordByCollection[C]>;
} = {
  orders: ({ orderById }) => orderById,
  shipments: ({ shipmentById }) => shipmentById,
  quotes: ({ quoteById }) => quoteById,
  origins: ({ originById }) => originById,
  locations: ({ locationById }) => locationById,
  channels: ({ channelById }) => channelById,
};

/**
 * Loads the record that a REST payload names. If only `id` is selected, the name is enough and no call is made.
 * @param name the resource name in the payload; the result is null if the name is absent or empty
 * @param info the resolve info of the field; without it the record is always loaded
 * @throws InvalidResponseError if `name` is not a name of `collection`
 */
export function relatedRecord<C extends keyof RecordByCollection>(
  collection: C,
  name: string | null | undefined,
  loaders: Loaders,
  info?: GraphQLResolveInfo,
): RecordByCollection[C] | Promise<RecordByCollection[C] | null> | null {
  if (name === undefined || name === null || name === '') return null;
  checkName(collection, name);
  // Only the id is selected, so nothing but the name is read from the record.
  if (info !== undefined && selectsOnlyId(info)) return { name } as RecordByCollection[C];
  return recordLoaders[collection](loaders).find(name);
}

/** Checks a name from REST. @throws InvalidResponseError if it is not a name of `collection`. */
export function checkName(collection: Collection, name: string): void {
  if (isResourceName(collection, name)) return;
  throw new InvalidResponseError(
    `Expected a name of ${collection} from REST, but got ${quoteForMessage(String(name))}`,
  );
}

/**
 * Makes a predicate on a field: whether the operation selects more than the id of a record below the field. The result
 * is cached by the nodes of the field: a plan has one array of nodes for each of its fields, and one outcome of @skip
 * and @include. Without the cache, the predicate would take longer than the rest of each row of a list.
 * @param paths the field names from the field to the record; one matching path is enough
 */
export function selectsMoreThanIdAt(
  ...paths: readonly (readonly string[])[]
): (info: GraphQLResolveInfo) => boolean {
  const cache = new WeakMap<readonly FieldNode[], boolean>();
  const evaluate = (info: GraphQLResolveInfo) =>
    paths.some((path) => {
      const records = path.reduce<readonly FieldNode[]>(
        (parents, name) => selectChildren(parents, info).filter((field) => field.name.value === name),
        info.fieldNodes,
      );
      return !selectChildren(records, info).every(isIdOrTypename);
    });
  return (info) => {
    const result = cache.get(info.fieldNodes) ?? evaluate(info);
    cache.set(info.fieldNodes, result);
    return result;
  };
}

const selectsMoreThanId = selectsMoreThanIdAt([]);

/** Whether a field with a record needs only its name, for `id` and `__typename`. */
export const selectsOnlyId = (info: GraphQLResolveInfo) => !selectsMoreThanId(info);

function isIdOrTypename({ name }: FieldNode): boolean {
  return name.value === 'id' || name.value === '__typename';
}

/** The selected child fields of fields, with fragments expanded. */
function selectChildren(parents: readonly FieldNode[], info: GraphQLResolveInfo): FieldNode[] {
  // Visits each fragment once: fragments may spread the same fragment many times.
  const visitedFragments = new Set<string>();

  function fieldsOf(selectionSet: SelectionSetNode | undefined): FieldNode[] {
    return (selectionSet?.selections ?? []).flatMap((selection) => {
      if (isSkipped(selection, info)) return [];
      if (selection.kind === Kind.FIELD) return [selection];
      if (selection.kind === Kind.INLINE_FRAGMENT) return fieldsOf(selection.selectionSet);
      const name = selection.name.value;
      if (visitedFragments.has(name)) return [];
      visitedFragments.add(name);
      return fieldsOf(info.fragments[name]?.selectionSet);
    });
  }

  return parents.flatMap(({ selectionSet }) => fieldsOf(selectionSet));
}

/** Whether @skip or @include removes the selection. */
function isSkipped(selection: SelectionNode, { variableValues }: GraphQLResolveInfo): boolean {
  return (
    getDirectiveValues(GraphQLSkipDirective, selection, variableValues)?.if === true ||
    getDirectiveValues(GraphQLIncludeDirective, selection, variableValues)?.if === false
  );
}
