import type { SQLInputValue } from 'node:sqlite';
import { indexedName } from '../interface/names.ts';
import { notFound } from '../interface/service-error.ts';
import type { Database } from './database.ts';
import { type ListIdentity, readPageToken, writePageToken } from './page-token.ts';
import type { Signatures } from './signatures.ts';

/** What a record is found by, beside its key. */
export interface Index {
  key: string;
  status?: string;
  phone?: string;
  reference?: string | undefined;
  /** For a search within the text. */
  words?: string;
  /** For the fuzzy search. */
  name?: string;
}

/** One list of one merchant, such as `orders` or `channels/ca1/templates`. */
export interface List {
  merchant: string;
  path: string;
}

/** A condition on the columns of `records`. */
export interface Filter {
  sql: string;
  values: SQLInputValue[];
}

export interface PageRequest {
  pageSize: number;
  pageToken: string | undefined;
  oldestFirst: boolean;
  filters?: Filter[];
  /** Who reads a shared list; page tokens never pass from one merchant to another. */
  reader?: string;
}

export interface Page<Item> {
  items: Item[];
  /** Empty on the last page. */
  nextPageToken: string;
}

/** Records of one kind, in any number of lists. */
export interface Collection<Item> {
  find(list: List, key: string): Item | undefined;
  /** Throws a 404 where there is none. */
  get(list: List, key: string): Item;
  /** All that pass the filter, newest first. */
  all(list: List, filter: Filter): Item[];
  /** Throws a 400 for a page token that is not of this list, these filters and this order. */
  page(list: List, request: PageRequest): Page<Item>;
  /** `due` is when its status changes next, in ms; undefined for never. */
  insert(list: List, item: Item, due?: number): void;
  replace(list: List, item: Item, due?: number): void;
}

/** `indexOf` says what a record is found by. */
export function createCollection<Item>(
  database: Database,
  signatures: Signatures,
  indexOf: (item: Item) => Index,
): Collection<Item> {
  // Whatever is in the table was written from an Item by `insert` or `replace`.
  const parse = (row: Record<string, unknown>) => JSON.parse(String(row.json)) as Item;
  const columns = (item: Item, due: number | undefined): SQLInputValue[] => {
    const { status, phone, reference, words } = indexOf(item);
    return [
      JSON.stringify(item),
      status ?? null,
      phone ?? null,
      reference ?? null,
      words ?? null,
      due ?? null,
    ];
  };
  /** In order of creation; a limit of -1 is none. */
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
      const place = after.map((sequence) => ({
        sql: oldestFirst ? 'sequence > ?' : 'sequence < ?',
        values: [sequence],
      }));
      // One more than asked for, to know whether another page follows.
      const rows = select(list, [...filters, ...place], order, pageSize + 1);
      const shown = rows.slice(0, pageSize);
      const last = rows.length > pageSize ? shown.at(-1) : undefined;
      return {
        items: shown.map(parse),
        nextPageToken: last === undefined ? '' : writePageToken(signatures, identity, Number(last.sequence)),
      };
    },
    insert(list, item, due) {
      const index = indexOf(item);
      database.transaction(() => {
        const { lastInsertRowid } = database.run(
          `INSERT INTO records (json, status, phone, reference, words, due, merchant, path, key)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          ...columns(item, due),
          ...[list.merchant, list.path, index.key],
        );
        if (index.name === undefined) return;
        database.run(
          'INSERT INTO names (rowid, name) VALUES (?, ?)',
          lastInsertRowid,
          indexedName(index.name),
        );
      });
    },
    replace(list, item, due) {
      const index = indexOf(item);
      database.transaction(() => {
        const [row] = database.all(
          `UPDATE records SET json = ?, status = ?, phone = ?, reference = ?, words = ?, due = ?
           WHERE merchant = ? AND path = ? AND key = ? RETURNING sequence`,
          ...columns(item, due),
          ...[list.merchant, list.path, index.key],
        );
        if (row === undefined) throw notFound(index.key);
        if (index.name === undefined) return;
        database.run(
          'UPDATE names SET name = ? WHERE rowid = ?',
          indexedName(index.name),
          Number(row.sequence),
        );
      });
    },
  };
}
