import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pageSizeAhead } from '../../src/loaders/ahead-plan.ts';
import {
  type BatchState,
  isAsExpected,
  type Knowledge,
  nextPageSize,
  patienceMs,
  trialPageSize,
} from '../../src/loaders/batch-plan.ts';
import { createDepths } from '../../src/loaders/depths.ts';

/** What is taken for granted while nothing is known, with a get for a unit of time. */
const guessed: Knowledge = {
  getMs: 1,
  pageMs: 1,
  rowMs: 1 / 200,
  isGuess: false,
  callsAtOnce: 16,
  maxPageSize: 1_000,
  shareWithin: (rowsPerId) => createDepths().shareWithin(rowsPerId),
};

/** Every id lies within so many rows for each, or this share of the ids does and the others nowhere. */
const within = (depth: number, share = 1) => ({
  shareWithin: (rowsPerId: number) => (rowsPerId >= depth ? share : 0),
});

const start = (asked: number): BatchState => ({ asked, missing: asked, rowsRead: 0, pages: 0 });

describe('the next page of a batch', () => {
  test.each<[string, number, Partial<Knowledge>, number | undefined]>([
    ['is none for four ids', 4, {}, undefined],
    ['has two rows for each of five, as long as nothing is known', 5, {}, 10],
    ['has two rows for each of 100', 100, {}, 200],
    ['is the largest there is for a thousand', 1_000, {}, 1_000],
    ['has as many rows as ids where that has been enough', 75, within(1), 75],
    ['has more where ids are deeper', 75, within(4), 300],
    ['is none where rows take too long to get there', 20, { ...within(24), rowMs: 1 / 20 }, undefined],
    ['is one for the same ids where rows are quick', 20, { ...within(24), rowMs: 1 / 1_000 }, 480],
    ['is none where no id is in the list', 100, within(1, 0), undefined],
    ['is one where a third is', 100, within(1, 1 / 3), 100],
    ['is none where a hundredth is', 100, within(1, 1 / 100), undefined],
    [
      'is none where less than a tenth is, even for nothing',
      100,
      { ...within(1, 0.09), pageMs: 0, rowMs: 0 },
      undefined,
    ],
    ['is none where a page takes as long as all gets', 20, { pageMs: 10 }, undefined],
    ['is one for the same where gets wait for each other', 20, { pageMs: 10, callsAtOnce: 1 }, 40],
    ['is one at equal cost', 16, { ...within(1), pageMs: 4.75, rowMs: 0 }, 16],
    ['is none beyond that', 16, { ...within(1), pageMs: 4.76, rowMs: 0 }, undefined],
    [
      'is the first of several where ids are deeper than a page goes',
      50,
      { ...within(1), maxPageSize: 30 },
      30,
    ],
    [
      'is none where these are more than a tenth of the ids',
      50,
      { ...within(4), maxPageSize: 30 },
      undefined,
    ],
  ])('%s', (_what, asked, knowledge, pageSize) => {
    expect(nextPageSize(start(asked), { ...guessed, ...knowledge })).toBe(pageSize);
  });

  test('follows where what is missing is expected further down', () => {
    const deep = { ...guessed, ...within(1.5) };
    const state = { asked: 1_000, missing: 500, rowsRead: 1_000, pages: 1 };
    expect(nextPageSize(state, deep)).toBe(500);
    expect(nextPageSize(state, { ...guessed, ...within(1) })).toBeUndefined();
  });

  test('is none once there are as many pages as a tenth of what is missing', () => {
    const state = { asked: 1_000, missing: 30, rowsRead: 100, pages: 2 };
    const lasting = { ...guessed, rowMs: 0, ...within(0.5) };
    expect(nextPageSize(state, lasting)).toBe(400);
    expect(nextPageSize({ ...state, pages: 3 }, lasting)).toBeUndefined();
    expect(nextPageSize({ ...state, missing: 4, pages: 0 }, lasting)).toBeUndefined();
  });

  test('never makes the calls of a batch more than 1.2 times its ids, whatever a list has', () => {
    const anyKnowledge = fc.record({
      getMs: fc.double({ min: 0.01, max: 1_000, noNaN: true }),
      pageMs: fc.double({ min: 0.01, max: 1_000, noNaN: true }),
      rowMs: fc.double({ min: 0, max: 10, noNaN: true }),
      callsAtOnce: fc.integer({ min: 1, max: 100 }),
      maxPageSize: fc.integer({ min: 1, max: 1_000 }),
      depth: fc.double({ min: 0.1, max: 200, noNaN: true }),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    // How many ids each page in turn finds, and how many rows it gives of those asked for.
    const anyPages = fc.array(fc.tuple(fc.nat({ max: 400 }), fc.double({ min: 0, max: 1, noNaN: true })));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), anyKnowledge, anyPages, (asked, known, pages) => {
        const knowledge = { ...known, isGuess: false, ...within(known.depth, known.share) };
        const state = start(asked);
        const list = pages.values();
        for (let goesOn = true; goesOn; ) {
          const size =
            nextPageSize(state, knowledge) ?? (state.pages === 0 && trialPageSize(state, knowledge));
          if (size === undefined || size === false) break;
          const [most = 0, part = 1] = list.next().value ?? [];
          const rows = Math.round(size * part);
          const found = Math.min(most, state.missing, rows);
          goesOn = isAsExpected({ found, rows }, state, knowledge);
          state.pages += 1;
          state.missing -= found;
          state.rowsRead += rows;
        }
        expect(state.pages + state.missing).toBeLessThanOrEqual(1.2 * asked);
      }),
    );
  });
});

describe('it is asked how to go on after a page', () => {
  test.each<[string, { found: number; rows: number; missing: number }, Partial<Knowledge>, boolean]>([
    ['with all of five', { found: 5, rows: 10, missing: 5 }, {}, true],
    ['not with none', { found: 0, rows: 200, missing: 100 }, {}, false],
    ['not with one of five', { found: 1, rows: 10, missing: 5 }, {}, false],
    ['not with a few of many', { found: 4, rows: 200, missing: 100 }, {}, false],
    ['with a tenth of many', { found: 10, rows: 200, missing: 100 }, {}, true],
    ['not with so many where it was slow', { found: 10, rows: 200, missing: 100 }, { pageMs: 5 }, false],
    [
      'with so many where no more was expected',
      { found: 10, rows: 200, missing: 100 },
      { pageMs: 5, ...within(2, 0.2) },
      true,
    ],
    ['with none where none was expected yet', { found: 0, rows: 200, missing: 100 }, within(3), true],
  ])('%s', (_what, { missing, ...page }, knowledge, goesOn) => {
    expect(isAsExpected(page, start(missing), { ...guessed, ...knowledge })).toBe(goesOn);
  });
});

test('a trial looks at sixteen rows for each id, as far as a page goes', () => {
  expect(trialPageSize(start(4), guessed)).toBeUndefined();
  expect(trialPageSize(start(5), guessed)).toBe(80);
  expect(trialPageSize(start(500), guessed)).toBe(1_000);
});

describe('a page that is asked for ahead', () => {
  test.each<[string, number, number, object, Partial<Knowledge>, number | undefined]>([
    ['has a quarter more rows than are expected to be wanted', 100, 0.75, within(1), {}, 94],
    ['is none where nothing follows', 100, 0, within(1), {}, undefined],
    ['is none where few do, which a page in vain would not be worth', 5, 0.75, within(1), {}, undefined],
    ['is none where less than half is answered', 100, 0.75, within(1, 0.49), {}, undefined],
    ['is one where half is', 100, 0.75, within(1, 0.5), {}, 94],
    ['is one for ids for which none would be worth waiting', 100, 0.2, within(1), { pageMs: 8 }, 25],
    ['is no longer than pages are', 1_000, 0.9, within(1), {}, 1_000],
    [
      'is none where it takes much longer than what it comes with',
      10,
      0.5,
      within(64),
      { rowMs: 1 },
      undefined,
    ],
  ])(
    '%s',
    (_what, rows, idsPerRow, { shareWithin }: { shareWithin?: Knowledge['shareWithin'] }, more, size) => {
      const following = { idsPerRow, rowsBefore: 0, shareWithin: shareWithin ?? guessed.shareWithin };
      expect(pageSizeAhead(rows, following, { ...guessed, ...more })).toBe(size);
    },
  );
});

test('a page that is asked for ahead begins at the top of its list, however far down the orders are', () => {
  const following = { idsPerRow: 0.75, rowsBefore: 200, ...within(1) };
  // 150 rows come before the 75 wanted.
  expect(pageSizeAhead(100, following, guessed)).toBe(282);
  expect(pageSizeAhead(100, { ...following, rowsBefore: 2_000 }, guessed)).toBeUndefined();
});

describe('a page is waited for', () => {
  const known = { ...guessed, getMs: 20, pageMs: 22, rowMs: 0.1 };

  test('for twice as long as gets for all would take, or itself', () => {
    expect(patienceMs(75, 75, known)).toBe(187.5);
    expect(patienceMs(1_000, 75, known)).toBe(244);
  });

  test('for 50 ms at least, so that a pause of this process makes none late', () => {
    expect(patienceMs(75, 4, known)).toBe(59);
    expect(patienceMs(4, 4, { ...known, getMs: 1, pageMs: 1 })).toBe(50);
  });

  test('for a second while nothing is known of the service', () => {
    expect(patienceMs(75, 75, { ...known, isGuess: true })).toBe(1_000);
  });
});
