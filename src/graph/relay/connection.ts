import type { ObjectRef } from '@pothos/core';
import { ListCursors } from '../../loaders/paging/cursor.ts';
import type { PageLoader } from '../../loaders/paging/page-loader.ts';
import { type PageSlice, readPageSlice } from '../../loaders/paging/page-slice.ts';
import type { PageQuery } from '../../rest/api-types.ts';
import { BadInputError, type InvalidResponseError } from '../../rest/errors.ts';
import { builder } from '../builder.ts';

/** The default page size, in rows. */
export const defaultPageSize = 20;

/** A page of a list, the source of a connection type. The getters make edges and cursors only if selected. */
export class Connection<Json> {
  readonly hasPreviousPage: boolean;
  readonly #slice: PageSlice<Json>;
  readonly #cursors: ListCursors;

  constructor(slice: PageSlice<Json>, hasPreviousPage: boolean, cursors: ListCursors) {
    this.hasPreviousPage = hasPreviousPage;
    this.#slice = slice;
    this.#cursors = cursors;
  }

  get hasNextPage(): boolean {
    return this.#slice.hasNextPage;
  }

  get nodes(): PageSlice<Json>['rows'] {
    return this.#slice.rows;
  }

  get edges(): Edge<Json>[] {
    return this.nodes.map((node, index) => ({ node, index, connection: this }));
  }

  /** The cursor of the edge at this index. */
  cursorOf(index: number): string {
    return this.#cursors.encode(this.#slice.positionAfter(index));
  }
}

interface Edge<Json> {
  node: Json | InvalidResponseError;
  /** The index of the edge in the connection. */
  index: number;
  connection: Connection<Json>;
}

const PageInfo = builder.objectRef<Connection<unknown>>('PageInfo').implement({
  description: 'Where a page stands in its list.',
  fields: (t) => ({
    hasNextPage: t.exposeBoolean('hasNextPage', { description: 'Whether more follows.' }),
    hasPreviousPage: t.exposeBoolean('hasPreviousPage', {
      description: 'Whether the page was asked for with `after`. Lists are read forward only.',
    }),
    startCursor: t.string({
      nullable: true,
      description: 'The cursor of the first edge; null on an empty page.',
      resolve: (connection) => (connection.nodes.length === 0 ? null : connection.cursorOf(0)),
    }),
    endCursor: t.string({
      nullable: true,
      description: 'The cursor of the last edge, for `after`; null on an empty page.',
      resolve: (connection) => {
        const { length } = connection.nodes;
        return length === 0 ? null : connection.cursorOf(length - 1);
      },
    }),
  }),
});

interface Named {
  name: string;
}

type Types = (typeof builder)['$inferSchemaTypes'];

/**
 * Makes the types `XConnection` and `XEdge` for the type `X`.
 * @param items the plural noun for descriptions, such as "orders"
 */
export function connectionOf<Json extends Named>(ref: ObjectRef<Types, Json>, items: string) {
  // A connection reads only the name of a record. Pothos can't infer field types from a type parameter.
  const node = ref as unknown as ObjectRef<Types, Named>;
  const edge = builder.objectRef<Edge<Named>>(`${node.name}Edge`).implement({
    description: `One of the ${items}, with its place in the list.`,
    fields: (t) => ({
      cursor: t.string({
        description: 'Pass it as `after`, with the same filters, to read the rows after this one.',
        resolve: ({ connection, index }) => connection.cursorOf(index),
      }),
      node: t.field({
        type: node,
        nullable: true,
        description: 'Null only where REST gave a broken record, with an error that names it.',
        // GraphQL turns an error instance into the field's own error.
        resolve: ({ node }) => node as Named,
      }),
    }),
  });
  const connection = builder.objectRef<Connection<Named>>(`${node.name}Connection`).implement({
    description: `A page of ${items}.`,
    fields: (t) => ({
      edges: t.expose('edges', { type: [edge], description: `The ${items} with their cursors.` }),
      nodes: t.field({
        type: [node],
        nullable: { list: false, items: true },
        description: `The ${items} alone. Null only where REST gave a broken record, with an error that names it.`,
        // GraphQL turns an error instance in a list into that item's own error.
        resolve: ({ nodes }) => nodes as readonly Named[],
      }),
      pageInfo: t.field({
        type: PageInfo,
        description: 'Where this page stands in the list.',
        resolve: (source) => source,
      }),
    }),
  });
  return connection as unknown as ObjectRef<Types, Connection<Json>>;
}

/** The arguments of a connection field. Null and absent both mean the default. */
export interface ConnectionArgs {
  first?: number | null | undefined;
  after?: string | null | undefined;
}

/**
 * Makes the arguments `first` and `after`.
 * @param maximum the largest page size of this list in REST, in rows ("List query parameters")
 */
export function connectionArgs(maximum: number) {
  return builder.args((t) => ({
    first: t.int({
      description: `How many, from 0 to ${maximum}; ${defaultPageSize} when left out.`,
      extensions: { maximum },
    }),
    after: t.string({ description: 'A cursor of this list: what follows it is returned.' }),
  }));
}

/** The list to read, its filters and the requested page. */
export interface ConnectionRequest<Json, Query extends PageQuery> {
  /** The list name for cursors. A cursor is valid for one list name with the same filters. */
  list: string;
  pages: PageLoader<Json, Query>;
  /** The list's filters. */
  query: Omit<Query, keyof PageQuery>;
  args: ConnectionArgs;
  /** The largest page size of this list in REST, in rows. */
  maximum: number;
  /** Whether a row belongs to the list, for a filter that REST does not have. By default all rows belong. */
  isInList?: (row: Json) => boolean;
}

/**
 * Reads the page of a list that `first` and `after` select.
 * @throws BadInputError for an invalid `first`, and InvalidCursorError for an invalid `after`, without a REST call
 */
export async function connect<Json extends { name: string }, Query extends PageQuery>({
  list,
  pages,
  query,
  args,
  maximum,
  isInList,
}: ConnectionRequest<Json, Query>): Promise<Connection<Json>> {
  const first = args.first ?? defaultPageSize;
  if (first < 0 || first > maximum) {
    throw new BadInputError(`Expected "first" to be from 0 to ${maximum}, but got ${first}.`);
  }
  const cursors = new ListCursors(list, query);
  const after = typeof args.after === 'string' ? cursors.decode(args.after) : undefined;
  const slice = await readPageSlice({
    pages,
    query,
    first,
    after,
    maxPageSize: maximum,
    ...(isInList === undefined ? {} : { isInList }),
  });
  return new Connection(slice, after !== undefined, cursors);
}
