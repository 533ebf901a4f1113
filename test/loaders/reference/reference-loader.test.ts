import { describe, expect, test, vi } from 'vitest';
import {
  CachedPages,
  createPageCache,
  type PageCacheOptions,
} from '../../../src/loaders/reference/page-cache.ts';
import { ReferenceLoader } from '../../../src/loaders/reference/reference-loader.ts';
import type { Page, PageQuery } from '../../../src/rest/api-types.ts';
import type { CallContext } from '../../../src/rest/client/call-context.ts';
import { AbortedError, type InvalidResponseError, UnavailableError } from '../../../src/rest/errors.ts';
import { createCallContexts } from '../../fixtures/call-contexts.ts';
import { named, type Row } from '../list-batch/list.ts';

interface Call {
  /** `origins 20`, and `origins 20@token` for a later page. */
  of: string;
  callContext: CallContext;
  give(...rows: (Row | InvalidResponseError)[]): Promise<void>;
  fail(error: Error): void;
}

/** A cache whose pages are fresh for one second and served stale for five more, with a clock set by the test. */
function startCaching({ referenceMs = 1_000, ...options }: Partial<PageCacheOptions> = {}) {
  const clock = { nowMs: 1 };
  vi.spyOn(performance, 'now').mockImplementation(() => clock.nowMs);
  const cache = createPageCache({ referenceMs, referenceGraceMs: 5_000, ...options });
  const pagesByToken = new Map([['token', new CachedPages(cache)]]);
  const callContexts = createCallContexts({ readsPerOperation: 3 });
  const calls: Call[] = [];

  function read(of: string, callContext: CallContext): Promise<Page<Row>> {
    const { promise, resolve, reject } = Promise.withResolvers<Page<Row>>();
    const ended = () => new Promise<void>((done) => setImmediate(done));
    calls.push({
      of,
      callContext,
      fail: reject,
      give: (...rows) => {
        resolve({ rows, nextPageToken: undefined });
        return ended();
      },
    });
    return promise;
  }

  /** The loaders of a new operation. */
  function operation(signal = new AbortController().signal, token = 'token') {
    const callContext = callContexts.of(token, signal);
    const pages = pagesByToken.get(token) ?? new CachedPages(cache);
    pagesByToken.set(token, pages);
    const over = (list: string) =>
      new ReferenceLoader<Row, PageQuery>(
        callContext,
        pages,
        list,
        ({ pageSize, pageToken }, callContext) =>
          read(`${list} ${pageSize}${pageToken === undefined ? '' : `@${pageToken}`}`, callContext),
        100,
      );
    return { callContext, origins: over('origins'), channels: over('channels') };
  }

  /** The call that was made last. */
  async function lastCall(): Promise<Call> {
    await new Promise((done) => setImmediate(done));
    const call = calls.at(-1);
    if (call === undefined) throw new Error('no call was made');
    return call;
  }

  /** What a new operation gets for 20 origins without a call of its own. */
  async function known(): Promise<string[]> {
    return names(await operation().origins.load({ pageSize: 20 }));
  }

  /** Reads 20 origins in an operation that has to wait for them. */
  async function learn(...rows: (Row | InvalidResponseError)[]): Promise<void> {
    const page = operation().origins.load({ pageSize: 20 });
    await (await lastCall()).give(...rows);
    await page;
  }

  const forget = () => pagesByToken.get('token')?.forget();
  return { clock, calls, operation, lastCall, known, learn, forget, lines: () => calls.map(({ of }) => of) };
}

const names = ({ rows }: Page<Row>) => rows.map(({ name }) => name);

describe('a page that an operation has read', () => {
  test('counts as one cached page in each later operation', async () => {
    const { operation, learn } = startCaching();
    await learn(...named('a'));
    const { callContext, origins } = operation();
    expect(origins.isAvailable({ pageSize: 20 })).toBe(true);
    await Promise.all([origins.load({ pageSize: 20 }), origins.load({ pageSize: 20 })]);
    await origins.load({ pageSize: 20 });
    expect([callContext.callLog.cached, callContext.callLog.entries]).toEqual([1, []]);
  });

  test('is available only for the same query, list and tenant', async () => {
    const { operation, learn } = startCaching();
    await learn(...named('a'));
    const { origins, channels } = operation();
    expect(origins.isAvailable({ pageSize: 20, pageToken: undefined })).toBe(true);
    expect(origins.isAvailable({ pageSize: 20, pageToken: 't' })).toBe(false);
    expect(origins.isAvailable({ pageSize: 21 })).toBe(false);
    expect(channels.isAvailable({ pageSize: 20 })).toBe(false);
    expect(operation(undefined, 'another').origins.isAvailable({ pageSize: 20 })).toBe(false);
  });

  test('is fresh for a fixed time after the start of its call', async () => {
    const { clock, operation, lastCall, known, lines } = startCaching();
    void operation().origins.load({ pageSize: 20 });
    const call = await lastCall();
    clock.nowMs = 901;
    await call.give(...named('a'));
    clock.nowMs = 1_000;
    expect(await known()).toEqual(['a']);
    expect(lines()).toEqual(['origins 20']);
    clock.nowMs = 1_001;
    expect(await known()).toEqual(['a']);
    expect(lines()).toEqual(['origins 20', 'origins 20']);
  });

  test('is available only within its operation if the cache is off', async () => {
    const { operation, lastCall } = startCaching({ referenceMs: 0 });
    const { origins } = operation();
    void origins.load({ pageSize: 20 });
    expect(origins.isAvailable({ pageSize: 20 })).toBe(true);
    await (await lastCall()).give(...named('a'));
    expect(origins.isAvailable({ pageSize: 20 })).toBe(true);
    expect(operation().origins.isAvailable({ pageSize: 20 })).toBe(false);
    origins.clearAll();
    expect(origins.isAvailable({ pageSize: 20 })).toBe(false);
  });

  test('is removed when its tenant is forgotten, even for running operations', async () => {
    const { operation, learn, forget } = startCaching();
    await learn(...named('a'));
    const { origins } = operation();
    forget();
    expect([origins, operation().origins].map((each) => each.isAvailable({ pageSize: 20 }))).toEqual([
      false,
      false,
    ]);
  });
});

describe('a stale page', () => {
  test('is refreshed by a call that is independent of the operation', async () => {
    const { clock, operation, learn, lastCall } = startCaching();
    await learn(...named('old'));
    clock.nowMs = 1_001;
    const client = new AbortController();
    const { callContext, origins } = operation(client.signal);
    await origins.load({ pageSize: 20 });
    client.abort();
    const { callContext: later } = await lastCall();
    expect([later.bearer, later.tenant, later.signal.aborted]).toEqual(['token', callContext.tenant, false]);
    expect(later.callLog).not.toBe(callContext.callLog);
    const spendAll = () => {
      for (let reads = 0; reads < 10; reads += 1) later.useReadBudget({ method: 'GET', path: '/v1/origins' });
    };
    expect(spendAll).not.toThrow();
  });

  test('is not served after its grace period', async () => {
    const { clock, operation, learn, lastCall, known } = startCaching();
    await learn(...named('old'));
    clock.nowMs = 6_000;
    expect(operation().origins.isAvailable({ pageSize: 20 })).toBe(true);
    clock.nowMs = 6_002;
    const { callContext, origins } = operation();
    expect(origins.isAvailable({ pageSize: 20 })).toBe(false);
    const page = origins.load({ pageSize: 20 });
    await (await lastCall()).give(...named('new'));
    expect([names(await page), callContext.callLog.cached]).toEqual([['new'], 0]);
    expect(await known()).toEqual(['new']);
  });
});

test('the cache evicts the least recently used pages if it exceeds its maximum size', async () => {
  const { operation, lastCall } = startCaching({ maxCharacters: 4 * 2_048 });
  const { signal } = new AbortController();
  const reads: [token: string, pageSize: number][] = [
    ['ana', 1],
    ['ana', 2],
    ['eva', 1],
    ['eva', 2],
    ['ana', 1],
    ['ida', 1],
    ['ida', 2],
  ];
  for (const [token, pageSize] of reads) {
    const { origins } = operation(signal, token);
    const isCached = origins.isAvailable({ pageSize });
    const page = origins.load({ pageSize });
    // Each page takes 1,024 characters more than its rows.
    if (!isCached) await (await lastCall()).give({ name: 'a'.repeat(900) });
    await page;
  }
  const cached = reads.filter(([token, pageSize]) =>
    operation(signal, token).origins.isAvailable({ pageSize }),
  );
  expect(new Set(cached.map(([token, pageSize]) => `${token} ${pageSize}`))).toEqual(
    new Set(['ana 1', 'eva 2', 'ida 1', 'ida 2']),
  );
});

describe('an operation that has stopped using cached pages', () => {
  test('shares its newly read pages with later operations', async () => {
    const { operation, learn, lastCall, known, lines } = startCaching();
    await learn(...named('old'));
    const { origins } = operation();
    await origins.load({ pageSize: 20 });
    void origins.load({ pageSize: 5 });
    await (await lastCall()).give(...named('a'));
    expect(origins.forgetEarlier()).toBe(true);
    expect([origins.isAvailable({ pageSize: 20 }), origins.isAvailable({ pageSize: 5 })]).toEqual([
      false,
      true,
    ]);
    const page = origins.load({ pageSize: 20 });
    void origins.load({ pageSize: 5 });
    await (await lastCall()).give(...named('new'));
    expect([names(await page), await known()]).toEqual([['new'], ['new']]);
    expect(origins.forgetEarlier()).toBe(false);
    await origins.load({ pageSize: 20 });
    expect(lines()).toEqual(['origins 20', 'origins 5', 'origins 20']);
  });

  test('ignores cached pages that it has not used yet', async () => {
    const { operation, learn, lines } = startCaching();
    await learn(...named('old'));
    const { origins } = operation();
    expect(origins.forgetEarlier()).toBe(false);
    expect(origins.isAvailable({ pageSize: 20 })).toBe(false);
    void origins.load({ pageSize: 20 });
    await new Promise((done) => setImmediate(done));
    expect(lines()).toEqual(['origins 20', 'origins 20']);
  });
});

describe('operations that read a page at the same time', () => {
  test('share one call', async () => {
    const { operation, lastCall, lines } = startCaching();
    const [first, second] = [operation(), operation()];
    const pages = [first, second].map(({ origins }) => origins.load({ pageSize: 20 }));
    expect(second.origins.isAvailable({ pageSize: 20 })).toBe(true);
    await (await lastCall()).give(...named('a'));
    expect((await Promise.all(pages)).map(names)).toEqual([['a'], ['a']]);
    expect([first, second].map(({ callContext }) => callContext.callLog.cached)).toEqual([0, 1]);
    expect([first, second].map(({ origins }) => origins.forgetEarlier())).toEqual([false, true]);
    expect(lines()).toEqual(['origins 20']);
  });

  test('make separate calls if the cache is off', async () => {
    const { operation, lastCall, lines } = startCaching({ referenceMs: 0 });
    for (const { origins } of [operation(), operation()]) void origins.load({ pageSize: 20 });
    await lastCall();
    expect(lines()).toEqual(['origins 20', 'origins 20']);
  });

  test('make separate calls after one of them has stopped using cached pages', async () => {
    const { clock, operation, lastCall, known, lines } = startCaching();
    const older = operation().origins.load({ pageSize: 20 });
    const late = await lastCall();
    clock.nowMs = 2;
    const { origins } = operation();
    origins.forgetEarlier();
    const newer = origins.load({ pageSize: 20 });
    await (await lastCall()).give(...named('new'));
    await late.give(...named('old'));
    expect([names(await older), names(await newer)]).toEqual([['old'], ['new']]);
    // The response to the older request does not replace the newer page.
    expect(await known()).toEqual(['new']);
    expect(lines()).toEqual(['origins 20', 'origins 20']);
  });

  test('share the error of the call until the next operation', async () => {
    const { operation, lastCall, lines } = startCaching();
    const pages = [operation(), operation()].map(({ origins }) => origins.load({ pageSize: 20 }));
    const failure = new UnavailableError('reset');
    (await lastCall()).fail(failure);
    expect(await Promise.allSettled(pages)).toMatchObject([{ reason: failure }, { reason: failure }]);
    void operation().origins.load({ pageSize: 20 });
    await lastCall();
    expect(lines()).toEqual(['origins 20', 'origins 20']);
  });

  test('repeat the call if the operation that made the call is aborted', async () => {
    const { operation, lastCall, lines } = startCaching();
    const first = operation().origins.load({ pageSize: 20 });
    const second = operation().origins.load({ pageSize: 20 });
    (await lastCall()).fail(new AbortedError('given up'));
    await expect(first).rejects.toThrow('given up');
    await (await lastCall()).give(...named('a'));
    expect(names(await second)).toEqual(['a']);
    expect(lines()).toEqual(['origins 20', 'origins 20']);
  });

  test('stop waiting for a shared call when they are aborted', async () => {
    const { operation, lastCall, lines } = startCaching();
    const first = operation().origins.load({ pageSize: 20 });
    const client = new AbortController();
    const second = operation(client.signal).origins.load({ pageSize: 20 });
    const call = await lastCall();
    client.abort();
    await expect(second).rejects.toThrow(AbortedError);
    await call.give(...named('a'));
    expect(names(await first)).toEqual(['a']);
    expect(lines()).toEqual(['origins 20']);
  });
});

test('a failed read ends no process if the operation that waits for it has ended before', async () => {
  const { operation, lastCall } = startCaching();
  const reading = operation().origins.load({ pageSize: 20 });
  const call = await lastCall();
  const client = new AbortController();
  client.abort();
  await expect(operation(client.signal).origins.load({ pageSize: 20 })).rejects.toThrow(AbortedError);
  // An error that nobody handles fails the run of the tests.
  call.fail(new UnavailableError('GET /v1/origins returned 503'));
  await expect(reading).rejects.toThrow(UnavailableError);
});
