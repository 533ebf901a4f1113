import type { Loaders } from '../../loaders/loaders.ts';
import { BadInputError } from '../../rest/errors.ts';
import { quoteForMessage } from '../../rest/resource-name.ts';
import { builder } from '../builder.ts';

/** Tells `node(id:)` how to load the records of one type. Each Node type registers itself in its own file. */
export interface NodeType {
  typename: string;
  /** Whether the form of an id matches this type. */
  owns(id: string): boolean;
  /** Loads the record, or null if there is none. @throws BadInputError for a malformed id. */
  load(id: string, loaders: Loaders): Promise<{ name: string } | null>;
}

/** A type whose records have ids, but no REST call to read them by id. */
export interface UnreadableType {
  /** Whether the form of an id matches this type. */
  owns(id: string): boolean;
  /** Returns a sentence on how to read the record instead. */
  instead(id: string): string;
}

const maxNodes = 100;
const nodeTypes: NodeType[] = [];
const unreadableTypes: UnreadableType[] = [];

/** Makes `node(id:)` load records of a type. */
export function registerNode(type: NodeType): void {
  nodeTypes.push(type);
}

/** Makes `node(id:)` fail for ids of a type, with a message on how to read the record instead. */
export function registerUnreadable(type: UnreadableType): void {
  unreadableTypes.push(type);
}

export const Node = builder.interfaceRef<{ name: string }>('Node').implement({
  description: 'Anything with an id that is unique among all types, so that `node` finds it again.',
  resolveType: ({ name }) => nodeTypes.find((type) => type.owns(name))?.typename,
  fields: (t) => ({
    id: t.exposeID('name', {
      description: 'The resource name, `<collection>/<identifier>`. Unique among all types, and stable.',
    }),
  }),
});

builder.queryFields((t) => ({
  node: t.field({
    type: Node,
    nullable: true,
    description:
      'Any object by its id, or null where there is none. It costs what the query for its type costs, such as ' +
      '`GET /v1/orders/{id}` for an order.',
    args: {
      id: t.arg.id({ required: true, description: 'The whole id, with its collection: `orders/abc`.' }),
    },
    resolve: (_root, { id }, { loaders }) => loadNode(id, loaders),
  }),
  nodes: t.field({
    type: [Node],
    nullable: { list: false, items: true },
    description:
      `Up to ${maxNodes} objects by their ids, in the order of the ids. What is not found is null. Each costs what ` +
      '`node` costs, such as `GET /v1/orders/{id}` for an order.',
    args: {
      ids: t.arg.idList({ required: true, description: 'Whole ids, with their collections: `orders/abc`.' }),
    },
    resolve: (_root, { ids }, { loaders }) => {
      if (ids.length > maxNodes) {
        throw new BadInputError(`Expected at most ${maxNodes} ids, but got ${ids.length}.`);
      }
      return ids.map((id) => loadNode(id, loaders));
    },
  }),
}));

async function loadNode(id: string, loaders: Loaders): Promise<{ name: string } | null> {
  const type = nodeTypes.find((candidate) => candidate.owns(id));
  if (type !== undefined) return type.load(id, loaders);
  const unreadable = unreadableTypes.find((candidate) => candidate.owns(id));
  throw new BadInputError(
    unreadable === undefined
      ? `Expected a whole id, such as "orders/abc", but got ${quoteForMessage(id)}.`
      : `${quoteForMessage(id)} can't be read by its id, as the REST service has no call for that. ${unreadable.instead(id)}`,
  );
}
