import { afterAll, expect, test } from 'vitest';
import { openDatabase } from '../../../src/sandbox/store/database.ts';
import { createStore } from '../../../src/sandbox/store/store.ts';

const database = openDatabase(undefined);
database.create(() => {});
afterAll(() => database.close());

const { pageOfConstants } = createStore(database);
const list = { merchant: 'cafe-andino', path: 'couriers' };
const rows = ['a', 'b', 'c'];

test.each([
  [false, ['a', 'b'], ['c']],
  [true, ['c', 'b'], ['a']],
])('pageOfConstants splits a list into pages (oldest first: %j)', (oldestFirst, first, second) => {
  const request = { pageSize: 2, oldestFirst };
  const { items, nextPageToken } = pageOfConstants(list, rows, { ...request, pageToken: undefined });
  expect(items).toEqual(first);
  expect(pageOfConstants(list, rows, { ...request, pageToken: nextPageToken })).toEqual({
    items: second,
    nextPageToken: '',
  });
});

test.each([
  ['merchant', { ...list, merchant: 'sur-textil' }, false],
  ['list', { ...list, path: 'areas' }, false],
  ['sort order', list, true],
])('pageOfConstants rejects a page token of another %s', (_what, other, oldestFirst) => {
  const request = { pageSize: 1, pageToken: undefined, oldestFirst: false };
  const { nextPageToken: pageToken } = pageOfConstants(list, rows, request);
  expect(() => pageOfConstants(other, rows, { pageSize: 1, pageToken, oldestFirst })).toThrow('pageToken');
});
