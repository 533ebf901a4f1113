import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Cancellation } from '../../../src/concurrency/cancellation.ts';
import { createDefer } from '../../../src/concurrency/event-loop-round.ts';
import {
  type ListBatchLoaderOptions,
  listBatchLoader,
} from '../../../src/loaders/list-batch/list-batch-loader.ts';
import { createProcessListState, ListState } from '../../../src/loaders/list-batch/list-state.ts';
import { noObserver } from '../../../src/loaders/loading-observer.ts';
import type { Page, PageQuery } from '../../../src/rest/api-types.ts';
import type { CallContext } from '../../../src/rest/client/call-context.ts';
import { InvalidResponseError, StatusError } from '../../../src/rest/errors.ts';
import { createCallContexts } from '../../fixtures/call-contexts.ts';
import { loadAll, named, type Row } from './list.ts';

const names = (count: number, from = 1) => Array.from({ length: count }, (_, index) => `r${from + index}`);
const callContexts = createCallContexts({ callsPerOperation: 16 });

/** The pages of a list as REST gives them; a token is the index at which to go on. */
function pagesOf(rows: Page<Row>['rows'], givenRows = (pageSize: number) => pageSize) {
  return async ({ pageSize, pageToken = '0' }: PageQuery): Promise<Page<Row>> => {
    const start = Number(pageToken);
    const end = start + givenRows(pageSize);
    return { rows: rows.slice(start, end), nextPageToken: end < rows.length ? String(end) : undefined };
  };
}

/** Of a tenant new to a process that has just compared a row of the list. */
function comparedState(now = () => 0) {
  const process = createProcessListState();
  process.completeness.comparedAtMs = 0;
  return new ListState(process, now);
}

/** Makes a call and reports its start and end, as the REST client does. */
async function observed<Answer>(callContext: CallContext, call: () => Promise<Answer>): Promise<Answer> {
  callContext.onCallSent();
  const startedAtMs = performance.now();
  const answer = await call();
  callContext.onCallFinished({
    method: 'GET',
    route: '/v1/rows',
    status: 200,
    startMs: 0,
    durationMs: performance.now() - startedAtMs,
    bytes: 0,
    retries: 0,
    isShared: false,
    askedBy: [],
  });
  return answer;
}

/** A loader of a new operation over records `r1`, `r2` and so on, and the calls that it makes. */
function start(options: Partial<ListBatchLoaderOptions<Row>> = {}) {
  const calls: string[] = [];
  const callContext = options.callContext ?? callContexts.of('a', new AbortController().signal);
  const list = options.list ?? pagesOf(named(...names(2_000)));
  const get = options.get ?? (async (name) => ({ name }));
  const loader = listBatchLoader<Row>({
    kind: 'orders',
    maxPageSize: 1_000,
    state: comparedState(),
    isListUsed: true,
    observer: noObserver,
    ...options,
    callContext,
    get(name, callContext) {
      calls.push(name);
      return observed(callContext, () => get(name, callContext));
    },
    list(query, callContext) {
      calls.push(
        query.pageToken === undefined ? `${query.pageSize}` : `${query.pageSize}@${query.pageToken}`,
      );
      return observed(callContext, () => list(query, callContext));
    },
  });
  return Object.assign(loader, { calls, callLog: callContext.callLog });
}

const notFound = (name: string) =>
  new StatusError({ method: 'GET', path: `/v1/${name}` }, 404, { fields: [] }, undefined);

describe('a batch', () => {
  test('of five is a page of the list', async () => {
    const loader = start();
    expect(await loadAll(loader, names(5))).toEqual(named(...names(5)));
    expect([loader.calls, loader.callLog.savedByList]).toEqual([['10'], 5]);
  });

  test('of four is four gets', async () => {
    const loader = start();
    expect(await loadAll(loader, names(4))).toEqual(named(...names(4)));
    expect([loader.calls, loader.callLog.savedByList]).toEqual([names(4), 0]);
  });

  test('is gets where lists are not to be used', async () => {
    const loader = start({ isListUsed: false });
    await loadAll(loader, names(100));
    expect([loader.calls, loader.callLog.savedByList]).toEqual([names(100), 0]);
  });

  test('asks by id for what the page has not', async () => {
    const loader = start();
    const wanted = [...names(17), 'r100', 'r200', 'r2000'];
    expect(await loadAll(loader, wanted)).toEqual(named(...wanted));
    expect([loader.calls, loader.callLog.savedByList]).toEqual([['40', 'r100', 'r200', 'r2000'], 17]);
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
  const list = (list: ListBatchLoaderOptions<Row>['list']) => ({ list });
  const failing = async () => {
    throw notFound('list');
  };

  test.each<[string, Partial<ListBatchLoaderOptions<Row>>, string[], string[]]>([
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
      ['120', '@20', '@40'],
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
        const state = new ListState();
        const list = answers.values();
        for (const ids of operations) {
          const wanted = ids.map((id) => `r${id}`);
          const loader = start({
            state,
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

test('a list without hits is not read until a trial is due', async () => {
  const state = comparedState();
  const calls = async () => {
    const loader = start({ state, list: async () => ({ rows: [], nextPageToken: undefined }) });
    await loadAll(loader, names(50));
    return loader.calls;
  };
  expect(await calls()).toEqual(['100', ...names(50)]);
  for (let batch = 1; batch < 20; batch += 1) expect(await calls()).toEqual(names(50));
  expect(await calls()).toEqual(['800', ...names(50)]);
});

describe('a row of the first page is compared with its record', () => {
  test('which is asked for at the same time', async () => {
    const state = new ListState(undefined, () => 0);
    const loader = start({ state });
    expect(await loadAll(loader, names(20))).toEqual(named(...names(20)));
    expect([loader.calls, loader.callLog.savedByList]).toEqual([['40', 'r11'], 19]);
    const later = start({ state });
    await loadAll(later, names(20));
    expect(later.calls).toEqual([expect.stringMatching(/^\d+$/)]);
  });

  test('or another one where the first is not on the page', async () => {
    const rows = named(...names(10), ...names(100, 12));
    const loader = start({ state: new ListState(), list: pagesOf(rows) });
    await loadAll(loader, names(20));
    expect(loader.calls).toEqual(['40', 'r11', 'r20']);
  });

  test('and where it lacks something, each name is answered by its get, and later ones without a page', async () => {
    const state = new ListState();
    const failure = new InvalidResponseError('broken');
    const get = async (name: string) => {
      if (name === 'r5') throw notFound(name);
      if (name === 'r6') throw failure;
      return { name, cost: 1 };
    };
    const whole = names(20).map((name) => ({ name, cost: 1 }));
    const answers = [...whole.slice(0, 4), null, failure, ...whole.slice(6)];
    const loader = start({ state, get });
    expect(await loadAll(loader, names(20))).toEqual(answers);
    expect(loader.calls).toEqual(['40', 'r11', ...names(20).filter((name) => name !== 'r11')]);
    expect(loader.callLog.savedByList).toBe(0);
    const later = start({ state, get });
    later.prime(named('r1'));
    expect(await loadAll(later, names(20))).toEqual(answers);
    expect(later.calls).toEqual(names(20));
  });

  test.each<[string, () => Promise<Row>]>([
    ['fails', () => Promise.reject(notFound('r'))],
    ['never comes', () => new Promise(() => {})],
  ])(
    'and where that %s, the rows are answered, and of the next page another is compared',
    async (_what, answer) => {
      const state = new ListState();
      state.times.observeGet(1);
      for (const compared of ['r11', 'r12']) {
        const get = (name: string) => (name === compared ? answer() : Promise.resolve({ name }));
        const loader = start({ state, get });
        expect(await loadAll(loader, names(20))).toEqual(named(...names(20)));
        expect(loader.calls.slice(1)).toEqual([compared]);
      }
    },
  );
});

describe('a list that hangs', () => {
  /** A page that never arrives. Its call fails when it is aborted, as in the REST client. */
  const hanging: ListBatchLoaderOptions<Row>['list'] = (_query, { signal }) =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')));
    });

  test('is aborted at its time limit, and not read for ten seconds', async () => {
    let now = 0;
    const state = comparedState(() => now);
    state.times.observeGet(1);
    const calls = async (list?: typeof hanging) => {
      const loader = start({ state, ...(list && { list }) });
      expect(await loadAll(loader, names(10))).toEqual(named(...names(10)));
      return loader.calls;
    };
    expect(await calls(hanging)).toEqual(['20', ...names(10)]);
    now = 9_999;
    expect(await calls()).toEqual(names(10));
    now = 10_000;
    expect(await calls()).toEqual(['20']);
  });

  test('is aborted if it holds the only slot of the operation', async () => {
    let slot: Promise<unknown> = Promise.resolve();
    const inSlot = <Answer>(make: () => Promise<Answer>): Promise<Answer> => {
      const made = slot.then(make);
      slot = made.catch(() => {});
      return made;
    };
    const state = comparedState();
    state.times.observeGet(1);
    const loader = listBatchLoader<Row>({
      kind: 'orders',
      maxPageSize: 1_000,
      callContext: callContexts.of('a', new AbortController().signal),
      state,
      isListUsed: true,
      observer: noObserver,
      list: (query, own) =>
        inSlot(() => {
          own.onCallSent();
          return hanging(query, own);
        }),
      get: (name) => inSlot(async () => ({ name })),
    });
    expect(await loadAll(loader, names(10))).toEqual(named(...names(10)));
  });

  test('is not late as long as it waits for its slot', async () => {
    const pages = pagesOf(named(...names(100)));
    const state = comparedState();
    state.times.observeGet(1);
    const callContext = callContexts.of('a', new AbortController().signal);
    const loader = listBatchLoader<Row>({
      kind: 'orders',
      maxPageSize: 1_000,
      callContext,
      state,
      isListUsed: true,
      observer: noObserver,
      get: () => Promise.reject(new Error('expected no get')),
      async list(query, callContext) {
        await new Promise((resolve) => setTimeout(resolve, 300));
        return observed(callContext, () => pages(query));
      },
    });
    expect(await loadAll(loader, names(10))).toEqual(named(...names(10)));
  });

  test('is not late where the page came in while the process was busy', async () => {
    const page: Page<Row> = { rows: named(...names(10)), nextPageToken: undefined };
    const state = comparedState();
    state.times.observeGet(1);
    const coming = Promise.withResolvers<Page<Row>>();
    const defer = createDefer();
    const { port1, port2 } = new MessageChannel();
    port2.onmessage = () => defer(() => coming.resolve(page));
    const loader = start({ state, list: () => coming.promise });
    const answers = loadAll(loader, names(10));
    // From here on timers come first, then what has come in.
    await new Promise((resolve) => setImmediate(resolve));
    port1.postMessage('it is here');
    const busyUntil = performance.now() + 250;
    while (performance.now() < busyUntil);
    expect(await answers).toEqual(named(...names(10)));
    expect(loader.calls).toEqual(['20']);
    port2.close();
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

describe('a page that was prefetched', () => {
  /** Prefetches a page and adds the names, as for a list of orders. The page has 2.5 rows per name. */
  function prefetchFor(
    loader: ReturnType<typeof start>,
    state: ListState,
    count: number,
    wanted = names(count),
  ) {
    const expected = { rowsBefore: 0, hitDepth: state.depths.of('orders') };
    loader.prefetch(count, expected);
    loader.addHint({ ...expected, names: new Set(wanted) });
  }

  test('answers what is expected, and nobody else waits for it', async () => {
    const state = comparedState();
    const loader = start({ state });
    const wanted = ['r2', 'r3', 'r90'];
    prefetchFor(loader, state, 12, wanted);
    expect(await loader.load('r1')).toEqual({ name: 'r1' });
    expect(await loadAll(loader, ['r3', 'r2', 'r90'])).toEqual(named('r3', 'r2', 'r90'));
    expect(loader.calls).toEqual(['30', 'r1', 'r90']);
    expect(state.depths.of('orders').wasUseful).toBe(true);
    expect(loader.callLog.savedByList).toBe(2);
  });

  test('is one, however often it is wanted, and none for few ids', async () => {
    const state = comparedState();
    const loader = start({ state });
    prefetchFor(loader, state, 4);
    prefetchFor(loader, state, 12);
    prefetchFor(loader, state, 16);
    expect(loader.calls).toEqual(['30']);
  });

  test.each<[string, number, number, string[]]>([
    ['fails is followed by the page that would have been asked for', 503, 20, ['50', '40']],
    ['fails is followed by gets where there are few', 503, 10, ['25', ...names(10)]],
    ['is refused as every call would be fails nothing that was asked for', 429, 20, ['50', '40']],
  ])('and %s', async (_what, status, count, calls) => {
    const refusal = new StatusError({ method: 'GET', path: '/v1/list' }, status, { fields: [] }, undefined);
    const answers = [Promise.reject(refusal)];
    const pages = pagesOf(named(...names(100)));
    const state = comparedState();
    const loader = start({ state, list: (query) => answers.pop() ?? pages(query) });
    prefetchFor(loader, state, count);
    expect(await loadAll(loader, names(count))).toEqual(named(...names(count)));
    expect(loader.calls).toEqual(calls);
  });

  test.each<[string, (loader: ReturnType<typeof start>) => void]>([
    ['a record is written', (loader) => loader.replace('r50', { name: 'r50' })],
    ['a record is cleared', (loader) => loader.clear('r50')],
    ['all are cleared', (loader) => loader.clearAll()],
  ])('is aborted and not used once %s', async (_what, write) => {
    const signals: Cancellation[] = [];
    const pages = pagesOf(named(...names(2_000)));
    const state = comparedState();
    const loader = start({
      state,
      list: (query, { signal }) => {
        signals.push(signal);
        return pages(query);
      },
    });
    prefetchFor(loader, state, 12, names(3));
    write(loader);
    await loadAll(loader, names(3));
    expect(loader.calls).toEqual(['30', ...names(3)]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });
});

test('no page is asked for where it might take the read that the last name needs', async () => {
  const state = comparedState();
  const limited = (readsPerOperation: number) =>
    createCallContexts({ callsPerOperation: 16, readsPerOperation }).of('a', new AbortController().signal);
  state.depths.of('ids').share = 0.8;
  const loader = start({ state, callContext: limited(10) });
  await loadAll(loader, names(10));
  expect(loader.calls).toEqual(names(10));
  const richer = start({ state, callContext: limited(11) });
  await loadAll(richer, names(10));
  expect(richer.calls[0]).toMatch(/^\d+$/);
  const sure = start({ callContext: limited(10) });
  await loadAll(sure, names(10));
  expect(sure.calls).toEqual(['20']);
});

test('the rows of a page requested before a write are not kept', async () => {
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
