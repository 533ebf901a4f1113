import type { SQLInputValue } from 'node:sqlite';
import { indexedName } from '../interface/name-search.ts';
import { notFound } from '../interface/service-error.ts';
import type { Database } from './database.ts';
import { type ListIdentity, readPageToken, writePageToken } from './page-token.ts';
import type { Signatures } from './signatures.ts';

/** The key of a record and the columns that filters search. */
export interface IndexedFields {
  key: string;
  status?: string;
  phone?: string;
  reference?: string | undefined;
  /** The folded text for a substring search. */
  words?: string;
  /** The name for the fuzzy search. */
  name?: string;
}

/** A list of a merchant. */
export interface List {
  merchant: string;
  /** Such as `orders` or `channels/ca1/templates`. */
  path: string;
}

/** An SQL condition on the columns of `records`, with its parameters. */
export interface Filter {
  sql: string;
  values: SQLInputValue[];
}

/** A request for one page of a list. */
export interface PageRequest {
  pageSize: number;
  pageToken: string | undefined;
  oldestFirst: boolean;
  filters?: Filter[];
  /** The merchant that reads a shared list. A page token is valid for one merchant only. */
  reader?: string;
}

/** One page of a list. */
export interface Page<Item> {
  items: Item[];
  /** Empty on the last page. */
  nextPageToken: string;
}

/** The records of one resource type, in any number of lists. */
export interface Collection<Item> {
  find(list: List, key: string): Item | undefined;
  /** @throws ServiceError 404 if there is no such record. */
  get(list: List, key: string): Item;
  /** All records that match the filter, newest first. */
  all(list: List, filter: Filter): Item[];
  /** @throws ServiceError 400 for a page token of another list, filter or order. */
  page(list: List, request: PageRequest): Page<Item>;
  /** @param due when the status changes next, in ms since the epoch; undefined if never */
  insert(list: List, item: Item, due?: number): void;
  /** @throws ServiceError 404 if there is no such record. */
  replace(list: List, item: Item, due?: number): void;
}

/** Creates a collection. @param indexedFieldsOf returns the key and the search columns of a record */
export function createCollection<Item>(
  database: Database,
  signatures: Signatures,
  indexedFieldsOf: (item: Item) => IndexedFields,
): Collection<Item> {
  // `insert` and `replace` wrote every row of the table from an Item.
  const parse = (row: Record<string, unknown>) => JSON.parse(String(row.json)) as Item;
  const columns = (item: Item, due: number | undefined): SQLInputValue[] => {
    const { status, phone, reference, words } = indexedFieldsOf(item);
    return [
      JSON.stringify(item),
      status ?? null,
      phone ?? null,
      reference ?? null,
      words ?? null,
      due ?? null,
    ];
  };
  /** Selects rows in order of creation. A limit of -1 means no limit. */
  const select = (
    { merchant, path }: List,
    filters: readonly Filter[],
    order: 'ASC' | 'DESC' = 'DESC',
    limit = -1,
  ) => {
    const conditions = ['merchant = ?', 'path = ?', ...filters.map(({ sql }) => `(${sql})`)];
    return database.all(
      `SELECT sequence, json FROM records WHERE ${conditions.join(' AND ')} ORDER BY sequence ${order} LIMIT ?`,
      ...[merchant, path, ...filters.flatMap(({ values }) => values), limit],
    );
  };
  const find: Collection<Item>['find'] = (list, key) => {
    const [row] = select(list, [{ sql: 'key = ?', values: [key] }]);
    return row === undefined ? undefined : parse(row);
  };
  return {
    find,
    get(list, key) {
      const item = find(list, key);
      if (item === undefined) throw notFound(key);
      return item;
    },
    all: (list, filter) => select(list, [filter]).map(parse),
    page(list, { pageSize, pageToken, oldestFirst, filters = [], reader = list.merchant }) {
      const order = oldestFirst ? 'ASC' : 'DESC';
      const identity: ListIdentity = [reader, list.path, JSON.stringify(filters), order];
      const after = pageToken === undefined ? [] : [readPageToken(signatures, identity, pageToken)];
      const positionFilter = after.map((sequence) => ({
        sql: oldestFirst ? 'sequence > ?' : 'sequence < ?',
        values: [sequence],
      }));
      // One row more than the page size shows whether another page follows.
      const rows = select(list, [...filters, ...positionFilter], order, pageSize + 1);
      const pageRows = rows.slice(0, pageSize);
      const lastRow = rows.length > pageSize ? pageRows.at(-1) : undefined;
      return {
        items: pageRows.map(parse),
        nextPageToken:
          lastRow === undefined ? '' : writePageToken(signatures, identity, Number(lastRow.sequence)),
      };
    },
    insert(list, item, due) {
      const fields = indexedFieldsOf(item);
      database.transaction(() => {
        const { lastInsertRowid } = database.run(
          `INSERT INTO records (json, status, phone, reference, words, due, merchant, path, key)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          ...columns(item, due),
          ...[list.merchant, list.path, fields.key],
        );
        if (fields.name === undefined) return;
        database.run(
          'INSERT INTO names (rowid, name) VALUES (?, ?)',
          lastInsertRowid,
          indexedName(fields.name),
        );
      });
    },
    replace(list, item, due) {
      const fields = indexedFieldsOf(item);
      database.transaction(() => {
        const [row] = database.all(
          `UPDATE records SET json = ?, status = ?, phone = ?, reference = ?, words = ?, due = ?
           WHERE merchant = ? AND path = ? AND key = ? RETURNING sequence`,
          ...columns(item, due),
          ...[list.merchant, list.path, fields.key],
        );
        if (row === undefined) throw notFound(fields.key);
        if (fields.name === undefined) return;
        database.run(
          'UPDATE names SET name = ? WHERE rowid = ?',
          indexedName(fields.name),
          Number(row.sequence),
        );
      });
    },
  };
}
