import { describe, expect, test } from 'vitest';
import { createBatchHistory } from '../../src/loaders/batch-history.ts';
import { learn, partsOf, shareWithin } from '../../src/loaders/batch-parts.ts';
import { nextPageSize } from '../../src/loaders/batch-plan.ts';
import { createCallTimes } from '../../src/loaders/call-times.ts';
import { createDepthGuess } from '../../src/loaders/depth-guess.ts';
import { createDepths } from '../../src/loaders/depths.ts';
import { createFollowingGuesses, createFollowingHistory } from '../../src/loaders/following-history.ts';
import { createListTrouble } from '../../src/loaders/list-trouble.ts';
import { createListWalk } from '../../src/loaders/list-walk.ts';
import { createRowCheck, lacksFields } from '../../src/loaders/row-check.ts';
import { createWhereabouts } from '../../src/loaders/whereabouts.ts';

/** The first so many rows. */
const rows = (count: number, from = 0) => Array.from({ length: count }, (_, index) => from + index);

describe('how deep ids are', () => {
  /** A batch of which these rows had an id, of as many as were read. */
  const search = (asked: number, indices: number[], rowsRead = Number.POSITIVE_INFINITY) => ({
    asked,
    indices,
    rowsRead,
  });

  test('is taken to be within two rows for each at first, evenly', () => {
    const depths = createDepths();
    expect([0, 0.5, 1, 2, 100].map((rowsPerId) => depths.shareWithin(rowsPerId))).toEqual([
      0, 0.25, 0.5, 1, 1,
    ]);
  });

  test('is what batches have shown, soon', () => {
    const depths = createDepths();
    depths.saw(search(75, rows(75)));
    expect(depths.shareWithin(1)).toBeCloseTo((0.5 * 0.95 * 0.5 + 1) / (0.5 * 0.95 + 1));
    for (let batch = 0; batch < 20; batch += 1) depths.saw(search(75, rows(75)));
    expect(depths.shareWithin(1)).toBeGreaterThan(0.98);
    expect(depths.shareWithin(0.25)).toBeCloseTo(0.25, 1);
  });

  test('counts what the whole list has not as deeper than any page goes', () => {
    const depths = createDepths();
    for (let batch = 0; batch < 100; batch += 1) depths.saw(search(10, rows(4)));
    expect(depths.shareWithin(128)).toBeCloseTo(0.4);
  });

  test('takes half of what was not read to be anywhere deeper', () => {
    const depths = createDepths();
    for (let batch = 0; batch < 100; batch += 1) depths.saw(search(100, rows(50), 200));
    expect([2, 3, 128].map((depth) => Math.round(100 * depths.shareWithin(depth)))).toEqual([50, 52, 75]);
  });

  test('halves what is taken to be deeper with each batch that was missed, whether or not it was looked for there', () => {
    const depths = createDepths();
    const shares: number[] = [];
    for (let batch = 0; batch < 5; batch += 1) {
      depths.saw(search(100, [], 200));
      shares.push(Math.round(100 * depths.shareWithin(128)));
    }
    // With what is left of what was taken to be there before.
    expect(shares).toEqual([51, 26, 14, 7, 4]);
    depths.saw(search(100, [], 100_000));
    expect(depths.shareWithin(128)).toBeCloseTo(0, 1);
  });

  test('tells ids that are far down from those that are nowhere', () => {
    const depths = createDepths();
    for (let batch = 0; batch < 100; batch += 1) depths.saw(search(10, rows(10, 500)));
    expect(depths.shareWithin(48)).toBeCloseTo(0);
    expect(depths.shareWithin(64)).toBeCloseTo(1);
  });

  test('is forgotten by a batch of which the list has next to nothing', () => {
    const depths = createDepths();
    for (let batch = 0; batch < 20; batch += 1) depths.saw(search(75, rows(75)));
    depths.saw(search(75, rows(7)));
    expect(depths.shareWithin(2)).toBeCloseTo(0.45, 1);
    depths.saw(search(75, []));
    expect(depths.shareWithin(2)).toBeLessThan(0.05);
  });
});

describe('how deep the ids are taken to be of a tenant that has shown none', () => {
  /** A first batch of 100 ids, from this row on. */
  const batch = (from: number) => ({ asked: 100, indices: rows(100, from), rowsRead: 1_000 });
  type Search = ReturnType<typeof batch>;
  const unlearned = [0.25, 0.5, 1];
  const shares = (guess: ReturnType<typeof createDepthGuess>) => {
    const depths = createDepths(guess);
    return [0.5, 1, 2].map((rowsPerId) => Number(depths.shareWithin(rowsPerId).toFixed(2)));
  };
  const show = (guess: ReturnType<typeof createDepthGuess>, tenants: number, search: Search) => {
    for (let tenant = 0; tenant < tenants; tenant += 1) createDepths(guess).saw(search);
  };

  test('goes by the first batches of others, once there are twenty', () => {
    const guess = createDepthGuess();
    show(guess, 19, batch(0));
    expect(shares(guess)).toEqual(unlearned);
    show(guess, 1, batch(0));
    expect(shares(guess)).toEqual([0.5, 1, 1]);
  });

  test('goes by no later batch of a tenant', () => {
    const guess = createDepthGuess();
    const one = createDepths(guess);
    for (let count = 0; count < 100; count += 1) one.saw(batch(300));
    expect(shares(guess)).toEqual(unlearned);
    show(guess, 19, batch(0));
    for (let count = 0; count < 100; count += 1) one.saw(batch(300));
    // Of the twentieth of them there is left what is left after 19 others.
    expect(shares(guess)).toEqual([0.49, 0.97, 0.97]);
  });

  test('is soon outweighed by what the tenant shows itself', () => {
    const guess = createDepthGuess();
    show(guess, 20, batch(0));
    const own = createDepths(guess);
    own.saw(batch(300));
    expect(own.shareWithin(1)).toBeCloseTo((0.5 * 0.95) / (0.5 * 0.95 + 1));
  });

  test.each<[string, Search]>([
    ['hardly any were found', { asked: 100, indices: rows(49), rowsRead: 200 }],
    ['none were found', { asked: 100, indices: [], rowsRead: Number.POSITIVE_INFINITY }],
    ['there were too few for a page', { asked: 4, indices: rows(4), rowsRead: 200 }],
  ])('goes by no batch of which %s, which says nothing of how deep others are', (_what, search) => {
    const guess = createDepthGuess();
    show(guess, 40, search);
    expect(shares(guess)).toEqual(unlearned);
    show(guess, 20, batch(0));
    show(guess, 1_000, search);
    expect(shares(guess)).toEqual([0.5, 1, 1]);
  });

  test('never says that ids are nowhere, only how deep those were that were found', () => {
    const guess = createDepthGuess();
    show(guess, 20, { asked: 100, indices: rows(60), rowsRead: 200 });
    expect(shares(guess)).toEqual([0.83, 1, 1]);
  });

  test('is left out by each fiftieth, which shows whether it still holds', () => {
    const guess = createDepthGuess();
    show(guess, 20, batch(0));
    const seen = Array.from({ length: 150 }, () => shares(guess).join());
    expect(seen.flatMap((share, index) => (share === unlearned.join() ? [index] : []))).toEqual([
      49, 99, 149,
    ]);
    const deeper = batch(14);
    show(guess, 49, deeper);
    expect(shares(guess)).toEqual(unlearned);
    show(guess, 50, deeper);
    expect(createDepths(guess).shareWithin(1)).toBeLessThan(1);
    expect(createDepths(guess).shareWithin(1.25)).toBeCloseTo(1);
  });

  test('is another for each kind of list, whatever the order of its filters', () => {
    const guesses = createFollowingGuesses();
    const of = (status: string[]) =>
      createFollowingHistory(() => 0, guesses).of({ pageSize: 1, status }).whereabouts;
    for (let tenant = 0; tenant < 20; tenant += 1) of(['READY', 'NEW']).saw(batch(0));
    expect(of(['NEW', 'READY', 'NEW']).shareWithin(1)).toBeCloseTo(1);
    expect(of(['READY']).shareWithin(1)).toBe(0.5);
  });

  test('goes by a kind of list of a tenant once, also where the tenant has forgotten it', () => {
    const guesses = createFollowingGuesses();
    const history = createFollowingHistory(() => 0, guesses);
    for (let count = 0; count < 40; count += 1) {
      history.of({ pageSize: 1, status: ['READY'] }).whereabouts.saw(batch(0));
      for (const index of rows(50)) history.of({ pageSize: 1, status: [String(index)] });
    }
    const other = createFollowingHistory(() => 0, guesses);
    expect(other.of({ pageSize: 1, status: ['READY'] }).whereabouts.shareWithin(1)).toBe(0.5);
  });
});

describe('how long calls take', () => {
  test('is unknown at first, but for what they are to each other', () => {
    expect(createCallTimes().expected()).toEqual({ getMs: 1, pageMs: 1, rowMs: 1 / 200, isGuess: true });
  });

  test('is told by gets', () => {
    const times = createCallTimes();
    times.sawGet(20);
    times.sawGet(20);
    expect(times.expected()).toEqual({ getMs: 20, pageMs: 20, rowMs: 0.1, isGuess: false });
  });

  test('is told by pages of one size as far as it can be', () => {
    const times = createCallTimes();
    times.sawPage(200, 40);
    expect(times.expected()).toEqual({ getMs: 20, pageMs: 20, rowMs: 0.1, isGuess: false });
    times.sawGet(10);
    expect(times.expected()).toEqual({ getMs: 10, pageMs: 10, rowMs: 0.15, isGuess: false });
    // A page that is quicker than a get has rows for nothing.
    times.sawGet(1_000);
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
    for (let batch = 0; batch < 50; batch += 1) times.sawGet(20);
    for (let batch = 0; batch < 50; batch += 1) times.sawGet(100);
    expect(times.expected().getMs).toBeGreaterThan(90);
  });

  test('is a time even of empty pages and of pages that took longer the fewer rows they had', () => {
    const times = createCallTimes();
    times.sawPage(0, 20);
    expect(times.expected()).toEqual({ getMs: 20, pageMs: 20, rowMs: 0, isGuess: false });
    times.sawPage(1_000, 5);
    expect(times.expected().rowMs).toBe(0);
  });
});

describe('the list is tried again', () => {
  const search = { asked: 5, indices: [], rowsRead: 10 };

  test('for the twentieth batch that went without it', () => {
    const whereabouts = createWhereabouts(() => 0);
    whereabouts.saw(search);
    for (let batch = 1; batch < 20; batch += 1) {
      expect(whereabouts.isTrialDue(), `batch ${batch}`).toBe(false);
      whereabouts.wentWithout();
    }
    expect(whereabouts.isTrialDue()).toBe(true);
    whereabouts.saw(search);
    expect(whereabouts.isTrialDue()).toBe(false);
  });

  test('after ten minutes', () => {
    let now = 0;
    const whereabouts = createWhereabouts(() => now);
    whereabouts.saw(search);
    now = 599_999;
    whereabouts.wentWithout();
    expect(whereabouts.isTrialDue()).toBe(false);
    now = 600_000;
    expect(whereabouts.isTrialDue()).toBe(true);
  });
});

test('one batch in vain is enough to leave the list alone, and one that was answered to go back to it', () => {
  const { times, whereabouts } = createBatchHistory(undefined, () => 0);
  const start = { asked: 100, missing: 100, rowsRead: 0, pages: 0 };
  const shareWithin = (rowsPerId: number) => whereabouts.shareWithin(rowsPerId);
  const known = () => ({ ...times.expected(), callsAtOnce: 16, maxPageSize: 1_000, shareWithin });
  expect(nextPageSize(start, known())).toBe(200);
  whereabouts.saw({ asked: 100, indices: [], rowsRead: Number.POSITIVE_INFINITY });
  expect(nextPageSize(start, known())).toBeUndefined();
  whereabouts.saw({ asked: 100, indices: rows(100), rowsRead: 100 });
  expect(nextPageSize(start, known())).toBe(100);
});

describe('a row lacks', () => {
  const row = { name: 'a', updateTime: '1', recipient: { city: 'Pasto' }, tags: [1], note: null };

  test.each([
    ['nothing when it is what its get is', row, row, false],
    ['nothing when it has more', row, { name: 'a', updateTime: '1' }, false],
    ['nothing when a list in it is shorter, or a value another', row, { ...row, tags: [1, 2] }, false],
    ['nothing when what is more is empty', row, { ...row, cost: null, label: undefined }, false],
    ['a field', row, { ...row, cost: 1 }, true],
    ['a field of a field', row, { ...row, recipient: { city: 'Pasto', phone: '1' } }, true],
    ['what is null in it', row, { ...row, note: 'x' }, true],
    ['even its time', { name: 'a' }, { name: 'a', updateTime: '1' }, true],
    ['nothing when the record has changed in between', row, { ...row, updateTime: '2', cost: 1 }, false],
  ])('%s', (_what, listed, gotten, isLacking) => {
    expect(lacksFields(listed, gotten)).toBe(isLacking);
  });
});

describe('the rows of a list', () => {
  const whole = [{ cost: 1 }, { cost: 1 }] as const;
  const lacking = [{}, { cost: 1 }] as const;
  const names = ['a', 'b', 'c', 'd'];

  test('are held against a get at first, soon again, and half a minute later, each time another one', () => {
    let now = 0;
    const check = createRowCheck({ areWhole: false }, () => now);
    expect([check.isDue(), check.begin(names)]).toEqual([true, 'c']);
    check.compare([whole]);
    check.sawRows([]);
    now = 29_999;
    expect(check.isDue()).toBe(false);
    check.sawRows([]);
    expect([check.isDue(), check.begin(names)]).toEqual([true, 'd']);
    check.compare([whole]);
    now = 59_998;
    expect(check.isDue()).toBe(false);
    now = 59_999;
    expect([check.isDue(), check.begin(names)]).toEqual([true, 'a']);
    expect(check.begin([])).toBeUndefined();
  });

  test('are tried three times in a row where there is nothing to hold them against', () => {
    const check = createRowCheck({ areWhole: false }, () => 0);
    for (const isDue of [true, true, true, false]) {
      expect(check.isDue()).toBe(isDue);
      check.begin(names);
      check.compare([]);
    }
  });

  test('of a tenant are trusted for two lists where those of another were whole', () => {
    const trust = { areWhole: false };
    createRowCheck(trust).compare([whole]);
    const check = createRowCheck(trust, () => 0);
    for (const isDue of [false, false, true]) {
      expect(check.isDue()).toBe(isDue);
      check.sawRows([]);
    }
    createRowCheck(trust).compare([lacking]);
    expect(createRowCheck(trust, () => 0).isDue()).toBe(true);
  });

  test('lack something where two of them do, or the only one: for ten minutes, and for no other tenant', () => {
    let now = 0;
    const trust = { areWhole: false };
    const check = createRowCheck(trust, () => now);
    check.compare([lacking, whole, whole]);
    expect(check.areRowsLacking()).toBe(false);
    check.compare([lacking, whole, lacking]);
    expect([check.areRowsLacking(), createRowCheck(trust).areRowsLacking()]).toEqual([true, false]);
    now = 599_999;
    expect(check.areRowsLacking()).toBe(true);
    now = 600_000;
    expect([check.areRowsLacking(), check.isDue()]).toEqual([false, true]);
    check.compare([lacking]);
    expect(check.areRowsLacking()).toBe(true);
  });

  test('are looked at at once where gets have a field that none of them has, up to five times', () => {
    const check = createRowCheck({ areWhole: false }, () => 0);
    check.begin(names);
    check.compare([whole]);
    const rows = Array.from({ length: 20 }, () => ({ cost: 1, note: null }));
    check.sawGet({ cost: 1, note: 'x', label: undefined });
    check.sawRows(rows);
    expect(check.isDue()).toBe(false);
    check.sawGet({ cost: 1, note: 'y' });
    for (let look = 0; look < 5; look += 1) {
      expect(check.isDue()).toBe(true);
      check.begin(names);
      check.compare([whole]);
    }
    expect(check.isDue()).toBe(false);
    check.sawGet({ note: 'x' });
    check.sawGet({ note: 'y' });
    check.sawRows(rows);
    expect(check.isDue()).toBe(false);
  });
});

describe('a list is left alone', () => {
  test('after the second page in a row that has failed, for longer each time', () => {
    let now = 0;
    const trouble = createListTrouble(() => now);
    const isLeftAloneAt = (ms: number) => {
      now = ms;
      return trouble.isLeftAlone();
    };
    trouble.failed();
    expect(isLeftAloneAt(0)).toBe(false);
    trouble.failed();
    expect([isLeftAloneAt(0), isLeftAloneAt(999), isLeftAloneAt(1_000)]).toEqual([true, true, false]);
    trouble.failed();
    expect([isLeftAloneAt(2_999), isLeftAloneAt(3_000)]).toEqual([true, false]);
    for (let failure = 0; failure < 20; failure += 1) trouble.failed();
    expect([isLeftAloneAt(62_999), isLeftAloneAt(63_000)]).toEqual([true, false]);
    trouble.failed();
    trouble.answered();
    expect(trouble.isLeftAlone()).toBe(false);
    trouble.failed();
    expect(trouble.isLeftAlone()).toBe(false);
  });
});

describe('a batch of names', () => {
  const announce = (rowsBefore: number, ...names: string[]) => ({
    names: new Set(names),
    rowsBefore,
    whereabouts: createWhereabouts(() => 0),
  });

  test('has a part for each list that has named some of them, and one for the rest', () => {
    const [first, second, other] = [announce(0, 'a', 'b', 'x'), announce(7, 'b', 'c'), announce(0, 'y')];
    const { whereabouts } = createBatchHistory(undefined, () => 0);
    expect(partsOf(['c', 'd', 'a', 'b'], [first, second, other], whereabouts)).toEqual([
      { names: ['a', 'b'], rowsBefore: 0, whereabouts: first.whereabouts },
      { names: ['c'], rowsBefore: 7, whereabouts: second.whereabouts },
      { names: ['d'], rowsBefore: 0, whereabouts },
    ]);
  });

  test('is expected where its parts are', () => {
    const part = (names: string[], rowsBefore: number) => ({
      names,
      rowsBefore,
      whereabouts: createWhereabouts(() => 0),
    });
    // Each is taken to be within two rows for each, from where it begins.
    const parts = [part(['a', 'b', 'c'], 0), part(['d'], 10)];
    expect([1.5, 2.5, 3, 10].map((depth) => shareWithin(parts, depth))).toEqual([0.75, 0.75, 1, 1]);
    expect(shareWithin(parts, 0.75)).toBe(0.375);
  });

  test('teaches each of its parts where it was', () => {
    const names = rows(20).map((index) => `r${index}`);
    const [near, far] = [announce(0, ...names.slice(0, 10)), announce(10, ...names.slice(10))];
    const parts = partsOf(
      names,
      [near, far],
      createWhereabouts(() => 0),
    );
    const walk = createListWalk<{ name: string }>(names);
    walk.take({ rows: names.slice(0, 15).map((name) => ({ name })), nextPageToken: 't' });
    for (const part of parts) learn(part, walk, false);
    expect(near.whereabouts.shareWithin(1)).toBeGreaterThan(0.8);
    expect(far.whereabouts.shareWithin(0.5)).toBeCloseTo(0.42, 1);
    expect([near, far].map(({ whereabouts }) => whereabouts.isKnown)).toEqual([true, true]);
  });

  test('teaches nothing of a part that begins further down than was read', () => {
    const deep = announce(100, 'a');
    const [part] = partsOf(
      ['a'],
      [deep],
      createWhereabouts(() => 0),
    );
    const walk = createListWalk<{ name: string }>(['a']);
    walk.take({ rows: [{ name: 'b' }], nextPageToken: 't' });
    if (part !== undefined) learn(part, walk, false);
    expect(deep.whereabouts.isKnown).toBe(false);
  });
});

describe('what follows a list of orders', () => {
  test('is told by how many of its rows have named something', () => {
    const seen = createFollowingHistory().of({ pageSize: 100 });
    expect(seen.idsPerRow()).toBe(0);
    seen.sawNames(100, 75);
    expect(seen.idsPerRow()).toBe(0.75);
    expect(seen.whereabouts.isKnown).toBe(false);
  });

  test('is known by its filters, but for the text of a search', () => {
    const history = createFollowingHistory();
    history.of({ pageSize: 1, status: ['READY'] }).sawNames(10, 1);
    history.of({ pageSize: 1, search: 'Lucía' }).sawNames(1, 1);
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
