import fc from 'fast-check';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import {
  ListBatchLoader,
  type ListBatchLoaderOptions,
} from '../../../src/loaders/list-batch/list-batch-loader.ts';
import { ListState, SharedListState } from '../../../src/loaders/list-batch/list-state.ts';
import type { Page, PageQuery } from '../../../src/rest/api-types.ts';
import {
  abortedError,
  CircuitOpenError,
  DeadlineError,
  InvalidResponseError,
  ReadBudgetExceededError,
  ResponseTooLargeError,
  StatusError,
  UnavailableError,
} from '../../../src/rest/errors.ts';
import { createCallContexts } from '../../fixtures/call-contexts.ts';
import { loadAll, named, type Row } from './list.ts';

const names = (count: number, from = 1) => Array.from({ length: count }, (_, index) => `r${from + index}`);
const callContexts = createCallContexts({});

let nowMs = 0;
beforeEach(() => {
  nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
});

/** The pages of a list as REST gives them; a token is the index at which to go on. */
function pagesOf(rows: Page<Row>['rows'], givenRows = (pageSize: number) => pageSize) {
  return async ({ pageSize, pageToken = '0' }: PageQuery): Promise<Page<Row>> => {
    const start = Number(pageToken);
    const end = start + givenRows(pageSize);
    return { rows: rows.slice(start, end), nextPageToken: end < rows.length ? String(end) : undefined };
  };
}

/** The state of all tokens in a process that has just compared a row of the list. */
function comparedState(): SharedListState {
  const shared = new SharedListState();
  void shared.compare({}, Promise.resolve({}));
  return shared;
}

/** A loader of a new operation over records `r1`, `r2` and so on, and the calls that it makes. */
function start(options: Partial<ListBatchLoaderOptions<Row>> = {}) {
  const calls: string[] = [];
  const callContext = options.callContext ?? callContexts.of('a', new AbortController().signal);
  const list = options.list ?? pagesOf(named(...names(2_000)));
  const get = options.get ?? (async (name) => ({ name }));
  const loader = new ListBatchLoader<Row>({
    kind: 'orders',
    isRowComplete: () => true,
    maxPageSize: 1_000,
    state: new ListState(comparedState()),
    isListUsed: true,
    observer: undefined,
    ...options,
    callContext,
    get(name, callContext) {
      calls.push(name);
      return get(name, callContext);
    },
    list(query, callContext) {
      calls.push(
        query.pageToken === undefined ? `${query.pageSize}` : `${query.pageSize}@${query.pageToken}`,
      );
      return list(query, callContext);
    },
  });
  return Object.assign(loader, { calls, callLog: callContext.callLog });
}

const call = { method: 'GET', path: '/v1/list' } as const;
const status = (code: number) => new StatusError(call, code, { fields: [] }, undefined);
const failing = (error: Error) => () => Promise.reject(error);

describe('a batch of ids', () => {
  test('reads a page of the list for five ids', async () => {
    const loader = start();
    expect(await loadAll(loader, names(5))).toEqual(named(...names(5)));
    expect([loader.calls, loader.callLog.savedByList]).toEqual([['10'], 5]);
  });

  test('sends four GETs for four ids', async () => {
    const loader = start();
    expect(await loadAll(loader, names(4))).toEqual(named(...names(4)));
    expect([loader.calls, loader.callLog.savedByList]).toEqual([names(4), 0]);
  });

  test('sends GETs if batches must not read lists', async () => {
    const loader = start({ isListUsed: false });
    await loadAll(loader, names(100));
    expect([loader.calls, loader.callLog.savedByList]).toEqual([names(100), 0]);
  });

  test('sends GETs for the ids that the page lacks', async () => {
    const loader = start();
    const wanted = [...names(17), 'r100', 'r200', 'r2000'];
    expect(await loadAll(loader, wanted)).toEqual(named(...wanted));
    expect([loader.calls, loader.callLog.savedByList]).toEqual([['40', 'r100', 'r200', 'r2000'], 17]);
  });

  test('reads several pages for 900 ids', async () => {
    const loader = start({ maxPageSize: 250 });
    await loadAll(loader, names(900));
    expect(loader.calls).toEqual(['250', '250@250', '250@500', '250@750']);
  });

  test('reads a page that also serves a later id', async () => {
    const loader = start();
    await loadAll(loader, names(5));
    expect(await loader.load('r10')).toEqual({ name: 'r10' });
    expect(loader.calls).toEqual(['10']);
  });

  test('keeps no incomplete row of the page that it reads', async () => {
    const loader = start({ isRowComplete: ({ name }) => name !== 'r10' });
    await loadAll(loader, names(5));
    await loader.load('r10');
    expect(loader.calls).toEqual(['10', 'r10']);
  });

  test('returns null or an error for each id whose GET fails', async () => {
    const failure = new InvalidResponseError('broken');
    const get = (name: string) => Promise.reject(name === 'x' ? status(404) : failure);
    const loader = start({ get });
    expect(await loadAll(loader, [...names(10), 'x', 'y'])).toEqual([...named(...names(10)), null, failure]);
    expect(loader.calls).toEqual(['25', 'x', 'y']);
  });

  test('reads a page if at most 160 rows come before the five ids', async () => {
    const state = new ListState(comparedState());
    for (const [rowsBefore, calls] of [
      [160, ['170']],
      [161, names(5, 162)],
    ] as const) {
      const loader = start({ state });
      loader.expect({ rowsBefore, rowsPerId: state.rowsPerId('orders') });
      expect(await loadAll(loader, names(5, 162))).toEqual(named(...names(5, 162)));
      expect(loader.calls).toEqual(calls);
    }
  });

  test('keeps no row of a page that was requested before a write', async () => {
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
});

describe('a batch with an unreliable list', () => {
  test.each<[string, ListBatchLoaderOptions<Row>['list'], string[], string[]]>([
    ['fails', failing(status(500)), names(5), ['10', ...names(5)]],
    ['is empty', pagesOf([]), names(5), ['10', ...names(5)]],
    [
      'is empty but has a page token',
      async () => ({ rows: [], nextPageToken: 't' }),
      names(5),
      ['10', ...names(5)],
    ],
    [
      'has an invalid row',
      pagesOf([...named('r1', 'r2', 'r4', 'r5'), new InvalidResponseError('r3')]),
      names(5),
      ['10', 'r3'],
    ],
    ['contains a row twice', pagesOf(named('r1', 'r1', ...names(5))), names(5), ['10']],
    [
      'returns 20 of 120 requested rows',
      pagesOf(named(...names(2_000)), () => 20),
      names(60),
      ['120', '100@20', '80@40'],
    ],
    [
      'returns 3 of 120 requested rows',
      pagesOf(named(...names(2_000)), () => 3),
      names(60),
      ['120', '117@3', '114@6', '111@9', '108@12', '105@15', ...names(42, 19)],
    ],
    [
      'repeats a page token',
      async () => ({ rows: named(...names(40)), nextPageToken: 't' }),
      names(60),
      ['120', '80@t', ...names(20, 41)],
    ],
  ])('returns every record if the list %s', async (_what, list, wanted, calls) => {
    const loader = start({ list });
    expect(await loadAll(loader, wanted)).toEqual(named(...wanted));
    expect(loader.calls).toEqual(calls);
  });

  test('costs at most 1.2 calls per id plus one call, even with arbitrary pages', async () => {
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
      fc.asyncProperty(batches, fc.array(page, { maxLength: 20 }), async (operations, pages) => {
        const state = new ListState(new SharedListState());
        const list = pages.values();
        for (const ids of operations) {
          const wanted = ids.map((id) => `r${id}`);
          const loader = start({
            state,
            async list() {
              const answer = list.next().value;
              if (!answer) throw status(500);
              return answer;
            },
          });
          expect(await loadAll(loader, wanted)).toEqual(named(...wanted));
          // The compared row may cost one GET more.
          expect(loader.calls.length).toBeLessThanOrEqual(1.2 * wanted.length + 1);
        }
      }),
    );
  });
});

test('two pages without any requested id pause list reads for 30 seconds', async () => {
  const state = new ListState(comparedState());
  const calls = async () => {
    const loader = start({ state, list: pagesOf(named(...names(2_000, 5_000))) });
    await loadAll(loader, names(50));
    return loader.calls;
  };
  expect(await calls()).toEqual(['100', ...names(50)]);
  expect(await calls()).toEqual(['400', ...names(50)]);
  nowMs = 29_999;
  expect(await calls()).toEqual(names(50));
  nowMs = 30_000;
  expect(await calls()).toEqual(['1000', ...names(50)]);
});

describe('the comparison of a row with its record', () => {
  test('runs once every ten minutes', async () => {
    const shared = new SharedListState();
    const calls = async () => {
      const loader = start({ state: new ListState(shared) });
      expect(await loadAll(loader, names(20))).toEqual(named(...names(20)));
      return [loader.calls, loader.callLog.savedByList];
    };
    expect(await calls()).toEqual([['r11', '40'], 19]);
    nowMs = 599_999;
    expect(await calls()).toEqual([[expect.stringMatching(/^\d+$/)], 20]);
    nowMs = 600_000;
    expect(await calls()).toEqual([['r11', expect.stringMatching(/^\d+$/)], 19]);
  });

  test('runs in every batch until a comparison has a result', async () => {
    const shared = new SharedListState();
    const get = async (name: string) => ({ name, cost: 1 });
    const loaders = Array.from({ length: 3 }, () => start({ state: new ListState(shared), get }));
    const whole = names(20).map((name) => ({ name, cost: 1 }));
    const results = await Promise.all(loaders.map((loader) => loadAll(loader, names(20))));
    expect(results).toEqual([whole, whole, whole]);
    expect(loaders.map(({ calls }) => calls.slice(0, 2))).toEqual(loaders.map(() => ['r11', '40']));
  });

  test('is retried after 30 seconds if the record cannot be read', async () => {
    const shared = new SharedListState();
    const calls = async () => {
      const loader = start({ state: new ListState(shared), get: failing(status(503)) });
      expect(await loadAll(loader, names(20))).toEqual(named(...names(20)));
      return loader.calls;
    };
    expect(await calls()).toEqual(['r11', '40']);
    nowMs = 29_999;
    expect(await calls()).toHaveLength(1);
    nowMs = 30_000;
    expect(await calls()).toHaveLength(2);
  });

  test('is skipped if the read budget allows no call besides the page', async () => {
    const limited = createCallContexts({ readsPerOperation: 1 });
    const callContext = limited.of('a', new AbortController().signal);
    const loader = start({ state: new ListState(new SharedListState()), callContext });
    expect(await loadAll(loader, names(20))).toEqual(named(...names(20)));
    expect(loader.calls).toEqual(['40']);
  });

  test('disables the list for all tokens for ten minutes if the row lacks a field', async () => {
    const shared = new SharedListState();
    const failure = new InvalidResponseError('broken');
    const get = async (name: string) => {
      if (name === 'r5') throw status(404);
      if (name === 'r6') throw failure;
      return { name, cost: 1 };
    };
    const whole = names(20).map((name) => ({ name, cost: 1 }));
    const results = [...whole.slice(0, 4), null, failure, ...whole.slice(6)];
    const loader = start({ state: new ListState(shared), get });
    expect(await loadAll(loader, names(20))).toEqual(results);
    expect(loader.calls).toEqual(['r11', '40', ...names(20).filter((name) => name !== 'r11')]);
    expect(loader.callLog.savedByList).toBe(0);
    nowMs = 599_999;
    const later = start({ state: new ListState(shared), get });
    later.prime(named('r1'), later.generation);
    expect(await loadAll(later, names(20))).toEqual(results);
    expect(later.calls).toEqual(names(20));
    nowMs = 600_000;
    const complete = start({ state: new ListState(shared) });
    expect(await loadAll(complete, names(20))).toEqual(named(...names(20)));
    expect(complete.calls).toEqual(['r11', expect.stringMatching(/^\d+$/)]);
  });

  test('ignores a missing field if the record is newer than the row', async () => {
    const loader = start({
      state: new ListState(new SharedListState()),
      list: pagesOf(names(20).map((name) => ({ name, updateTime: '1' }))),
      get: async (name) => ({ name, updateTime: '2', cost: 1 }),
    });
    await loadAll(loader, names(20));
    expect(loader.calls).toEqual(['r11', '40']);
  });
});

describe('a page that fails because of overload', () => {
  test.each<[string, Error]>([
    ...[408, 429, 499, 502, 503, 504, 520, 524, 530].map((code): [string, Error] => [
      `${code}`,
      status(code),
    ]),
    ['no response', new UnavailableError('reset')],
    ['a timeout', new DeadlineError('late')],
    ['an open circuit', new CircuitOpenError(call, 1_000)],
  ])('causes an error for all ids if the GET of one id also fails: %s', async (_what, error) => {
    const loader = start({ list: failing(error), get: failing(status(503)) });
    expect(await loadAll(loader, names(10))).toEqual(names(10).map(() => error));
    expect([loader.calls, loader.callLog.savedByList]).toEqual([['20', 'r1'], 0]);
  });

  test('does not pause list reads if the GET of one id also fails', async () => {
    const state = new ListState(comparedState());
    await loadAll(start({ state, list: failing(status(503)), get: failing(status(503)) }), names(10));
    const later = start({ state });
    expect(await loadAll(later, names(10))).toEqual(named(...names(10)));
    expect(later.calls).toEqual(['20']);
  });

  test('pauses list reads for the token after two failures in a row if GETs work', async () => {
    const shared = comparedState();
    const state = new ListState(shared);
    const broken = start({ state, list: failing(status(503)) });
    expect(await loadAll(broken, names(10))).toEqual([{ name: 'r1' }, ...names(9).map(() => status(503))]);
    expect(broken.calls).toEqual(['20', 'r1']);
    const calls = async (options: Partial<ListBatchLoaderOptions<Row>>) => {
      const loader = start(options);
      expect(await loadAll(loader, names(10))).toEqual(named(...names(10)));
      return loader.calls;
    };
    // The second failure in a row costs no id its record.
    expect(await calls({ state, list: failing(status(503)) })).toEqual(['20', ...names(10)]);
    nowMs = 29_999;
    expect(await calls({ state })).toEqual(names(10));
    expect(await calls({ state: new ListState(shared) })).toEqual(['20']);
    nowMs = 30_000;
    expect(await calls({ state, list: failing(status(503)) })).toEqual(['20', ...names(10)]);
    expect(await calls({ state })).toEqual(names(10));
    nowMs = 60_000;
    expect(await calls({ state })).toEqual(['20']);
    expect(await calls({ state })).toHaveLength(1);
  });

  test('does not pause list reads if the next page succeeds', async () => {
    const state = new ListState(comparedState());
    for (let time = 0; time < 3; time += 1) {
      const broken = start({ state, list: failing(status(503)) });
      await loadAll(broken, names(10));
      expect(broken.calls).toHaveLength(2);
      const working = start({ state });
      expect(await loadAll(working, names(10))).toEqual(named(...names(10)));
      expect(working.calls).toHaveLength(1);
    }
  });

  test('pauses list reads for all tokens after three failures in a row', async () => {
    const shared = comparedState();
    for (let token = 0; token < 2; token += 1) {
      await loadAll(start({ state: new ListState(shared), list: failing(status(503)) }), names(10));
    }
    const calls = async (list?: ListBatchLoaderOptions<Row>['list']) => {
      const loader = start({ state: new ListState(shared), ...(list && { list }) });
      expect(await loadAll(loader, names(10))).toEqual(named(...names(10)));
      return loader.calls;
    };
    expect(await calls(failing(status(503)))).toEqual(['20', ...names(10)]);
    nowMs = 29_999;
    expect(await calls()).toEqual(names(10));
    nowMs = 30_000;
    expect(await calls(failing(status(503)))).toEqual(['20', ...names(10)]);
    expect(await calls()).toEqual(names(10));
    nowMs = 60_000;
    expect(await calls()).toEqual(['20']);
    expect(await calls()).toHaveLength(1);
  });

  test('does not pause list reads for other tokens after four failures of one token', async () => {
    const shared = comparedState();
    const state = new ListState(shared);
    for (nowMs of [0, 0, 30_000, 60_000])
      await loadAll(start({ state, list: failing(status(503)) }), names(10));
    const other = start({ state: new ListState(shared) });
    await loadAll(other, names(10));
    expect(other.calls).toEqual(['20']);
  });

  test('is retried by only one batch after the pause', async () => {
    const state = new ListState(comparedState());
    for (let time = 0; time < 2; time += 1) {
      await loadAll(start({ state, list: failing(status(503)) }), names(10));
    }
    nowMs = 30_000;
    const page = Promise.withResolvers<Page<Row>>();
    const trying = start({ state, list: () => page.promise });
    const results = loadAll(trying, names(10));
    const other = start({ state });
    expect(await loadAll(other, names(10))).toEqual(named(...names(10)));
    expect([trying.calls, other.calls]).toEqual([['20'], names(10)]);
    page.resolve({ rows: named(...names(20)), nextPageToken: undefined });
    expect(await results).toEqual(named(...names(10)));
    const later = start({ state });
    await loadAll(later, names(10));
    expect(later.calls).toEqual(['18']);
  });

  test('does not discard the records of an earlier page', async () => {
    const list = ({ pageToken }: PageQuery) =>
      pageToken === undefined ? pagesOf(named(...names(100)))({ pageSize: 15 }) : failing(status(503))();
    const loader = start({ list });
    const failed = names(24, 17).map(() => status(503));
    expect(await loadAll(loader, names(40))).toEqual([...named(...names(16)), ...failed]);
    expect([loader.calls, loader.callLog.savedByList]).toEqual([['80', '65@15', 'r16'], 15]);
  });
});

describe('a failed read of a list', () => {
  test.each<[string, Error, number]>([
    ['400', status(400), 600_000],
    ['403', status(403), 600_000],
    ['404', status(404), 600_000],
    ['301', status(301), 30_000],
    ['500', status(500), 30_000],
    ['501', status(501), 30_000],
    ['an invalid body', new InvalidResponseError('html'), 30_000],
    ['a body that is too large', new ResponseTooLargeError('large'), 30_000],
  ])('pauses list reads for the token: %s', async (_what, error, pauseMs) => {
    const shared = comparedState();
    const state = new ListState(shared);
    const calls = async (options: Partial<ListBatchLoaderOptions<Row>>) => {
      const loader = start(options);
      expect(await loadAll(loader, names(10))).toEqual(named(...names(10)));
      return loader.calls;
    };
    expect(await calls({ state, list: failing(error) })).toEqual(['20', ...names(10)]);
    nowMs = pauseMs - 1;
    expect(await calls({ state })).toEqual(names(10));
    expect(await calls({ state: new ListState(shared) })).toEqual(['20']);
    nowMs = pauseMs;
    expect(await calls({ state })).toContain('20');
  });
});

test.each<[string, Error]>([
  ['401', status(401)],
  ['an exhausted budget', new ReadBudgetExceededError(call, 10)],
])('all ids get the error of the list if GETs would get the same error: %s', async (_what, error) => {
  const loader = start({ list: failing(error) });
  expect(await loadAll(loader, names(10))).toEqual(names(10).map(() => error));
  expect(loader.calls).toEqual(['20']);
});

describe('a record that a write depends on', () => {
  test('is read by its id, even in a batch that a page of the list serves', async () => {
    const loader = start();
    const own = ['r3', 'r9'].map((name) => loader.loadById(name));
    expect(await loadAll(loader, names(12))).toEqual(named(...names(12)));
    expect(await Promise.all(own)).toEqual(named('r3', 'r9'));
    expect(loader.calls).toEqual(['r3', 'r9', '20']);
  });

  test('is read by its id, even if few reads are left', async () => {
    const callContext = createCallContexts({ readsPerOperation: 1 }).of('a', new AbortController().signal);
    const loader = start({ callContext });
    await Promise.all(names(12).map((name) => loader.loadById(name)));
    expect(loader.calls).toEqual(names(12));
  });

  test('needs no second call if the same operation has read it', async () => {
    const loader = start();
    await loader.loadById('r1');
    await loader.loadById('r1');
    expect(loader.calls).toEqual(['r1']);
  });
});

describe('a prefetched page', () => {
  /** Prefetches a page, and expects the ids of a batch in it, as for a list of orders. */
  function prefetchFor(loader: ReturnType<typeof start>, state: ListState, idCount: number) {
    const position = { rowsBefore: 0, rowsPerId: state.rowsPerId('orders') };
    loader.prefetch(idCount, position, Promise.resolve());
    loader.expect(position);
  }

  test('serves a later batch', async () => {
    const state = new ListState(comparedState());
    const loader = start({ state });
    prefetchFor(loader, state, 12);
    expect(await loadAll(loader, ['r3', 'r2', 'r90'])).toEqual(named('r3', 'r2', 'r90'));
    expect([loader.calls, loader.callLog.savedByList]).toEqual([['25', 'r90'], 2]);
  });

  test('is requested once if at least five ids are expected', async () => {
    const state = new ListState(comparedState());
    const loader = start({ state });
    prefetchFor(loader, state, 4);
    prefetchFor(loader, state, 12);
    prefetchFor(loader, state, 16);
    expect(loader.calls).toEqual(['25']);
  });

  test('is not requested if a single page cannot hold the expected ids', async () => {
    const state = new ListState(comparedState());
    const loader = start({ state, maxPageSize: 20 });
    prefetchFor(loader, state, 12);
    expect(loader.calls).toEqual([]);
  });

  test.each([
    [500, named(...names(20)), ['40', ...names(20)]],
    [503, [{ name: 'r1' }, ...names(19).map(() => status(503))], ['40', 'r1']],
  ])('is not requested again after it failed with %i', async (code, results, calls) => {
    const state = new ListState(comparedState());
    const loader = start({ state, list: failing(status(code)) });
    prefetchFor(loader, state, 20);
    expect(await loadAll(loader, names(20))).toEqual(results);
    expect(loader.calls).toEqual(calls);
  });

  test('that ends with the list that asked for it is replaced by a page of the batch', async () => {
    const state = new ListState(comparedState());
    const loader = start({
      state,
      list: (query, { signal }) =>
        new Promise((resolve, reject) => {
          if (loader.calls.length > 1) resolve(pagesOf(named(...names(50)))(query));
          else signal.addEventListener('abort', () => reject(abortedError(call, signal)));
        }),
    });
    const position = { rowsBefore: 0, rowsPerId: state.rowsPerId('orders') };
    const other = Promise.withResolvers<void>();
    loader.prefetch(12, position, other.promise);
    loader.expect(position);
    const loaded = loadAll(loader, names(12));
    other.reject(new Error('the other list failed'));
    expect(await loaded).toEqual(named(...names(12)));
    expect(loader.calls).toEqual(['25', '25']);
  });

  test.each<[string, (loader: ReturnType<typeof start>) => void]>([
    ['a record was written', (loader) => loader.replace('r50', { name: 'r50' })],
    ['a record was cleared', (loader) => loader.clear('r50')],
    ['all records were cleared', (loader) => loader.clearAll()],
  ])('is not used after %s', async (_what, write) => {
    const state = new ListState(comparedState());
    const loader = start({ state });
    prefetchFor(loader, state, 12);
    write(loader);
    expect(await loadAll(loader, names(3))).toEqual(named(...names(3)));
    expect(loader.calls).toEqual(['25', ...names(3)]);
  });
});
