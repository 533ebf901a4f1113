import { describe, expect, test } from 'vitest';
import type { Position } from '../../../src/loaders/paging/cursor.ts';
import { type PageSlice, readPageSlice } from '../../../src/loaders/paging/page-slice.ts';
import { InvalidResponseError } from '../../../src/rest/errors.ts';
import { createList, type List, named, type Row, scripted } from '../list-batch/list.ts';

function read(list: List, first: number, after?: Position, isInList?: (row: Row) => boolean) {
  return readPageSlice(list.pages(), {}, first, after, isInList);
}

const names = ({ rows }: PageSlice<Row>) => rows.map(({ row }) => row.name);
const placeAfter = (slice: PageSlice<Row>, index: number) => slice.rows.at(index)?.after;
const lastPlace = (slice: PageSlice<Row>) => placeAfter(slice, -1);
/** Where the page after a row begins: a token names it, and with it how many rows come before. */
const nextPage = (pageToken: string): Position => ({
  pageToken,
  rowsBefore: Number(pageToken.slice(1)),
  skip: 0,
  anchor: undefined,
  firstBefore: expect.any(String),
});

describe('readPageSlice', () => {
  test('requests one page with as many rows as wanted', async () => {
    const list = createList(9);
    const slice = await read(list, 4);
    expect([slice.rows.map(({ row }) => row), slice.hasNextPage]).toEqual([
      named('r1', 'r2', 'r3', 'r4'),
      true,
    ]);
    expect(slice.rows.map(({ after }) => after)).toEqual([
      { pageToken: undefined, rowsBefore: 0, skip: 1, anchor: 'r1', next: 'r2' },
      { pageToken: undefined, rowsBefore: 0, skip: 2, anchor: 'r2', next: 'r3' },
      { pageToken: undefined, rowsBefore: 0, skip: 3, anchor: 'r3', next: 'r4' },
      nextPage('r4'),
    ]);
    expect(list.queries).toEqual(['4']);
  });

  test('requests the next page if the cursor is at the end of a page', async () => {
    const list = createList(9);
    const slice = await read(list, 4, placeAfter(await read(list, 4), 3));
    expect(names(slice)).toEqual(['r5', 'r6', 'r7', 'r8']);
    expect(slice.hasNextPage).toBe(true);
    expect(list.queries).toEqual(['4', '4@r4']);
  });

  test('requests the first page again if the cursor points into that page', async () => {
    const list = createList(9);
    const slice = await read(list, 4, placeAfter(await read(list, 4), 1));
    expect(names(slice)).toEqual(['r3', 'r4', 'r5', 'r6']);
    expect(list.queries).toEqual(['4', '6']);
  });

  test('requests a later page again if the cursor points into that page', async () => {
    const list = createList(9);
    const second = await read(list, 4, nextPage('r4'));
    const slice = await read(list, 3, placeAfter(second, 1));
    expect(placeAfter(second, 1)).toMatchObject({
      pageToken: 'r4',
      rowsBefore: 4,
      skip: 2,
      anchor: 'r6',
    });
    expect(names(slice)).toEqual(['r7', 'r8', 'r9']);
    expect(slice.hasNextPage).toBe(false);
    expect(list.queries).toEqual(['4@r4', '5@r4']);
  });

  test('requests two pages if one page cannot hold the skipped and the wanted rows', async () => {
    const list = createList(30);
    const slice = await read(list, 10, {
      pageToken: undefined,
      rowsBefore: 0,
      skip: 3,
      anchor: 'r3',
    });
    expect(names(slice)).toEqual(['r4', 'r5', 'r6', 'r7', 'r8', 'r9', 'r10', 'r11', 'r12', 'r13']);
    expect(list.queries).toEqual(['10', '3@r10']);
  });

  test('requests further pages while the REST service returns too few rows', async () => {
    const list = createList(9, (pageSize) => Math.min(pageSize, 2));
    const slice = await read(list, 5);
    expect(names(slice)).toEqual(['r1', 'r2', 'r3', 'r4', 'r5']);
    expect(slice.hasNextPage).toBe(true);
    expect(list.queries).toEqual(['5', '3@r2', '2@r4']);
  });

  test('returns the wanted rows if the REST service ignores the page size', async () => {
    const list = createList(9, () => 6);
    const first = await read(list, 2);
    expect(names(first)).toEqual(['r1', 'r2']);
    expect(first.hasNextPage).toBe(true);
    expect(placeAfter(first, 1)).toEqual({
      pageToken: undefined,
      rowsBefore: 0,
      skip: 2,
      anchor: 'r2',
      next: 'r3',
    });
    const second = await read(list, 5, placeAfter(first, 1));
    expect(names(second)).toEqual(['r3', 'r4', 'r5', 'r6', 'r7']);
    const third = await read(list, 5, placeAfter(second, 4));
    expect(names(third)).toEqual(['r8', 'r9']);
    expect(third.hasNextPage).toBe(false);
    expect(list.queries).toEqual(['2', '7', '2@r6', '6@r6']);
  });
});

describe('a slice', () => {
  test('has a next page for "first: 0" on a list with rows', async () => {
    const list = createList(3);
    expect(await read(list, 0)).toEqual({ rows: [], hasNextPage: true });
    expect(list.queries).toEqual(['1']);
  });

  test('has no next page for "first: 0" on an empty list', async () => {
    expect(await read(createList(0), 0)).toEqual({ rows: [], hasNextPage: false });
  });

  test('has no next page for "first: 0" at the end of a list', async () => {
    const list = createList(3);
    const end = placeAfter(await read(list, 3), 2);
    expect(end).toEqual({ pageToken: undefined, rowsBefore: 0, skip: 3, anchor: 'r3' });
    expect(await read(list, 0, end)).toEqual({ rows: [], hasNextPage: false });
    expect(await read(list, 5, end)).toEqual({ rows: [], hasNextPage: false });
  });

  test('has no next page if the list has fewer rows than wanted', async () => {
    const list = createList(3);
    const slice = await read(list, 10);
    expect(names(slice)).toEqual(['r1', 'r2', 'r3']);
    expect(slice.hasNextPage).toBe(false);
    expect(list.queries).toEqual(['10']);
  });

  test('has no next page if the list has exactly as many rows as wanted', async () => {
    const slice = await read(createList(3), 3);
    expect(names(slice)).toEqual(['r1', 'r2', 'r3']);
    expect(slice.hasNextPage).toBe(false);
  });

  test.each([1, 2, 3, 4, 7, 10])('continues exactly after the previous slice (first: %i)', async (first) => {
    const list = createList(23);
    const seen: string[] = [];
    let slice = await read(list, first);
    seen.push(...names(slice));
    while (slice.hasNextPage) {
      slice = await read(list, first, lastPlace(slice));
      seen.push(...names(slice));
    }
    expect(seen).toEqual(list.rows.map(({ name }) => name));
    expect(list.queries).toHaveLength(Math.ceil(23 / first));
  });

  test.each([1, 3, 4])(
    'returns the next rows after any cursor of a page of 5 rows (first: %i)',
    async (first) => {
      const list = createList(12);
      for (const start of [undefined, nextPage('r5')]) {
        const page = await read(list, 5, start);
        for (const { row, after } of page.rows) {
          const behind = list.rows.findIndex(({ name }) => name === row.name) + 1;
          const expected = list.rows.slice(behind, behind + first).map(({ name }) => name);
          expect(names(await read(list, first, after)), `after ${row.name}`).toEqual(expected);
        }
      }
    },
  );
});

describe('a cursor after a change of the list', () => {
  const afterR3: Position = { pageToken: undefined, rowsBefore: 0, skip: 3, anchor: 'r3', next: 'r4' };

  test('continues at the same row if rows were inserted above', async () => {
    const list = createList(9);
    list.rows.unshift(...named('new1', 'new2'));
    const slice = await read(list, 4, afterR3);
    expect(names(slice)).toEqual(['r4', 'r5', 'r6', 'r7']);
    // 3 to skip and 4 wanted are 7, but 5 of them come before the position.
    expect(list.queries).toEqual(['7', '2@r5']);
  });

  test('costs one more page of the maximum size if many rows were inserted above', async () => {
    const list = createList(9);
    list.rows.unshift(...named('new1', 'new2', 'new3', 'new4', 'new5'));
    const slice = await read(list, 2, afterR3);
    expect(names(slice)).toEqual(['r4', 'r5']);
    expect(list.queries).toEqual(['5', '10']);
  });

  test('continues at the same row if a row above was removed', async () => {
    const list = createList(9);
    list.rows.shift();
    expect(names(await read(list, 2, afterR3))).toEqual(['r4', 'r5']);
  });

  test.each([1, 3])('continues at the next row if %i rows before the cursor were removed', async (count) => {
    const list = createList(9);
    list.rows.splice(3 - count, count);
    expect(names(await read(list, 2, afterR3))).toEqual(['r4', 'r5']);
  });

  test('continues after the row before the cursor if the next row was removed', async () => {
    const list = createList(9);
    list.rows.splice(3, 1);
    list.rows.unshift(...named('new'));
    expect(names(await read(list, 2, afterR3))).toEqual(['r5', 'r6']);
  });

  test('continues after the row before the cursor if the next row moved down', async () => {
    const list = createList(9);
    list.rows.push(...list.rows.splice(3, 1));
    expect(names(await read(list, 3, afterR3))).toEqual(['r5', 'r6', 'r7']);
  });

  test('finds the remaining rows without `next` if rows before the cursor were removed', async () => {
    const list = createList(9);
    const { next: _next, ...old } = afterR3;
    list.rows.splice(0, 2);
    list.rows.splice(2, 5);
    expect(list.rows.map(({ name }) => name)).toEqual(['r3', 'r4']);
    expect(names(await read(list, 3, old))).toEqual(['r4']);
  });

  test('repeats rows if both rows around the cursor were removed', async () => {
    const list = createList(9);
    list.rows.splice(1, 3);
    expect(names(await read(list, 2, afterR3))).toEqual(['r1', 'r5']);
  });

  test.each([
    ['up', (rows: Row[]) => rows.unshift(...rows.splice(2, 1))],
    ['up one after the other', (rows: Row[]) => rows.splice(0, 3, ...named('r3', 'r2', 'r1'))],
    ['down', (rows: Row[]) => rows.push(...rows.splice(2, 1))],
    ['down one after the other', (rows: Row[]) => rows.push(...rows.splice(0, 3))],
  ])('continues at the next row if the rows before it moved %s', async (_where, move) => {
    const list = createList(9);
    move(list.rows as Row[]);
    expect(names(await read(list, 2, afterR3))).toEqual(['r4', 'r5']);
  });

  test('returns the remaining rows if all rows before the cursor were removed', async () => {
    const list = createList(0);
    expect(await read(list, 2, afterR3)).toEqual({ rows: [], hasNextPage: false });
    list.rows = named('r9');
    expect(names(await read(list, 2, { ...afterR3, skip: 1 }))).toEqual(['r9']);
  });
});

describe('invalid rows', () => {
  const broken = () => new InvalidResponseError('no record in row 2');

  test('keep their positions in the slice', async () => {
    const list = createList(3);
    list.rows[1] = broken();
    const slice = await read(list, 3);
    expect(slice.rows.map(({ row }) => row)).toEqual([{ name: 'r1' }, broken(), { name: 'r3' }]);
  });

  test('have a cursor that counts rows instead of naming a row', async () => {
    const list = createList(5);
    list.rows[1] = broken();
    const place = placeAfter(await read(list, 3), 1);
    expect(place).toEqual({ pageToken: undefined, rowsBefore: 0, skip: 2, anchor: undefined, next: 'r3' });
    expect(names(await read(list, 2, place))).toEqual(['r3', 'r4']);
  });
});

describe('rows that do not match a filter', () => {
  const isOdd = ({ name }: Row) => Number(name.slice(1)) % 2 === 1;

  test('are skipped with further pages of the maximum size', async () => {
    const list = createList(25);
    const slice = await read(list, 4, undefined, isOdd);
    expect(names(slice)).toEqual(['r1', 'r3', 'r5', 'r7']);
    expect(slice.hasNextPage).toBe(true);
    expect(list.queries).toEqual(['4', '10@r4']);
  });

  test('are skipped, and each match is returned once', async () => {
    const list = createList(25);
    const seen: string[] = [];
    let slice = await read(list, 3, undefined, isOdd);
    seen.push(...names(slice));
    while (slice.hasNextPage) {
      slice = await read(list, 3, lastPlace(slice), isOdd);
      seen.push(...names(slice));
    }
    expect(seen).toEqual(list.rows.map(({ name }) => name).filter((name) => isOdd({ name })));
  });

  test('cause no next page after the last match', async () => {
    const list = createList(4, () => 4);
    const slice = await read(list, 2, undefined, isOdd);
    expect(names(slice)).toEqual(['r1', 'r3']);
    expect(slice.hasNextPage).toBe(false);
  });

  test('fail the slice if no match comes within 20 pages after the first page', async () => {
    const list = createList(500);
    const find = (row: string) => read(list, 1, undefined, ({ name }) => name === row);
    expect(names(await find('r201'))).toEqual(['r201']);
    // The first page has two rows.
    expect(list.queries).toHaveLength(21);
    list.queries.length = 0;
    await expect(find('r500')).rejects.toThrow('The search did not reach the end of the list');
    expect(list.queries).toHaveLength(21);
  });
});

describe('the page tokens of a list', () => {
  test('continue the list after an empty page', async () => {
    const { pages, calls } = scripted((token) => {
      if (token === undefined) return { rows: named('a'), nextPageToken: 't1' };
      if (token === 't1') return { rows: [], nextPageToken: 't2' };
      return { rows: named('b'), nextPageToken: undefined };
    });
    const slice = await readPageSlice(pages, {}, 5, undefined);
    expect(names(slice)).toEqual(['a', 'b']);
    expect(slice.hasNextPage).toBe(false);
    expect(calls()).toBe(3);
  });

  test('are rejected if a token is repeated', async () => {
    const { pages, calls } = scripted((_token, call) => ({ rows: named(`a${call}`), nextPageToken: 't1' }));
    const slice = readPageSlice(pages, {}, 5, undefined);
    await expect(slice).rejects.toThrow(
      new InvalidResponseError(
        'The REST service repeated a page token, so the list has no end. Check the setting PAGE_TOKEN_PARAMETER.',
      ),
    );
    expect(calls()).toBe(2);
  });

  test('are rejected if a token leads to itself, even if the page has enough rows', async () => {
    const { pages } = scripted(() => ({ rows: named('a'), nextPageToken: 't1' }));
    const slice = readPageSlice(pages, {}, 1, nextPage('t1'));
    await expect(slice).rejects.toThrow(InvalidResponseError);
  });
});

test('a slice fails with the error of its page', async () => {
  const failure = new Error('GET /v1/orders returned 503');
  const { pages } = scripted(() => {
    throw failure;
  });
  const slice = readPageSlice(pages, {}, 1, undefined);
  await expect(slice).rejects.toBe(failure);
});
