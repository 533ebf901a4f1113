import { describe, expect, test, vi } from 'vitest';
import { locationLoader, maxListPages } from '../../../src/loaders/reference/location-loader.ts';
import { CachedPages, createPageCache } from '../../../src/loaders/reference/page-cache.ts';
import { ReferenceLoader } from '../../../src/loaders/reference/reference-loader.ts';
import type { LocationQuery, Page } from '../../../src/rest/api-types.ts';
import { InvalidResponseError, ResponseTooLargeError, StatusError } from '../../../src/rest/errors.ts';
import type { LocationJson } from '../../../src/rest/wire-schema.ts';
import { createCallContexts } from '../../fixtures/call-contexts.ts';
import { loadAll } from '../list-batch/list.ts';

test('maxListPages allows at most one list page for every five names', () => {
  expect([1, 4, 5, 9, 10, 29, 30, 62, 1_000].map(maxListPages)).toEqual([0, 0, 1, 1, 2, 2, 3, 6, 100]);
  for (let names = 1; names <= 500; names += 1) expect(maxListPages(names)).toBeLessThanOrEqual(names * 0.2);
});

const location = (number: number): LocationJson => ({
  name: `locations/l${number}`,
  address: { regionCode: 'CO', administrativeArea: 'Huila', locality: `L${number}` },
});
const nameOf = (number: number) => location(number).name;
/** Names from `locations/l<from>` to `locations/l<to>`. */
const names = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => nameOf(from + index));

const answered = (status: number) =>
  new StatusError({ method: 'GET', path: '/v1/locations' }, status, { fields: [] });

interface LocationsOptions {
  /** How many there are, from `locations/l1` on, ten on a page. */
  count: number;
  referenceMs?: number;
  listsForBatches?: boolean;
}

/** A service with locations, and loaders before it which know what earlier ones of this token have learned. */
function startLocations({ count, referenceMs = 0, listsForBatches = true }: LocationsOptions) {
  const service = {
    rows: Array.from({ length: count }, (_, index): LocationJson | InvalidResponseError =>
      location(index + 1),
    ),
    /** `all`, `all@token`, or a name that was searched. */
    calls: [] as string[],
    /** Before which no call is answered. */
    answering: Promise.resolve(),
    /** What a call fails with. */
    failures: {} as Record<string, Error>,
  };
  const clock = { nowMs: 1 };
  vi.spyOn(performance, 'now').mockImplementation(() => clock.nowMs);
  const pages = new CachedPages(createPageCache({ referenceMs, referenceGraceMs: 0 }));
  const callContexts = createCallContexts();

  async function read({ pageSize, pageToken, query }: LocationQuery): Promise<Page<LocationJson>> {
    const call = query ?? (pageToken === undefined ? 'all' : `all@${pageToken}`);
    service.calls.push(call);
    await service.answering;
    const failure = service.failures[call];
    if (failure !== undefined) throw failure;
    const rows = service.rows.filter(({ name }) => name.includes(query ?? ''));
    const start = Number(pageToken ?? 0);
    const end = start + pageSize;
    return { rows: rows.slice(start, end), nextPageToken: end < rows.length ? String(end) : undefined };
  }

  /** The loader of a new operation. */
  function operation() {
    const callContext = callContexts.of('token', new AbortController().signal);
    const locations = new ReferenceLoader(callContext, pages, 'locations', read, 10);
    const loader = locationLoader(locations, callContext, listsForBatches);
    return { callContext, loader };
  }

  /** What a new operation has for these names, the calls for it, and what its call log counts. */
  async function look(wanted: string[]) {
    service.calls = [];
    const { callContext, loader } = operation();
    const found = await loadAll(loader, wanted);
    const { cached, savedByList } = callContext.callLog;
    return {
      found: found.map((each) => (each instanceof Error ? each : (each?.name ?? null))),
      calls: service.calls,
      cached,
      savedByList,
    };
  }

  /** What one operation has for names that it asks for in several batches, each a moment after the one before. */
  async function lookInBatches(...batches: string[][]) {
    service.calls = [];
    const { loader } = operation();
    const found: ReturnType<typeof loadAll<LocationJson>>[] = [];
    for (const wanted of batches) {
      found.push(loadAll(loader, wanted));
      await new Promise((done) => setImmediate(done));
    }
    const locations = (await Promise.all(found)).map((batch) =>
      batch.map((each) => (each instanceof Error ? each : (each?.name ?? null))),
    );
    return { found: locations, calls: service.calls };
  }

  return { service, clock, look, lookInBatches };
}

describe('locations by name', () => {
  test('are searched one by one if there are few', async () => {
    const { look } = startLocations({ count: 15 });
    expect(await look(['locations/l1', 'locations/nowhere'])).toEqual({
      found: ['locations/l1', null],
      calls: ['locations/l1', 'locations/nowhere'],
      cached: 0,
      savedByList: 0,
    });
  });

  test('are read from the list if there are many', async () => {
    const { look } = startLocations({ count: 15 });
    const wanted = [...names(1, 9), 'locations/nowhere', 'locations/l15'];
    expect(await look(wanted)).toEqual({
      found: [...names(1, 9), null, 'locations/l15'],
      calls: ['all', 'all@10'],
      cached: 0,
      savedByList: 10,
    });
  });

  test('cost no list page after the last match', async () => {
    const { look } = startLocations({ count: 30 });
    const { calls } = await look(names(1, 10));
    expect(calls).toEqual(['all']);
  });

  test('are searched one by one if they are not on the allowed list pages', async () => {
    const { look } = startLocations({ count: 500 });
    const wanted = names(491, 500);
    expect(await look(wanted)).toEqual({
      found: wanted,
      calls: ['all', 'all@10', ...wanted],
      cached: 0,
      savedByList: 0,
    });
  });

  test('are searched if batches must not read lists', async () => {
    const { look } = startLocations({ count: 15, listsForBatches: false });
    expect((await look(names(1, 12))).calls).toEqual(names(1, 12));
  });

  test('are null if their row in the list is invalid', async () => {
    const { service, look } = startLocations({ count: 8 });
    service.rows[2] = new InvalidResponseError('no record in row 2');
    const { found, calls } = await look(names(1, 8));
    expect(found).toEqual([...names(1, 2), null, ...names(4, 8)]);
    expect(calls).toEqual(['all']);
  });
});

describe('a failed list of locations', () => {
  test.each<[string, Error]>([
    [
      'a response that is too large',
      new ResponseTooLargeError('GET /v1/locations returned more than 16 bytes'),
    ],
    [
      'an invalid response',
      new InvalidResponseError('GET /v1/locations returned a response that is not a list of locations'),
    ],
    ['503', answered(503)],
    ['408', answered(408)],
    ['499', answered(499)],
    ['524', answered(524)],
  ])('is replaced by searches: %s', async (_what, failure) => {
    const { service, look } = startLocations({ count: 15 });
    service.failures.all = failure;
    expect(await look(names(1, 5))).toEqual({
      found: names(1, 5),
      calls: ['all', ...names(1, 5)],
      cached: 0,
      savedByList: 0,
    });
  });

  test('causes no searches if it failed with 429', async () => {
    const { service, look } = startLocations({ count: 15 });
    const refused = answered(429);
    service.failures.all = refused;
    expect(await look(names(1, 5))).toEqual({
      found: Array(5).fill(refused),
      calls: ['all'],
      cached: 0,
      savedByList: 0,
    });
  });

  test('makes all locations null if it failed with 404', async () => {
    const { service, look } = startLocations({ count: 15 });
    service.failures.all = answered(404);
    expect((await look(names(1, 5))).found).toEqual(Array(5).fill(null));
  });

  test('does not discard the locations of earlier pages', async () => {
    const { service, look } = startLocations({ count: 15 });
    const refused = answered(403);
    service.failures['all@10'] = refused;
    const { found, savedByList } = await look(names(1, 12));
    expect(found).toEqual([...names(1, 10), refused, refused]);
    expect(savedByList).toBe(10);
  });
});

describe('locations that are requested while an earlier batch waits', () => {
  /** A service that responds after 20 ms. */
  function startWaiting(count: number, referenceMs = 0) {
    const started = startLocations({ count, referenceMs });
    const { promise, resolve } = Promise.withResolvers<void>();
    started.service.answering = promise;
    setTimeout(resolve, 20);
    return started;
  }

  test('are taken from the list of the earlier batch, even if they are few', async () => {
    const { lookInBatches } = startWaiting(15);
    expect(
      await lookInBatches(names(1, 12), ['locations/l15'], ['locations/l1', 'locations/nowhere']),
    ).toEqual({
      found: [names(1, 12), ['locations/l15'], ['locations/l1', null]],
      calls: ['all', 'all@10'],
    });
  });

  test('are searched if the loader stops before the page that contains them', async () => {
    const { lookInBatches } = startWaiting(30);
    expect(await lookInBatches(names(1, 10), ['locations/l25'])).toEqual({
      found: [names(1, 10), ['locations/l25']],
      calls: ['all', 'locations/l25'],
    });
  });

  test('are searched if the list fails with 503', async () => {
    const { service, lookInBatches } = startWaiting(15);
    service.failures.all = answered(503);
    expect(await lookInBatches(names(1, 5), ['locations/l15'])).toEqual({
      found: [names(1, 5), ['locations/l15']],
      calls: ['all', ...names(1, 5), 'locations/l15'],
    });
  });

  test('are not searched if the list fails with 429', async () => {
    const { service, lookInBatches } = startWaiting(15);
    const refused = answered(429);
    service.failures.all = refused;
    expect(await lookInBatches(names(1, 5), ['locations/l15'])).toEqual({
      found: [Array(5).fill(refused), [refused]],
      calls: ['all'],
    });
  });

  test('share a pending search of the earlier batch', async () => {
    const { lookInBatches } = startWaiting(500);
    expect((await lookInBatches(names(1, 2), names(2, 4))).calls).toEqual(names(1, 4));
  });
});

describe('cached data of earlier operations', () => {
  test('serves any number of names without a call', async () => {
    const { look } = startLocations({ count: 15, referenceMs: 1_000 });
    await look(names(1, 15));
    expect(await look(names(1, 15))).toEqual({
      found: names(1, 15),
      calls: [],
      cached: 2,
      savedByList: 15,
    });
    expect(await look(['locations/l15'])).toEqual({
      found: ['locations/l15'],
      calls: [],
      cached: 2,
      savedByList: 1,
    });
    expect((await look(['locations/nowhere'])).found).toEqual([null]);
  });

  test('serves the locations of earlier searches', async () => {
    const { look } = startLocations({ count: 15, referenceMs: 1_000 });
    await look(names(1, 2));
    expect(await look(names(1, 3))).toEqual({
      found: names(1, 3),
      calls: ['locations/l3'],
      cached: 2,
      savedByList: 0,
    });
    expect(await look(names(1, 3))).toMatchObject({ found: names(1, 3), calls: [], cached: 3 });
  });

  test('serves many locations of earlier searches without another list page', async () => {
    const { look } = startLocations({ count: 100, referenceMs: 1_000 });
    expect((await look(names(51, 60))).calls).toEqual(['all', 'all@10', ...names(51, 60)]);
    expect(await look(names(51, 60))).toMatchObject({ found: names(51, 60), calls: [] });
  });

  test('does not include searches without a result', async () => {
    const { service, look } = startLocations({ count: 15, referenceMs: 1_000 });
    expect((await look(names(16, 17))).found).toEqual([null, null]);
    service.rows.push(location(16), location(17));
    expect((await look(names(16, 17))).found).toEqual(names(16, 17));
  });

  test('gets the locations of another list page if that page saves calls', async () => {
    const { look } = startLocations({ count: 35, referenceMs: 1_000 });
    await look(names(1, 10));
    expect(await look([...names(1, 10), ...names(21, 22)])).toMatchObject({
      calls: names(21, 22),
      cached: 1,
      savedByList: 10,
    });
    // Five of these nine need a call, which is worth one page.
    expect(await look([...names(1, 4), ...names(11, 15)])).toMatchObject({
      calls: ['all@10'],
      cached: 1,
      savedByList: 9,
    });
  });

  test('is read again after it expires', async () => {
    const { clock, look } = startLocations({ count: 15, referenceMs: 1_000 });
    await look(names(1, 15));
    clock.nowMs = 1_002;
    expect((await look(names(1, 15))).calls).toEqual(['all', 'all@10']);
  });
});
