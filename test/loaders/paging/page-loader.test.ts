import { describe, expect, test } from 'vitest';
import { PageLoader, primingPageLoader, queryKey } from '../../../src/loaders/paging/page-loader.ts';
import { allRecords, PageWalk, pagesFrom } from '../../../src/loaders/paging/page-walk.ts';
import { recordLoader } from '../../../src/loaders/record-loader.ts';
import { wholeListLoader } from '../../../src/loaders/reference/whole-list-loader.ts';
import type { OrderQuery, PageQuery } from '../../../src/rest/api-types.ts';
import { InvalidResponseError, StatusError } from '../../../src/rest/errors.ts';
import { createList, loadAll, named, type Row, scripted } from '../list-batch/list.ts';

describe('a page loader', () => {
  test('makes one call for equal queries, regardless of the field order', async () => {
    const queries: OrderQuery[] = [];
    const loader = new PageLoader(async (query: OrderQuery) => {
      queries.push(query);
      return { rows: named('a'), nextPageToken: undefined };
    }, 10);
    await Promise.all([
      loader.load({ pageSize: 1, search: 'Ana' }),
      loader.load({ search: 'Ana', pageSize: 1, pageToken: undefined }),
      loader.load({ pageSize: 1, search: 'Eva' }),
    ]);
    await loader.load({ pageSize: 1, search: 'Ana' });
    expect(queries).toEqual([
      { pageSize: 1, search: 'Ana' },
      { pageSize: 1, search: 'Eva' },
    ]);
  });

  test('passes valid rows to the record loader', async () => {
    const asked: string[] = [];
    const byName = recordLoader(async (name): Promise<Row> => {
      asked.push(name);
      return { name };
    });
    const broken = new InvalidResponseError('no record in row 1');
    const loader = primingPageLoader(
      async () => ({ rows: [...named('a'), broken, ...named('b')], nextPageToken: undefined }),
      10,
      byName,
    );
    await loader.load({ pageSize: 3 });
    expect(await loadAll(byName, ['a', 'b', 'c', 'InvalidResponseError'])).toEqual(
      named('a', 'b', 'c', 'InvalidResponseError'),
    );
    expect(asked).toEqual(['c', 'InvalidResponseError']);
  });

  test('does not replace newer records in the record loader', async () => {
    const asked: string[] = [];
    const byName = recordLoader(async (name): Promise<Row> => {
      asked.push(name);
      return { name };
    });
    const [first, second] = [named('a', 'b', 'c', 'd'), named('a', 'e')];
    const pages = [first, second].values();
    const loader = primingPageLoader(
      async () => ({ rows: pages.next().value ?? [], nextPageToken: undefined }),
      10,
      byName,
    );
    const written = { name: 'b' };
    byName.replace('b', written);
    const loaded = await byName.load('c');
    await loader.load({ pageSize: 4 });
    await loader.load({ pageSize: 2 });
    byName.clear('d');
    expect(byName.find('a')).toBe(first[0]);
    expect(byName.find('b')).toBe(written);
    expect(await byName.find('c')).toBe(loaded);
    expect(await byName.find('d')).toEqual({ name: 'd' });
    expect(byName.find('e')).toBe(second[1]);
    expect(asked).toEqual(['c', 'd']);
    byName.clearAll();
    expect(await byName.find('e')).toEqual({ name: 'e' });
    expect(asked).toEqual(['c', 'd', 'e']);
  });

  test('returns the pages of other queries even if one query fails', async () => {
    const loader = new PageLoader(async ({ pageSize }) => {
      if (pageSize === 1) throw new Error('no page of 1');
      return { rows: named('a'), nextPageToken: undefined };
    }, 10);
    const [one, two] = await Promise.allSettled([loader.load({ pageSize: 1 }), loader.load({ pageSize: 2 })]);
    expect(one).toMatchObject({ status: 'rejected', reason: { message: 'no page of 1' } });
    expect(two).toMatchObject({ status: 'fulfilled' });
  });

  test('passes no rows to the record loader if a record was cleared during the call', async () => {
    const gets: string[] = [];
    const byName = recordLoader(async (name: string) => {
      gets.push(name);
      return { name };
    });
    const list = async () => {
      byName.clear('a');
      return { rows: named('a'), nextPageToken: undefined };
    };
    const loader = primingPageLoader(list, 10, byName);
    expect(await loader.load({ pageSize: 1 })).toEqual({ rows: named('a'), nextPageToken: undefined });
    await byName.load('a');
    expect(gets).toEqual(['a']);
  });
});

describe('the iteration through a list', () => {
  test('reads all pages to the end', async () => {
    const list = createList(7);
    const sizes: number[] = [];
    for await (const { rows } of pagesFrom(list.pages(3), {})) sizes.push(rows.length);
    expect(sizes).toEqual([3, 3, 1]);
    expect(list.queries).toEqual(['3', '3@r3', '3@r6']);
  });

  test('collects every valid record', async () => {
    const list = createList(5);
    list.rows[3] = new InvalidResponseError('no record in row 3');
    expect(await allRecords(list.pages(), {})).toEqual(named('r1', 'r2', 'r3', 'r5'));
  });

  test('continues after an empty page that has a page token', async () => {
    const { pages } = scripted((token) =>
      token === undefined ? { rows: [], nextPageToken: 't' } : { rows: named('a'), nextPageToken: undefined },
    );
    expect(await allRecords(pages, {})).toEqual(named('a'));
  });

  test.each([
    ['to itself', ['t1', 't1']],
    ['to an earlier page', ['t1', 't2', 't3', 't1']],
  ])('rejects a page token that leads %s', async (_where, tokens) => {
    const { pages, calls } = scripted((_token, call) => ({ rows: [], nextPageToken: tokens[call - 1] }));
    await expect(allRecords(pages, {})).rejects.toThrow(
      new InvalidResponseError(
        'The REST service repeated a page token, so the list has no end. Check the setting PAGE_TOKEN_PARAMETER.',
      ),
    );
    expect(calls()).toBe(tokens.length);
  });

  test('rejects a page token that leads back to the start', async () => {
    const { pages } = scripted(() => ({ rows: [], nextPageToken: 't' }));
    const start = { pageToken: 't', rowsBefore: 0, skip: 0, anchor: undefined };
    await expect(new PageWalk(pages, {}, start).next(1)).rejects.toThrow(InvalidResponseError);
  });
});

describe('recordLoader', () => {
  const notFound = new StatusError({ method: 'GET', path: '/v1/orders/2' }, 404, { fields: [] });
  const gone = new StatusError({ method: 'GET', path: '/v1/orders/3' }, 410, { fields: [] });
  const refused = new StatusError({ method: 'GET', path: '/v1/orders/4' }, 403, { fields: [] });
  const failures: Record<string, Error> = { two: notFound, three: gone, four: refused };

  test('makes one call per distinct name', async () => {
    const asked: string[] = [];
    const loader = recordLoader(async (name): Promise<Row> => {
      asked.push(name);
      const failure = failures[name];
      if (failure !== undefined) throw failure;
      return { name };
    });
    const names = ['one', 'two', 'one', 'three', 'four', 'five'];
    const records = await loadAll(loader, names);
    expect(records).toEqual([{ name: 'one' }, null, { name: 'one' }, null, refused, { name: 'five' }]);
    expect(asked).toEqual(['one', 'two', 'three', 'four', 'five']);
    await expect(loader.load('four')).rejects.toBe(refused);
    expect(asked).toHaveLength(5);
  });
});

describe('wholeListLoader', () => {
  const over = (pages: PageLoader<Row, PageQuery>) =>
    wholeListLoader(Object.assign(pages, { isCacheUsed: false, forgetEarlier: () => false }));

  test('reads the list once for all names', async () => {
    const { pages, calls } = scripted(() => ({ rows: named('a', 'b'), nextPageToken: undefined }));
    const loader = over(pages);
    expect(await loadAll(loader, ['b', 'c', 'a', 'b'])).toEqual([
      { name: 'b' },
      null,
      { name: 'a' },
      { name: 'b' },
    ]);
    expect(await loader.load('d')).toBeNull();
    expect(await loader.load('__proto__')).toBeNull();
    expect(calls()).toBe(1);
  });

  test('rejects every name with the error of the list', async () => {
    const failure = new Error('GET /v1/origins returned 503');
    const { pages } = scripted(() => {
      throw failure;
    });
    expect(await loadAll(over(pages), ['a', 'b'])).toEqual([failure, failure]);
  });
});

test.each([
  [{}, '[]'],
  [{ b: 1, a: undefined }, '[["b",1]]'],
  [{ b: 1, a: ['x'] }, '[["a",["x"]],["b",1]]'],
])('queryKey of %j does not depend on the order of the fields', (query, key) => {
  expect(queryKey(query)).toBe(key);
  expect(queryKey(Object.fromEntries(Object.entries(query).reverse()))).toBe(queryKey(query));
});
