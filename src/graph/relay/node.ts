import type { ObjectRef } from '@pothos/core';
import { quoteForMessage } from '../../base/quote-for-message.ts';
import type { Loaders } from '../../loaders/loaders.ts';
import { BadInputError } from '../../rest/errors.ts';
import { isResourceName, resourceName } from '../../rest/resource-name.ts';
import { builder, type SchemaTypes } from '../builder.ts';
import { type RecordByCollection, recordReaders } from '../fields/related-record.ts';

/** Null if there is no record. An error is returned, because a rejected promise for each of many ids takes longer. */
type LoadedNode = Promise<{ name: string } | null> | BadInputError;

interface NodeType {
  typename: string;
  owns(id: string): boolean;
  /** @throws BadInputError for a malformed id */
  load(id: string, loaders: Loaders): LoadedNode;
}

const maxNodes = 100;
const nodeTypes: NodeType[] = [];

/** Makes `node(id:)` load records of a type. */
export function registerNode(type: NodeType): void {
  nodeTypes.push(type);
}

/** Makes `node(id:)` fail for a type without a call in REST. `instead` says how to read its records. */
export function registerNonRefetchable(
  typename: string,
  owns: (id: string) => boolean,
  instead: (id: string) => string,
): void {
  const reason = 'cannot be read by its id, because the REST service has no call for that';
  const load = (id: string) => new BadInputError(`${quoteForMessage(id)} ${reason}. ${instead(id)}`);
  registerNode({ typename, owns, load });
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
 * @example defineRecordQuery('origin', Origin, 'origins')
 */
export function defineRecordQuery<C extends keyof RecordByCollection>(
  queryName: string,
  ref: ObjectRef<SchemaTypes, { name: string }>,
  collection: C,
): void {
  const { loader, call } = recordReaders[collection];
  const load = (name: string, loaders: Loaders): Promise<{ name: string } | null> =>
    loader(loaders).load(name);
  registerNode({ typename: ref.name, owns: (id) => isResourceName(collection, id), load });
  builder.queryField(queryName, (t) =>
    t.field({
      type: ref,
      nullable: true,
      description: `The ${queryName} with this id, or null if it does not exist. Costs ${call}.`,
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
      'The object with this id, or null if it does not exist. Costs the REST call for its type, such as ' +
      '`GET /v1/orders/{id}` for an order.',
    args: {
      id: t.arg.id({ required: true, description: 'The full id with its collection, such as `orders/abc`.' }),
    },
    resolve: (_root, { id }, { loaders }) => loadNode(id, loaders),
  }),
  nodes: t.field({
    type: [Node],
    nullable: { list: false, items: true },
    description:
      `The objects with these ids, at most ${maxNodes}, in the sequence of \`ids\`. An object that does not exist is ` +
      'null. Each id costs the same as `node`, such as `GET /v1/orders/{id}`.',
    args: {
      ids: t.arg.idList({
        required: true,
        description: 'The full ids with their collections, such as `orders/abc`.',
      }),
    },
    resolve: (_root, { ids }, { loaders }) => {
      if (ids.length > maxNodes)
        throw new BadInputError(`Expected at most ${maxNodes} ids, but got ${ids.length}.`);
      return ids.map((id) => loadNode(id, loaders));
    },
  }),
}));

function loadNode(id: string, loaders: Loaders): LoadedNode {
  const type = nodeTypes.find((candidate) => candidate.owns(id));
  if (type !== undefined) return type.load(id, loaders);
  return new BadInputError(`Expected a full id, such as "orders/abc", but got ${quoteForMessage(id)}.`);
}
