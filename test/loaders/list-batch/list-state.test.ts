import { beforeEach, describe, expect, test, vi } from 'vitest';
import { RowsPerId } from '../../../src/loaders/list-batch/list-state.ts';

/** A batch of ids with hits at these indexes of the rows. */
const batch = (idCount: number, hits: number[]) => ({ idCount, hits, nextPageToken: 'next' });
type Batch = Omit<ReturnType<typeof batch>, 'nextPageToken'> & { nextPageToken: string | undefined };
const every = (step: number, hitCount: number, from = 0) =>
  Array.from({ length: hitCount }, (_, index) => from + index * step);

let nowMs = 0;
beforeEach(() => {
  nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
});

/** An estimate that has seen the batches, all at the time 0. */
function learned(...batches: Batch[]): RowsPerId {
  const rowsPerId = new RowsPerId();
  for (const one of batches) rowsPerId.learn(one, 0);
  return rowsPerId;
}

describe('the estimate of rows per id', () => {
  test('starts at 1.6 rows per id plus a margin of a quarter', () => {
    expect(learned().rowsFor(100)).toBe(200);
  });

  test('rises immediately if ids are further down the list than expected', () => {
    // 100 ids in 400 rows, so 4 rows per id.
    expect(learned(batch(100, every(4, 100))).rowsFor(100)).toBeGreaterThanOrEqual(495);
  });

  test('falls slowly if ids are nearer to the start of the list', () => {
    const dense = batch(100, every(1, 100));
    expect(learned(dense).rowsFor(100)).toBe(175);
    expect(learned(...Array.from({ length: 20 }, () => dense)).rowsFor(100)).toBeLessThanOrEqual(126);
  });

  test('assumes that missing ids are as far apart as found ids', () => {
    expect(learned(batch(100, every(4, 50))).rowsFor(100)).toBeGreaterThanOrEqual(490);
  });

  test('ignores the 5 % of ids that are furthest down the list', () => {
    expect(learned(batch(100, [...every(1, 95), ...every(1, 5, 900)])).rowsFor(100)).toBe(175);
  });

  test('counts rows only from the position at which the ids are expected', () => {
    const rowsPerId = new RowsPerId();
    rowsPerId.learn(batch(100, every(1, 100, 1_000)), 1_000);
    expect(rowsPerId.rowsFor(100)).toBe(175);
  });
});

describe('a page with less than a tenth of the requested ids', () => {
  const miss = batch(100, every(20, 9));

  test('quadruples the estimate', () => {
    expect(learned(miss).rowsFor(100)).toBe(800);
  });

  test('does not change the estimate if the list has no more rows', () => {
    expect(learned({ ...miss, hits: [], nextPageToken: undefined }).rowsFor(100)).toBe(200);
  });

  test.each([
    ['does not pause list reads if it occurs once', [miss], false],
    ['pauses list reads if it occurs twice in a row', [miss, miss], true],
    [
      'does not pause list reads if it occurs twice, but not in a row',
      [miss, batch(100, every(2, 100)), miss],
      false,
    ],
  ])('%s', (_what, batches, isPaused) => {
    const { pause } = learned(...batches);
    nowMs = 29_999;
    expect(pause.isOn).toBe(isPaused);
    nowMs = 30_000;
    expect(pause.isOn).toBe(false);
  });
});

test('more than 32 rows per id pause list reads and reset the estimate', () => {
  const shared = new RowsPerId();
  const rowsPerId = new RowsPerId(shared);
  rowsPerId.learn(batch(10, every(40, 10)), 0);
  nowMs = 29_999;
  expect(rowsPerId.pause.isOn).toBe(true);
  nowMs = 30_000;
  expect(rowsPerId.pause.isOn).toBe(false);
  expect(rowsPerId.rowsFor(100)).toBe(new RowsPerId(shared).rowsFor(100));
});

describe('the estimate for new tokens', () => {
  const deep = batch(100, every(10, 100));

  test('changes by at most a quarter because of one token', () => {
    const shared = new RowsPerId();
    const rowsPerId = new RowsPerId(shared);
    for (let count = 0; count < 10; count += 1) rowsPerId.learn(deep, 0);
    expect(shared.value).toBe(2);
  });

  test('follows the batches of many tokens', () => {
    const shared = new RowsPerId();
    for (let token = 0; token < 30; token += 1) new RowsPerId(shared).learn(deep, 0);
    expect(new RowsPerId(shared).rowsFor(100)).toBeGreaterThan(1_200);
  });

  test('ignores pages with less than a tenth of the requested ids', () => {
    const shared = new RowsPerId();
    new RowsPerId(shared).learn(batch(100, every(20, 9)), 0);
    expect(shared.value).toBe(1.6);
  });
});
