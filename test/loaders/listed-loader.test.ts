import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createBatchHistory } from '../../src/loaders/batch-history.ts';
import { type ListedLoaderOptions, listedLoader } from '../../src/loaders/listed-loader.ts';
import { createCallers } from '../../src/rest/caller.ts';
import { InvalidResponseError, StatusError } from '../../src/rest/errors.ts';
import type { Page, PageQuery } from '../../src/rest/types.ts';
import { loadAll, named, type Row } from './list.ts';

const names = (count: number, from = 1) => Array.from({ length: count }, (_, index) => `r${from + index}`);
const callers = createCallers({ callsPerOperation: 16 });

/** The pages of a list as REST gives them; a token is the index at which to go on. */
function pagesOf(rows: Page<Row>['rows'], givenRows = (pageSize: number) => pageSize) {
  return async ({ pageSize, pageToken = '0' }: PageQuery): Promise<Page<Row>> => {
    const start = Number(pageToken);
    const end = start + givenRows(pageSize);
    return { rows: rows.slice(start, end), nextPageToken: end < rows.length ? String(end) : undefined };
  };
}

/** A loader of a new operation over records `r1`, `r2` and so on, and the calls that it makes. */
function start(options: Partial<ListedLoaderOptions<Row>> = {}) {
  const calls: string[] = [];
  const caller = callers.of('a', new AbortController().signal);
  const list = options.list ?? pagesOf(named(...names(2_000)));
  const get = options.get ?? (async (name) => ({ name }));
  const loader = listedLoader<Row>({
    maxPageSize: 1_000,
    caller,
    history: createBatchHistory(() => 0),
    isListUsed: true,
    ...options,
    get(name) {
      calls.push(name);
      return get(name);
    },
    list(query) {
      calls.push(
        query.pageToken === undefined ? `${query.pageSize}` : `${query.pageSize}@${query.pageToken}`,
      );
      return list(query);
    },
  });
  return { ...loader, calls, ledger: caller.ledger };
}

const notFound = (name: string) =>
  new StatusError({ method: 'GET', path: `/v1/${name}` }, 404, { fields: [] }, undefined);

describe('a batch', () => {
  test('of five is a page of the list', async () => {
    const loader = start();
    expect(await loadAll(loader, names(5))).toEqual(named(...names(5)));
    expect([loader.calls, loader.ledger.savedByList]).toEqual([['10'], 5]);
  });

  test('of four is four gets', async () => {
    const loader = start();
    expect(await loadAll(loader, names(4))).toEqual(named(...names(4)));
    expect([loader.calls, loader.ledger.savedByList]).toEqual([names(4), 0]);
  });

  test('is gets where lists are not to be used', async () => {
    const loader = start({ isListUsed: false });
    await loadAll(loader, names(100));
    expect([loader.calls, loader.ledger.savedByList]).toEqual([names(100), 0]);
  });

  test('asks by id for what the page has not', async () => {
    const loader = start();
    const wanted = [...names(17), 'r100', 'r200', 'r2000'];
    expect(await loadAll(loader, wanted)).toEqual(named(...wanted));
    expect([loader.calls, loader.ledger.savedByList]).toEqual([['40', 'r100', 'r200', 'r2000'], 17]);
  });

  test('of a thousand goes from page to page', async () => {
    const loader = start({ maxPageSize: 250 });
    await loadAll(loader, names(900));
    expect(loader.calls).toEqual(['250', '250@250', '250@500', '250@750']);
  });

  test('keeps what came along', async () => {
    const loader = start();
    await loadAll(loader, names(5));
    expect(await loader.load('r10')).toEqual({ name: 'r10' });
    expect(loader.calls).toEqual(['10']);
  });

  test('has null for what is nowhere, and an error for its own get alone', async () => {
    const failure = new InvalidResponseError('broken');
    const get = (name: string) => Promise.reject(name === 'x' ? notFound(name) : failure);
    const loader = start({ get });
    expect(await loadAll(loader, [...names(10), 'x', 'y'])).toEqual([...named(...names(10)), null, failure]);
    expect(loader.calls).toEqual(['24', 'x', 'y']);
  });
});

describe('a list that is not what it should be harms no batch:', () => {
  const five = [...names(5)];
  const answersOf = named(...five);
  const list = (list: ListedLoaderOptions<Row>['list']) => ({ list });
  const failing = async () => {
    throw notFound('list');
  };

  test.each<[string, Partial<ListedLoaderOptions<Row>>, string[], string[]]>([
    ['it fails', list(failing), five, ['10', ...five]],
    ['it is empty', list(pagesOf([])), five, ['10', ...five]],
    ['it is empty, and goes on', list(async () => ({ rows: [], nextPageToken: 't' })), five, ['10', ...five]],
    [
      'a row is broken',
      list(pagesOf([...named('r1', 'r2', 'r4', 'r5'), new InvalidResponseError('r3')])),
      five,
      ['10', 'r3'],
    ],
    ['it has a row twice', list(pagesOf(named('r1', 'r1', ...five))), five, ['10']],
    [
      'it gives fewer rows than it was asked for',
      list(pagesOf(named(...names(2_000)), () => 20)),
      names(60),
      ['120', '@20', ...names(20, 41)],
    ],
    [
      'it gives a few rows only',
      list(pagesOf(named(...names(2_000)), () => 3)),
      names(60),
      ['120', ...names(57, 4)],
    ],
    [
      'it repeats a page token',
      list(async () => ({ rows: named(...names(40)), nextPageToken: 't' })),
      names(60),
      ['120', '@t', ...names(20, 41)],
    ],
  ])('%s', async (_what, options, wanted, calls) => {
    const loader = start(options);
    expect(await loadAll(loader, wanted)).toEqual(wanted === five ? answersOf : named(...wanted));
    // How many rows are asked for next depends on how long the first page took.
    expect(loader.calls.map((call) => call.replace(/^\d+@/, '@'))).toEqual(calls);
  });

  test('whatever it gives, every name is answered for at most 1.2 calls each', async () => {
    const row = fc.oneof(
      { weight: 9, arbitrary: fc.integer({ min: 1, max: 60 }).map((index) => ({ name: `r${index}` })) },
      { weight: 1, arbitrary: fc.constant(new InvalidResponseError('broken')) },
    );
    const page = fc.option(
      fc.record({
        rows: fc.array(row, { maxLength: 120 }),
        nextPageToken: fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined }),
      }),
    );
    const batches = fc.array(fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { minLength: 1 }), {
      minLength: 1,
    });
    await fc.assert(
      fc.asyncProperty(batches, fc.array(page, { maxLength: 20 }), async (operations, answers) => {
        const history = createBatchHistory();
        const list = answers.values();
        for (const ids of operations) {
          const wanted = ids.map((id) => `r${id}`);
          const loader = start({
            history,
            async list() {
              const answer = list.next().value;
              if (!answer) throw notFound('list');
              return answer;
            },
          });
          expect(await loadAll(loader, wanted)).toEqual(named(...wanted));
          expect(loader.calls.length).toBeLessThanOrEqual(1.2 * wanted.length);
        }
      }),
    );
  });
});

describe('what earlier batches have shown', () => {
  test('keeps the next from a list that had nothing, until it is time to look again', async () => {
    const history = createBatchHistory(() => 0);
    const calls = async (wanted: string[]) => {
      const loader = start({ history });
      await loadAll(loader, wanted);
      return loader.calls;
    };
    const old = names(100, 1_900);
    expect(await calls(old)).toEqual(['200', ...old]);
    for (let batch = 1; batch < 20; batch += 1) expect(await calls(old)).toEqual(old);
    expect(await calls(names(100))).toEqual(['800']);
  });

  test('keeps them from rows that lack what gets have, even the batch that finds out', async () => {
    const history = createBatchHistory(() => 0);
    const whole = { get: async (name: string) => ({ name, cost: 1 }), history };
    const wholeRows = names(20).map((name) => ({ name, cost: 1 }));
    expect(await start(whole).load('r7')).toEqual({ name: 'r7', cost: 1 });
    const loader = start(whole);
    expect(await loadAll(loader, names(20))).toEqual(wholeRows);
    expect(loader.calls).toEqual(['40', ...names(20)]);
    expect(loader.ledger.savedByList).toBe(0);
    const later = start(whole);
    later.prime('r1', { name: 'r1' });
    expect(await loadAll(later, names(20))).toEqual(wholeRows);
    expect(later.calls).toEqual(names(20));
  });

  test('is not known of rows before one of them is got: then the batch is asked for by id once more', async () => {
    const history = createBatchHistory(() => 0);
    await loadAll(start({ history }), names(20));
    const loader = start({
      history,
      get: async (name) => ({ name, cost: 1 }),
      list: pagesOf(named(...names(100).filter((name) => name !== 'r2'))),
    });
    expect(await loadAll(loader, names(20))).toEqual(names(20).map((name) => ({ name, cost: 1 })));
    expect(loader.calls.toSorted()).toEqual(['40', ...names(20)].sort());
  });
});

describe('a page that was asked for ahead', () => {
  const learned: [number, readonly number[]][] = [];
  const announcement = (wanted: string[]) => ({
    names: new Set(wanted),
    onFound: (asked: number, indices: readonly number[]) => void learned.push([asked, indices]),
  });

  test('answers what is announced, and nobody else waits for it', async () => {
    learned.length = 0;
    const loader = start();
    loader.readAhead(30);
    expect(await loader.load('r1')).toEqual({ name: 'r1' });
    loader.announce(announcement(['r2', 'r3', 'r90']));
    expect(await loadAll(loader, ['r3', 'r2', 'r90'])).toEqual(named('r3', 'r2', 'r90'));
    expect(loader.calls).toEqual(['30', 'r1', 'r90']);
    expect(learned).toEqual([[3, [2, 1]]]);
    expect(loader.ledger.savedByList).toBe(2);
  });

  test('is one, however often it is wanted', async () => {
    const loader = start();
    loader.readAhead(30);
    loader.readAhead(40);
    expect(loader.calls).toEqual(['30']);
  });

  test.each([
    ['fails', () => Promise.reject(notFound('list'))],
    ['is late', () => new Promise<never>(() => {})],
  ])('and %s leaves every name to its get', async (_what, list) => {
    learned.length = 0;
    const loader = start({ list });
    loader.readAhead(30);
    loader.announce(announcement(names(10)));
    expect(await loadAll(loader, names(10))).toEqual(named(...names(10)));
    expect(loader.calls).toEqual(['30', ...names(10)]);
    expect(learned).toEqual([[10, []]]);
  });

  test.each<[string, (loader: ReturnType<typeof start>) => void]>([
    ['a record is written', (loader) => loader.replace('r50', { name: 'r50' })],
    ['a record is cleared', (loader) => loader.clear('r50')],
    ['all are cleared', (loader) => loader.clearAll()],
  ])('is no answer once %s', async (_what, write) => {
    const loader = start();
    loader.readAhead(30);
    loader.announce(announcement(names(3)));
    write(loader);
    await loadAll(loader, names(3));
    expect(loader.calls).toEqual(['30', ...names(3)]);
  });
});

test('what came along with a page that was under way during a write is not kept', async () => {
  const loader = start({
    async list(query) {
      loader.clear('r6');
      return pagesOf(named(...names(2_000)))(query);
    },
  });
  await loadAll(loader, names(5));
  await loader.load('r6');
  expect(loader.calls).toEqual(['10', 'r6']);
});
