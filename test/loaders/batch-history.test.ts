import { describe, expect, test } from 'vitest';
import { createBatchHistory } from '../../src/loaders/batch-history.ts';
import { nextPageSize } from '../../src/loaders/batch-plan.ts';
import { createCallTimes } from '../../src/loaders/call-times.ts';
import { createDepths } from '../../src/loaders/depths.ts';
import { createFollowingHistory } from '../../src/loaders/following-history.ts';
import { createRecordShapes } from '../../src/loaders/record-shapes.ts';
import { InvalidResponseError } from '../../src/rest/errors.ts';

/** The first so many rows. */
const rows = (count: number, from = 0) => Array.from({ length: count }, (_, index) => from + index);

describe('how deep ids are', () => {
  test('is taken to be within two rows for each at first, evenly', () => {
    const { shareWithin } = createDepths();
    expect([0, 0.5, 1, 2, 100].map(shareWithin)).toEqual([0, 0.25, 0.5, 1, 1]);
  });

  test('is what batches have shown, soon', () => {
    const depths = createDepths();
    depths.saw(75, rows(75));
    expect(depths.shareWithin(1)).toBeCloseTo((0.5 * 0.95 * 0.5 + 1) / (0.5 * 0.95 + 1));
    for (let batch = 0; batch < 20; batch += 1) depths.saw(75, rows(75));
    expect(depths.shareWithin(1)).toBeGreaterThan(0.98);
    expect(depths.shareWithin(0.25)).toBeCloseTo(0.25, 1);
  });

  test('counts what was not found as deeper than any page goes', () => {
    const depths = createDepths();
    for (let batch = 0; batch < 100; batch += 1) depths.saw(10, rows(4));
    expect(depths.shareWithin(128)).toBeCloseTo(0.4);
  });

  test('tells ids that are far down from those that are nowhere', () => {
    const depths = createDepths();
    for (let batch = 0; batch < 100; batch += 1) depths.saw(10, rows(10, 500));
    expect(depths.shareWithin(48)).toBeCloseTo(0);
    expect(depths.shareWithin(64)).toBeCloseTo(1);
  });

  test('is forgotten by a batch of which the list has next to nothing', () => {
    const depths = createDepths();
    for (let batch = 0; batch < 20; batch += 1) depths.saw(75, rows(75));
    depths.saw(75, rows(7));
    expect(depths.shareWithin(2)).toBeCloseTo(0.45, 1);
    depths.saw(75, []);
    expect(depths.shareWithin(2)).toBeLessThan(0.05);
  });
});

describe('how long calls take', () => {
  test('is unknown at first, but for what they are to each other', () => {
    expect(createCallTimes().expected()).toEqual({ getMs: 1, pageMs: 1, rowMs: 1 / 200 });
  });

  test('is told by gets, in as many turns as they take', () => {
    const times = createCallTimes();
    times.sawGets(1, 16, 20);
    times.sawGets(17, 16, 40);
    times.sawGets(0, 16, 1_000);
    expect(times.expected()).toEqual({ getMs: 20, pageMs: 20, rowMs: 0.1 });
  });

  test('is told by pages of one size as far as it can be', () => {
    const times = createCallTimes();
    times.sawPage(200, 40);
    expect(times.expected()).toEqual({ getMs: 20, pageMs: 20, rowMs: 0.1 });
    times.sawGets(1, 16, 10);
    expect(times.expected()).toEqual({ getMs: 10, pageMs: 10, rowMs: 0.15 });
    // A page that is quicker than a get has rows for nothing.
    times.sawGets(1, 16, 1_000);
    expect(times.expected()).toMatchObject({ pageMs: 40, rowMs: 0 });
  });

  test('is told by pages of several sizes, for a page and for its rows', () => {
    const times = createCallTimes();
    for (const count of [100, 10, 1_000, 300]) times.sawPage(count, 25 + count / 50);
    const { pageMs, rowMs } = times.expected();
    expect(pageMs).toBeCloseTo(25);
    expect(rowMs).toBeCloseTo(1 / 50);
  });

  test('follows what has changed', () => {
    const times = createCallTimes();
    for (let batch = 0; batch < 50; batch += 1) times.sawGets(1, 16, 20);
    for (let batch = 0; batch < 50; batch += 1) times.sawGets(1, 16, 100);
    expect(times.expected().getMs).toBeGreaterThan(90);
  });

  test('is a time even of empty pages and of pages that took longer the fewer rows they had', () => {
    const times = createCallTimes();
    times.sawPage(0, 20);
    expect(times.expected()).toEqual({ getMs: 20, pageMs: 20, rowMs: 0 });
    times.sawPage(1_000, 5);
    expect(times.expected().rowMs).toBe(0);
  });
});

describe('the list is tried again', () => {
  test('for the twentieth batch that went without it', () => {
    const history = createBatchHistory(() => 0);
    history.sawBatch(true);
    for (let batch = 1; batch < 20; batch += 1) {
      expect(history.isTrialDue(), `batch ${batch}`).toBe(false);
      history.sawBatch(false);
    }
    expect(history.isTrialDue()).toBe(true);
    history.sawBatch(true);
    expect(history.isTrialDue()).toBe(false);
  });

  test('after a minute', () => {
    let now = 0;
    const history = createBatchHistory(() => now);
    history.sawBatch(true);
    now = 59_999;
    history.sawBatch(false);
    expect(history.isTrialDue()).toBe(false);
    now = 60_000;
    expect(history.isTrialDue()).toBe(true);
  });
});

test('one batch in vain is enough to leave the list alone, and one that was answered to go back to it', () => {
  const history = createBatchHistory(() => 0);
  const start = { asked: 100, missing: 100, rowsRead: 0, pages: 0 };
  expect(nextPageSize(start, history.known(16, 1_000))).toBe(200);
  history.depths.saw(100, []);
  expect(nextPageSize(start, history.known(16, 1_000))).toBeUndefined();
  history.depths.saw(100, rows(100));
  expect(nextPageSize(start, history.known(16, 1_000))).toBe(100);
});

describe('rows of a list lack', () => {
  const row = { name: 'a', updateTime: '1', recipient: { city: 'Pasto' }, tags: [1], note: null };

  test.each([
    ['nothing when they are what gets are', row, row, false],
    ['nothing when they have more', row, { name: 'a', updateTime: '1' }, false],
    ['nothing when a list in them is shorter, or a value another', row, { ...row, tags: [1, 2] }, false],
    ['nothing when what is more is empty', row, { ...row, cost: null, label: undefined }, false],
    ['a field', row, { ...row, cost: 1 }, true],
    ['a field of a field', row, { ...row, recipient: { city: 'Pasto', phone: '1' } }, true],
    ['what is null in them', row, { ...row, note: 'x' }, true],
    ['even their time', { name: 'a' }, { name: 'a', updateTime: '1' }, true],
    ['nothing when the record has changed in between', row, { ...row, updateTime: '2', cost: 1 }, false],
    ['nothing when it is another record', row, { ...row, name: 'b', cost: 1 }, false],
  ])('%s', (_what, listed, gotten, areLacking) => {
    const [first, last] = [createRecordShapes(), createRecordShapes()];
    first.sawRows([new InvalidResponseError('broken'), listed]);
    first.sawGet(gotten);
    last.sawGet(gotten);
    last.sawRows([listed]);
    expect([first.areRowsLacking, last.areRowsLacking]).toEqual([areLacking, areLacking]);
  });

  test('what one of them lacks, for good', () => {
    const shapes = createRecordShapes();
    shapes.sawGet({ ...row, name: 'a 30', cost: 1 } as typeof row);
    shapes.sawRows(rows(40).map((index) => ({ ...row, name: `a ${index}` })));
    expect(shapes.areRowsLacking).toBe(true);
    shapes.sawGet(row);
    shapes.sawRows([row]);
    expect(shapes.areRowsLacking).toBe(true);
  });
});

describe('what follows a list of orders', () => {
  test('is unknown until it has been looked for in its own list', () => {
    const seen = createFollowingHistory().of({ pageSize: 100 });
    seen.sawNames(100, 75);
    expect(seen.expected()).toBeUndefined();
    seen.sawFound(75, rows(75));
    expect(seen.expected()?.idsPerRow).toBe(0.75);
    expect(seen.expected()?.shareWithin(1)).toBeGreaterThan(0.8);
  });

  test('is known by its filters, but for the text of a search', () => {
    const history = createFollowingHistory();
    history.of({ pageSize: 1, status: ['READY'] }).sawNames(10, 1);
    history.of({ pageSize: 1, search: 'Lucía' }).sawFound(1, []);
    expect(history.of({ pageSize: 5, status: ['READY'], pageToken: 't' })).toBe(
      history.of({ pageSize: 1, status: ['READY'] }),
    );
    expect(history.of({ pageSize: 5, search: 'Pedro' })).toBe(history.of({ pageSize: 1, search: 'Lucía' }));
    const kinds = [{}, { status: ['READY'] }, { search: 'x' }, { status: ['READY', 'NEW'] }];
    expect(new Set(kinds.map((kind) => history.of({ pageSize: 1, ...kind }))).size).toBe(4);
  });

  test('is forgotten for the kinds that have not been asked for for longest', () => {
    const history = createFollowingHistory();
    const first = history.of({ pageSize: 1, status: ['0'] });
    for (const index of rows(49, 1)) history.of({ pageSize: 1, status: [String(index)] });
    expect(history.of({ pageSize: 1, status: ['0'] })).toBe(first);
    for (const index of rows(50, 50)) history.of({ pageSize: 1, status: [String(index)] });
    expect(history.of({ pageSize: 1, status: ['0'] })).not.toBe(first);
  });
});
