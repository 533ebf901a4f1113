import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createBatchHistory } from '../../src/loaders/batch-history.ts';
import { type ListedLoaderOptions, listedLoader } from '../../src/loaders/listed-loader.ts';
import { nobody } from '../../src/loaders/loading-observer.ts';
import { createWhereabouts } from '../../src/loaders/whereabouts.ts';
import type { Caller } from '../../src/rest/caller.ts';
import { createCallers } from '../../src/rest/caller.ts';
import type { Cancellation } from '../../src/rest/cancellation.ts';
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

/** What is known of a tenant, a row of whose list has just been held against its get. */
function checkedHistory() {
  const history = createBatchHistory(undefined, () => 0);
  history.rowCheck.begin(['r1']);
  history.rowCheck.compare([[{}, {}]]);
  return history;
}

/** Tells of a call as the client does: that it has left, and in the end what has come of it. */
async function toldOf<Answer>(caller: Caller, call: () => Promise<Answer>): Promise<Answer> {
  caller.left();
  const startedAt = performance.now();
  const answer = await call();
  caller.heard({
    method: 'GET',
    route: '/v1/rows',
    status: 200,
    startMs: 0,
    durationMs: performance.now() - startedAt,
    bytes: 0,
    retries: 0,
    isShared: false,
    askedBy: [],
  });
  return answer;
}

/** A loader of a new operation over records `r1`, `r2` and so on, and the calls that it makes. */
function start(options: Partial<ListedLoaderOptions<Row>> = {}) {
  const calls: string[] = [];
  const caller = options.caller ?? callers.of('a', new AbortController().signal);
  const list = options.list ?? pagesOf(named(...names(2_000)));
  const get = options.get ?? (async (name) => ({ name }));
  const loader = listedLoader<Row>({
    kind: 'orders',
    maxPageSize: 1_000,
    history: checkedHistory(),
    isListUsed: true,
    observer: nobody,
    ...options,
    caller,
    get(name, caller) {
      calls.push(name);
      return toldOf(caller, () => get(name, caller));
    },
    list(query, caller) {
      calls.push(
        query.pageToken === undefined ? `${query.pageSize}` : `${query.pageSize}@${query.pageToken}`,
      );
      return toldOf(caller, () => list(query, caller));
    },
  });
  return Object.assign(loader, { calls, ledger: caller.ledger });
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
    const history = checkedHistory();
    const calls = async (wanted: string[]) => {
      const loader = start({ history, list: async () => ({ rows: [], nextPageToken: undefined }) });
      await loadAll(loader, wanted);
      return loader.calls;
    };
    expect(await calls(names(50))).toEqual(['100', ...names(50)]);
    for (let batch = 1; batch < 20; batch += 1) expect(await calls(names(50))).toEqual(names(50));
    expect(await calls(names(50))).toEqual(['800', ...names(50)]);
  });
});

describe('ids that no page of a list has', () => {
  const list = pagesOf(named(...names(10_000)));
  const absent = (count: number) => names(count, 10_001);

  test('are looked for deeper where pages are quick, and then no more', async () => {
    const history = checkedHistory();
    const calls: string[][] = [];
    for (let batch = 0; batch < 5; batch += 1) {
      const loader = start({ history, list });
      await loadAll(loader, absent(50));
      calls.push(loader.calls.filter((call) => !absent(50).includes(call)));
      for (let call = 0; call < 100; call += 1) history.times.sawGet(1_000);
    }
    expect(calls).toEqual([['100'], ['1000'], ['1000'], [], []]);
  });

  test('cost at most four pages until there is a trial, however long calls take', async () => {
    const anyMs = fc.double({ min: 0.01, max: 10_000, noNaN: true });
    const anyTimes = fc.record({
      getMs: anyMs,
      pageMs: anyMs,
      rowMs: fc.double({ min: 0, max: 10, noNaN: true }),
    });
    const batchesBeforeTrial = fc.array(anyTimes, { minLength: 19, maxLength: 19 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(5, 20, 200), batchesBeforeTrial, async (count, batches) => {
        const history = checkedHistory();
        let pages = 0;
        for (const { getMs, pageMs, rowMs } of batches) {
          const loader = start({ history, list });
          await loadAll(loader, absent(count));
          pages += loader.calls.length - count;
          for (let call = 0; call < 50; call += 1) {
            history.times.sawGet(getMs);
            for (const rows of [10, 1_000]) history.times.sawPage(rows, pageMs + rowMs * rows);
          }
        }
        expect(pages).toBeGreaterThan(0);
        expect(pages).toBeLessThanOrEqual(4);
      }),
      { numRuns: 30 },
    );
  });
});

describe('a row of the first page is held against its get', () => {
  const unchecked = () => createBatchHistory(undefined, () => 0);

  test('which is asked for at the same time', async () => {
    const history = unchecked();
    const loader = start({ history });
    expect(await loadAll(loader, names(20))).toEqual(named(...names(20)));
    expect([loader.calls, loader.ledger.savedByList]).toEqual([['40', 'r11'], 19]);
    // Pages take as long as gets, whatever this machine has been busy with so far.
    for (let seen = 0; seen < 100; seen += 1) {
      history.times.sawPage(40, 1);
      history.times.sawGet(1);
    }
    const later = start({ history });
    await loadAll(later, names(20));
    expect(later.calls).toEqual([expect.stringMatching(/^\d+$/)]);
  });

  test('which is another one where the first is not on the page', async () => {
    const rows = named(...names(10), ...names(100, 12));
    const loader = start({ history: unchecked(), list: pagesOf(rows) });
    await loadAll(loader, names(20));
    expect(loader.calls).toEqual(['40', 'r11', 'r10']);
  });

  test('and where it lacks something, every record is answered by its get, from then on without a page', async () => {
    const history = unchecked();
    const get = async (name: string) => ({ name, cost: 1 });
    const whole = names(20).map((name) => ({ name, cost: 1 }));
    const loader = start({ history, get });
    expect(await loadAll(loader, names(20))).toEqual(whole);
    expect(loader.calls).toEqual(['40', 'r11', ...names(20).filter((name) => name !== 'r11')]);
    expect(loader.ledger.savedByList).toBe(0);
    const later = start({ history, get });
    later.prime(named('r1'));
    expect(await loadAll(later, names(20))).toEqual(whole);
    expect(later.calls).toEqual(names(20));
  });

  test('and where it lacks something, a record is null whose get says that it is gone, and fails where its get does', async () => {
    const failure = new InvalidResponseError('broken');
    const get = async (name: string) => {
      if (name === 'r5') throw notFound(name);
      if (name === 'r6') throw failure;
      return { name, cost: 1 };
    };
    const loader = start({ history: unchecked(), get });
    const whole = names(20).map((name) => ({ name, cost: 1 }));
    expect(await loadAll(loader, names(20))).toEqual([
      ...whole.slice(0, 4),
      null,
      failure,
      ...whole.slice(6),
    ]);
  });

  test('and where it alone differs, it has changed in between', async () => {
    const history = unchecked();
    const get = async (name: string) => (name === 'r11' ? { name, cost: 1 } : { name });
    await loadAll(start({ history, get }), names(20));
    const later = start({ history, get });
    await loadAll(later, names(20));
    expect(later.calls).toHaveLength(1);
  });

  test.each<[string, () => Promise<Row>]>([
    ['fails', () => Promise.reject(notFound('r11'))],
    ['never comes', () => new Promise(() => {})],
  ])('and where that %s, nobody waits for it for long', async (_what, answer) => {
    const history = unchecked();
    history.times.sawGet(1);
    const get = (name: string) => (name === 'r11' ? answer() : Promise.resolve({ name }));
    const calls: string[][] = [];
    for (let batch = 0; batch < 4; batch += 1) {
      const loader = start({ history, get });
      expect(await loadAll(loader, names(20))).toEqual(named(...names(20)));
      calls.push(loader.calls.slice(1));
    }
    // Each time another one is tried.
    expect(calls).toEqual([['r11'], ['r12'], [], []]);
  });
});

describe('a list that hangs', () => {
  const known = () => {
    const history = checkedHistory();
    history.times.sawGet(1);
    return history;
  };

  test('is given up once a get is answered that was asked for after it, and after the second time left alone', async () => {
    const signals: Cancellation[] = [];
    const list: ListedLoaderOptions<Row>['list'] = (_query, { signal }) => {
      signals.push(signal);
      return new Promise(() => {});
    };
    const history = known();
    for (const page of [['20'], ['20'], []]) {
      const loader = start({ history, list });
      expect(await loadAll(loader, names(10))).toEqual(named(...names(10)));
      expect(loader.calls).toEqual([...page, ...names(10)]);
    }
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });

  test('is given up where it keeps the only turn of the operation', async () => {
    const caller = createCallers({ callsPerOperation: 1 }).of('a', new AbortController().signal);
    const call = { method: 'GET', path: '/v1/rows' } as const;
    const inSlot = async <Answer>(make: () => Promise<Answer>, signal: Cancellation): Promise<Answer> => {
      const slot = await caller.queue.slotFor(call, signal);
      try {
        return await make();
      } finally {
        slot.release();
      }
    };
    const loader = listedLoader<Row>({
      kind: 'orders',
      maxPageSize: 1_000,
      caller,
      history: known(),
      isListUsed: true,
      observer: nobody,
      list: (_query, { signal, left }) =>
        inSlot(() => {
          left();
          return new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(new Error('given up')));
          });
        }, signal),
      get: (name, { left, signal }) =>
        inSlot(async () => {
          left();
          return { name };
        }, signal),
    });
    expect(await loadAll(loader, names(10))).toEqual(named(...names(10)));
  });

  test('is waited for where a get is as slow', async () => {
    const pages = pagesOf(named(...names(100)));
    const answered = Promise.withResolvers<void>();
    const loader = start({
      history: known(),
      list: async (query) => {
        await answered.promise;
        return pages(query);
      },
      get: async (name) => {
        // The whole service is slow, and answers what it was asked first.
        answered.resolve();
        await new Promise((resolve) => setTimeout(resolve, 20));
        return { name };
      },
    });
    expect(await loadAll(loader, names(10))).toEqual(named(...names(10)));
    expect(loader.calls).toEqual(['20', 'r1']);
  });

  test('is waited for as many times longer as a get takes longer than it did', async () => {
    const pages = pagesOf(named(...names(100)));
    const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
    const loader = start({
      history: known(),
      list: async (query) => {
        await pause(200);
        return pages(query);
      },
      get: async (name) => {
        await pause(20);
        return { name };
      },
    });
    expect(await loadAll(loader, names(10))).toEqual(named(...names(10)));
    expect(loader.calls).toEqual(['20', 'r1']);
  });

  test('is not late as long as it waits for its turn', async () => {
    const pages = pagesOf(named(...names(100)));
    const turn = Promise.withResolvers<void>();
    const caller = callers.of('a', new AbortController().signal);
    setTimeout(turn.resolve, 150);
    const loader = listedLoader<Row>({
      kind: 'orders',
      maxPageSize: 1_000,
      caller,
      history: known(),
      isListUsed: true,
      observer: nobody,
      get: () => Promise.reject(new Error('expected no get')),
      async list(query, caller) {
        await turn.promise;
        return toldOf(caller, () => pages(query));
      },
    });
    expect(await loadAll(loader, names(10))).toEqual(named(...names(10)));
  });
});

describe('a list that answers no call of this caller now ends the batch:', () => {
  test.each([401, 429])('%i', async (status) => {
    const refusal = new StatusError({ method: 'GET', path: '/v1/list' }, status, { fields: [] }, undefined);
    const loader = start({ list: () => Promise.reject(refusal) });
    expect(await loadAll(loader, names(10))).toEqual(names(10).map(() => refusal));
    expect(loader.calls).toEqual(['20']);
  });
});

describe('a page that was asked for ahead', () => {
  const announcement = (wanted: string[]) => ({
    names: new Set(wanted),
    rowsBefore: 0,
    whereabouts: createWhereabouts(() => 0),
  });

  test('answers what is announced, and nobody else waits for it', async () => {
    const loader = start();
    loader.readAhead(30);
    expect(await loader.load('r1')).toEqual({ name: 'r1' });
    const announced = announcement(['r2', 'r3', 'r90']);
    loader.announce(announced);
    expect(await loadAll(loader, ['r3', 'r2', 'r90'])).toEqual(named('r3', 'r2', 'r90'));
    expect(loader.calls).toEqual(['30', 'r1', 'r90']);
    expect(announced.whereabouts.isKnown).toBe(true);
    expect(loader.ledger.savedByList).toBe(2);
  });

  test('is one, however often it is wanted', async () => {
    const loader = start();
    loader.readAhead(30);
    loader.readAhead(40);
    expect(loader.calls).toEqual(['30']);
  });

  test.each([
    ['fails is followed by the page that would have been asked for', 20, ['30', '40']],
    ['fails is followed by gets where there are few', 10, ['30', ...names(10)]],
  ])('and %s', async (_what, count, calls) => {
    const answers = [Promise.reject(notFound('list'))];
    const pages = pagesOf(named(...names(100)));
    const loader = start({ list: (query) => answers.pop() ?? pages(query) });
    loader.readAhead(30);
    loader.announce(announcement(names(count)));
    expect(await loadAll(loader, names(count))).toEqual(named(...names(count)));
    expect(loader.calls).toEqual(calls);
  });

  test('and is refused as every call would be fails nothing that was asked for', async () => {
    const answers = [Promise.reject(new StatusError({ method: 'GET', path: '/v1/l' }, 429, { fields: [] }))];
    const pages = pagesOf(named(...names(100)));
    const loader = start({ list: (query) => answers.pop() ?? pages(query) });
    loader.readAhead(30);
    loader.announce(announcement(names(20)));
    expect(await loadAll(loader, names(20))).toEqual(named(...names(20)));
    expect(loader.calls).toEqual(['30', '40']);
  });

  test.each<[string, (loader: ReturnType<typeof start>) => void]>([
    ['a record is written', (loader) => loader.replace('r50', { name: 'r50' })],
    ['a record is cleared', (loader) => loader.clear('r50')],
    ['all are cleared', (loader) => loader.clearAll()],
  ])('is no answer once %s, and given up', async (_what, write) => {
    const signals: Cancellation[] = [];
    const pages = pagesOf(named(...names(2_000)));
    const loader = start({
      list: (query, { signal }) => {
        signals.push(signal);
        return pages(query);
      },
    });
    loader.readAhead(30);
    loader.announce(announcement(names(3)));
    write(loader);
    await loadAll(loader, names(3));
    expect(loader.calls).toEqual(['30', ...names(3)]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });
});

test('no page is asked for where it might take the read that the last name needs', async () => {
  const history = checkedHistory();
  const limited = (readsPerOperation: number) =>
    createCallers({ callsPerOperation: 16, readsPerOperation }).of('a', new AbortController().signal);
  history.whereabouts.saw({ asked: 10, indices: [0, 1, 2, 3, 4], rowsRead: Number.POSITIVE_INFINITY });
  const loader = start({ history, caller: limited(10) });
  await loadAll(loader, names(10));
  expect(loader.calls).toEqual(names(10));
  const richer = start({ history, caller: limited(11) });
  await loadAll(richer, names(10));
  expect(richer.calls[0]).toMatch(/^\d+$/);
  const sure = start({ caller: limited(10) });
  await loadAll(sure, names(10));
  expect(sure.calls).toEqual(['20']);
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
