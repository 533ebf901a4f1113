import type { ObjectRef } from '@pothos/core';
import { maxPageSize } from '../../loaders/loaders.ts';
import { ListCursors, type Position } from '../../loaders/paging/cursor.ts';
import type { Pages } from '../../loaders/paging/page-loader.ts';
import { type PageSlice, type PlacedRow, readPageSlice } from '../../loaders/paging/page-slice.ts';
import { readFilteredSlice } from '../../loaders/scan/filtered-slice.ts';
import type { createScans, ListScan } from '../../loaders/scan/list-scan.ts';
import type { RowFilter } from '../../loaders/scan/row-filter.ts';
import type { PageQuery } from '../../rest/api-types.ts';
import { builder, type SchemaTypes } from '../builder.ts';
import { nullByError } from '../fields/semantic-non-null.ts';

/** The items of a list without the argument `first`. */
export const defaultPageSize = 20;

interface Connection<Json> {
  slice: PageSlice<Json>;
  hasPreviousPage: boolean;
  cursors: ListCursors;
}

/** A cursor has a page token of REST, which may give each response a new one. */
const cursorExtensions = { isNewAtEachRead: true };

const PageInfo = builder.objectRef<Connection<unknown>>('PageInfo').implement({
  description: 'The position of a page in its list.',
  fields: (t) => ({
    hasNextPage: t.boolean({
      description: 'Whether another page follows.',
      resolve: ({ slice }) => slice.hasNextPage,
    }),
    hasPreviousPage: t.exposeBoolean('hasPreviousPage', {
      description: 'Whether the page was requested with `after`. Lists can only be read forward.',
    }),
    startCursor: t.string({
      nullable: true,
      description: 'The cursor of the first edge, or null on an empty page.',
      extensions: cursorExtensions,
      resolve: ({ slice, cursors }) => encoded(slice.rows[0]?.after, cursors),
    }),
    endCursor: t.string({
      nullable: true,
      description: 'The cursor to pass as `after` to read the next page. Null on an empty last page.',
      extensions: cursorExtensions,
      resolve: ({ slice, cursors }) => encoded(slice.endPosition ?? slice.rows.at(-1)?.after, cursors),
    }),
  }),
});

function encoded(position: Position | undefined, cursors: ListCursors): string | null {
  return position === undefined ? null : cursors.encode(position);
}

interface Named {
  name: string;
}

/**
 * Reads the rows of a scan that match `filter`. A filter may need a second list, such as the shipments of the orders.
 * `joined` is the page of that list to go on with, as the cursor has it.
 */
type SliceReader<Json, Filter> = (
  scan: ListScan<Json>,
  filter: Filter,
  first: number,
  joined: Position['joined'],
) => Promise<PageSlice<Json>>;

interface PageArgs {
  first?: number | null | undefined;
  after?: string | null | undefined;
}

/**
 * Makes the types `XConnection` and `XEdge` for a type `X` with a list in REST ("List query parameters").
 * @returns the options of a field with this connection, and the functions that read its pages
 * @example
 * const originList = defineList(Origin, 'origins');
 * t.field({
 *   ...originList.field,
 *   description: 'The origins. Costs `GET /v1/origins`.',
 *   resolve: (_root, args, { loaders }) => originList.read(loaders.originPage, args, {}),
 * })
 */
export function defineList<Json extends Named>(
  ref: ObjectRef<SchemaTypes, Json>,
  list: keyof typeof maxPageSize,
) {
  const maximum = maxPageSize[list];
  // A connection reads only the name of a record. Pothos can't infer field types from a type parameter.
  const node: ObjectRef<SchemaTypes, Named> = ref;
  const edge = builder.objectRef<PlacedRow<Named> & { cursors: ListCursors }>(`${node.name}Edge`).implement({
    description: `A row of a list of ${list}, with its cursor.`,
    fields: (t) => ({
      cursor: t.string({
        description:
          'The cursor of this row. Pass it as `after`, with the same filters, to read the rows after this one.',
        extensions: cursorExtensions,
        resolve: ({ cursors, after }) => cursors.encode(after),
      }),
      node: t.field({
        type: node,
        nullable: true,
        description: 'The record. Null, with an error, if it cannot be read.',
        extensions: nullByError,
        // GraphQL turns an error instance into the field's own error.
        resolve: ({ row }) => row as Named,
      }),
    }),
  });
  const connection = builder.objectRef<Connection<Named>>(`${node.name}Connection`).implement({
    description: `A page of ${list}.`,
    fields: (t) => ({
      edges: t.field({
        type: [edge],
        description: `The ${list} with their cursors.`,
        resolve: ({ slice, cursors }) => slice.rows.map(({ row, after }) => ({ row, after, cursors })),
      }),
      nodes: t.field({
        type: [node],
        nullable: { list: false, items: true },
        description: `The ${list} of this page, as in \`edges\`. An entry is null, with an error, if it cannot be read.`,
        extensions: nullByError,
        // GraphQL turns an error instance in a list into that item's own error.
        resolve: ({ slice }) => slice.rows.map(({ row }) => row as Named),
      }),
      pageInfo: t.field({
        type: PageInfo,
        description: 'The position of this page in the list.',
        resolve: (source) => source,
      }),
    }),
  });
  const field = {
    type: connection,
    nullable: true as const,
    extensions: nullByError,
    args: builder.args((t) => ({
      first: t.int({
        description: `The number of items, from 0 to ${maximum}. By default ${defaultPageSize}.`,
        extensions: { maximum },
      }),
      after: t.string({
        description: 'The cursor of a row in this list. The page starts with the next row.',
      }),
    })),
  };

  /**
   * Reads a page with the filters of REST.
   * @param isInList selects the rows of the list where the search of REST also finds others. By default, all rows.
   * @throws InvalidCursorError for an invalid `after`, without a REST call
   */
  async function read<Query extends PageQuery>(
    pages: Pages<Json, Query>,
    pageArgs: PageArgs,
    query: Omit<Query, keyof PageQuery>,
    isInList?: (row: Json) => boolean,
  ): Promise<Connection<Json>> {
    const { first, after, cursors } = parsePageArgs(pageArgs, query);
    const slice = await readPageSlice(pages, query, first, after, isInList);
    return { slice, hasPreviousPage: after !== undefined, cursors };
  }

  /**
   * Like `read`, but `filter` is one that REST does not have, so the list is scanned for rows that match.
   * @param readSlice reads the matching rows of a scan. By default, for a filter that needs nothing but the rows.
   */
  async function readFiltered<Query extends PageQuery, Filter extends RowFilter>(
    scanFrom: ReturnType<typeof createScans<Json, Query>>,
    pageArgs: PageArgs,
    query: Omit<Query, keyof PageQuery>,
    filter: Filter,
    readSlice: SliceReader<Json, Filter> = readFilteredSlice,
  ): Promise<Connection<Json>> {
    const { first, after, cursors } = parsePageArgs(pageArgs, { ...query, ...filter });
    // Fields that start at the same row share a scan, also if their cursors differ in the page of the second list.
    const scan = scanFrom(query, after && { ...after, joined: undefined });
    const slice = await readSlice(scan, filter, first, after?.joined);
    return { slice, hasPreviousPage: after !== undefined, cursors };
  }

  function parsePageArgs(pageArgs: PageArgs, filters: object) {
    const first = pageArgs.first ?? defaultPageSize;
    const cursors = new ListCursors(list, filters);
    const after = typeof pageArgs.after === 'string' ? cursors.decode(pageArgs.after) : undefined;
    return { first, after, cursors };
  }

  return { field, read, readFiltered };
}
