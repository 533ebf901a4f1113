import type { ObjectRef } from '@pothos/core';
import { quoteForMessage } from '../../base/quote-for-message.ts';
import type { Loaders } from '../../loaders/loaders.ts';
import { BadInputError } from '../../rest/errors.ts';
import { isResourceName, resourceName } from '../../rest/resource-name.ts';
import { builder, type SchemaTypes } from '../builder.ts';
import { type RecordByCollection, recordLoaders } from '../fields/related-record.ts';

interface NodeType {
  typename: string;
  owns(id: string): boolean;
  /** Resolves to null if there is no record. @throws BadInputError for a malformed id. */
  load(id: string, loaders: Loaders): Promise<{ name: string } | null>;
}

interface NonRefetchableType {
  owns(id: string): boolean;
  /** A sentence on how to read the record instead. */
  instead(id: string): string;
}

const maxNodes = 100;
const nodeTypes: NodeType[] = [];
const nonRefetchableTypes: NonRefetchableType[] = [];

/** Makes `node(id:)` load records of a type. */
export function registerNode(type: NodeType): void {
  nodeTypes.push(type);
}

/** Makes `node(id:)` fail for ids that REST has no call for, with a message on how to read the record instead. */
export function registerNonRefetchable(type: NonRefetchableType): void {
  nonRefetchableTypes.push(type);
}

export const Node = builder.interfaceRef<{ name: string }>('Node').implement({
  description: 'An object that `node` finds by its id.',
  resolveType: ({ name }) => nodeTypes.find((type) => type.owns(name))?.typename,
  fields: (t) => ({
    id: t.exposeID('name', {
      description: 'The resource name, `<collection>/<identifier>`. Stable, and unique among all types.',
    }),
  }),
});

/**
 * Makes records of a collection readable by id: with `node(id:)`, and with a query of their own.
 * @param cost a sentence on the calls that the query costs
 */
export function defineRecordQuery<C extends keyof RecordByCollection>(
  queryName: string,
  ref: ObjectRef<SchemaTypes, RecordByCollection[C]>,
  collection: C,
  cost: string,
): void {
  const load = (name: string, loaders: Loaders): Promise<{ name: string } | null> =>
    recordLoaders[collection](loaders).load(name);
  registerNode({ typename: ref.name, owns: (id) => isResourceName(collection, id), load });
  builder.queryField(queryName, (t) =>
    t.field({
      // Pothos can't infer the type of a field from a type parameter.
      type: ref as unknown as ObjectRef<SchemaTypes, { name: string }>,
      nullable: true,
      description: `The ${queryName} with this id, or null if it does not exist. ${cost}`,
      args: {
        id: t.arg.id({
          required: true,
          description: `\`${collection}/<identifier>\` or the bare identifier.`,
        }),
      },
      resolve: (_root, { id }, { loaders }) => load(resourceName(collection, id), loaders),
    }),
  );
}

builder.queryFields((t) => ({
  node: t.field({
    type: Node,
    nullable: true,
    description:
      'The object with this id, or null if it does not exist. Costs the calls of the query of its type, such as ' +
      '`GET /v1/orders/{id}`.',
    args: {
      id: t.arg.id({ required: true, description: 'The full id with its collection, such as `orders/abc`.' }),
    },
    resolve: (_root, { id }, { loaders }) => loadNode(id, loaders),
  }),
  nodes: t.field({
    type: [Node],
    nullable: { list: false, items: true },
    description:
      `Up to ${maxNodes} objects, in the order of their ids, with null for each missing object. Costs the calls of ` +
      '`node` for each id, such as `GET /v1/orders/{id}`.',
    args: {
      ids: t.arg.idList({
        required: true,
        description: 'The full ids with their collections, such as `orders/abc`.',
      }),
    },
    resolve: (_root, { ids }, { loaders }) => {
      if (ids.length > maxNodes) {
        throw new BadInputError(`Expected at most ${maxNodes} ids, but got ${ids.length}.`);
      }
      return ids.map((id) => loadNode(id, loaders));
    },
  }),
}));

/** Returns the error, because a rejected promise for each of thousands of ids takes longer. */
function loadNode(id: string, loaders: Loaders): Promise<{ name: string } | null> | BadInputError {
  const type = nodeTypes.find((candidate) => candidate.owns(id));
  if (type !== undefined) return type.load(id, loaders);
  const nonRefetchable = nonRefetchableTypes.find((candidate) => candidate.owns(id));
  return new BadInputError(
    nonRefetchable === undefined
      ? `Expected a whole id, such as "orders/abc", but got ${quoteForMessage(id)}.`
      : `${quoteForMessage(id)} cannot be read by its id, because the REST service has no call for that. ${nonRefetchable.instead(id)}`,
  );
}
