import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  CallTimes,
  type CostModel,
  maxPagesFor,
  planFor,
  timeLimitMs,
  trialFor,
} from '../../../src/loaders/list-batch/planner.ts';

interface Known {
  /** The time of a GET in milliseconds. 1 by default. */
  getMs?: number;
  /** The time of a page without its rows. By default, the time of a GET. */
  pageMs?: number;
  callsAtOnce?: number;
  maxPageSize?: number;
}

function calls({ getMs = 1, pageMs, callsAtOnce = 16, maxPageSize = 1_000 }: Known = {}): CostModel {
  const times = new CallTimes();
  times.observeGet(getMs);
  if (pageMs !== undefined) times.observePage(0, pageMs);
  return { times, callsAtOnce, maxPageSize };
}

const within = (depth: number, share = 1, rowsBefore = 0) => ({ rowsBefore, hitDepth: { depth, share } });

describe('the rows to read for a batch', () => {
  test.each<[string, number, ReturnType<typeof within>, Known, number | undefined]>([
    ['are none for four ids', 4, within(1), {}, undefined],
    ['are as many as ids where those were on top', 75, within(1), {}, 75],
    ['are more where they were deeper', 75, within(4), {}, 300],
    ['are rounded up, so that equal batches ask for equal pages', 75, within(1.6), {}, 150],
    ['are not rounded up for next to nothing', 75, within(1.02), {}, 75],
    ['begin at the top, however far down the ids are', 100, within(1, 1, 150), {}, 250],
    ['are none where they take too long to get there', 5, within(64), {}, undefined],
    ['are none where no id is in the list', 100, within(1, 0), {}, undefined],
    ['are some where a third is', 100, within(1, 1 / 3), {}, 100],
    ['are none where less than a tenth is, even for nothing', 100, within(1, 0.09), { pageMs: 0 }, undefined],
    ['are none where a page takes as long as all gets', 20, within(2), { pageMs: 10 }, undefined],
    [
      'are some for the same where gets wait for each other',
      20,
      within(2),
      { pageMs: 10, callsAtOnce: 1 },
      40,
    ],
    ['are several pages where ids are deeper than one goes', 1_000, within(2), {}, 2_000],
    ['are no more pages than one for each ten ids', 50, within(4), { maxPageSize: 30 }, 150],
  ])('%s', (_what, asked, expected, known, rows) => {
    expect(planFor(asked, expected, calls(known))?.rows).toBe(rows);
  });

  test('of a trial are sixteen for each id, as far as a page goes', () => {
    expect([4, 5, 500].map((asked) => trialFor(asked, calls())?.rows)).toEqual([undefined, 80, 1_000]);
  });

  test('cost at most 1.2 calls an id, whatever is found', () => {
    fc.assert(
      fc.property(fc.integer({ min: 5, max: 2_000 }), (asked) => {
        expect(maxPagesFor(asked) + asked).toBeLessThanOrEqual(1.2 * asked);
      }),
    );
  });
});

describe('a page is waited for', () => {
  test('twice as long as gets for all would take, or the page', () => {
    expect(timeLimitMs(75, 75, calls({ getMs: 200 }))).toBe(1_875);
    expect(timeLimitMs(200, 75, calls({ getMs: 200, pageMs: 1_800 }))).toBe(4_000);
  });

  test('for 200 ms at least, and for a second while no call was seen', () => {
    expect(timeLimitMs(4, 4, calls())).toBe(200);
    expect(timeLimitMs(4, 4, { ...calls(), times: new CallTimes() })).toBe(1_000);
  });
});

describe('how long calls take', () => {
  test('is unknown at first, but for what they are to each other', () => {
    const times = new CallTimes();
    expect([times.isKnown, times.getMs, times.msOfPage(200)]).toEqual([false, 1, 2]);
  });

  test('is learned from GETs, and from pages as far as possible', () => {
    const times = new CallTimes();
    times.observePage(200, 40);
    expect([times.isKnown, times.getMs, times.msOfPage(200)]).toEqual([true, 20, 40]);
    times.observeGet(10);
    expect(times.getMs).toBe(15);
    times.observePage(0, 5);
    expect(times.msOfPage(0)).toBe(12.5);
  });

  test('follows what has changed, down sooner than up', () => {
    const times = new CallTimes();
    times.observeGet(20);
    for (let count = 0; count < 40; count += 1) times.observeGet(100);
    expect(times.getMs).toBeGreaterThan(95);
    for (let count = 0; count < 5; count += 1) times.observeGet(20);
    expect(times.getMs).toBeLessThan(25);
  });
});

test('a page that was quick for its rows does not hide that pages have become slow', () => {
  const { times } = calls({ getMs: 20 });
  times.observePage(1_000, 60);
  for (let page = 0; page < 60; page += 1) times.observePage(10, 190);
  expect(times.msOfPage(10)).toBeGreaterThan(150);
});
