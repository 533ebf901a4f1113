import { describe, expect, test } from 'vitest';
import { ByKind, HitDepth, ProcessDepth } from '../../../src/loaders/list-batch/hit-depth.ts';

const rows = (count: number, from = 0) => Array.from({ length: count }, (_, index) => from + index);

/** A batch of which these rows had an id, in a list that goes on after those that were read. */
const batch = (idCount: number, hits: number[], rowsRead: number, more = {}) => ({
  idCount,
  hits,
  rowsRead,
  rowsBefore: 0,
  isWholeList: false,
  ...more,
});

const start = (process = new ProcessDepth(), now = () => 0) => new HitDepth(process, now);

describe('the hit depth', () => {
  test('is two rows for each id at first, and all of them are expected', () => {
    expect(start()).toMatchObject({ depth: 2, share: 1, wasUseful: false });
  });

  test('moves to what batches show: deeper at once, and up again within ten batches', () => {
    const hitDepth = start();
    hitDepth.learn(batch(10, rows(10, 40), 100));
    expect(hitDepth.depth).toBe(5);
    for (let count = 0; count < 14; count += 1) hitDepth.learn(batch(10, rows(10), 100));
    expect(hitDepth.depth).toBeCloseTo(1, 1);
    expect(hitDepth).toMatchObject({ share: 1, wasUseful: true });
  });

  test('does not count the last twentieth of the hits', () => {
    const hitDepth = start();
    hitDepth.learn(batch(100, [...rows(95), ...rows(5, 900)], 1_000));
    // From 2 a third of the way to the 95 of 100 that are within 95 rows.
    expect(hitDepth.depth).toBeCloseTo(2 - 1 / 3);
  });

  test('counts from the rows that come before', () => {
    const hitDepth = start();
    hitDepth.learn(batch(10, rows(10, 130), 200, { rowsBefore: 100 }));
    expect(hitDepth.depth).toBe(4);
    hitDepth.learn(batch(10, [], 50, { rowsBefore: 100 }));
    expect(hitDepth).toMatchObject({ depth: 4, share: 1 });
  });

  test('is taken to go on as densely where hits go on to the last row that was read', () => {
    const hitDepth = start();
    hitDepth.learn(
      batch(
        100,
        rows(50, 0).map((row) => 4 * row),
        200,
      ),
    );
    expect(hitDepth.depth).toBeCloseTo(4, 0);
    expect(hitDepth.share).toBe(1);
  });

  test('holds for the share of the ids that the list has', () => {
    const hitDepth = start();
    for (let count = 0; count < 20; count += 1) hitDepth.learn(batch(10, rows(4), 20));
    expect(hitDepth.share).toBeCloseTo(0.4);
    expect(hitDepth.wasUseful).toBe(false);
  });
});

describe('a list that has less than a tenth of a batch', () => {
  test('is read no more, but for one look that is deeper', () => {
    const hitDepth = start();
    hitDepth.learn(batch(100, rows(9), 200));
    expect([hitDepth.share, hitDepth.isTrialDue()]).toEqual([0, true]);
    hitDepth.learn(batch(100, rows(9), 1_000));
    expect([hitDepth.share, hitDepth.isTrialDue()]).toEqual([0, false]);
  });

  test('is tried again for the twentieth batch without it, and after ten minutes', () => {
    let now = 0;
    const hitDepth = start(new ProcessDepth(), () => now);
    const isWholeList = true;
    hitDepth.learn(batch(5, [], 10, { isWholeList }));
    for (let count = 1; count < 20; count += 1) {
      expect(hitDepth.isTrialDue(), `batch ${count}`).toBe(false);
      hitDepth.countBatchWithoutPage();
    }
    expect(hitDepth.isTrialDue()).toBe(true);
    hitDepth.learn(batch(5, [], 10, { isWholeList }));
    expect(hitDepth.isTrialDue()).toBe(false);
    now = 600_000;
    expect(hitDepth.isTrialDue()).toBe(true);
    hitDepth.learn(batch(5, rows(5), 80));
    expect(hitDepth).toMatchObject({ share: 1, wasUseful: true });
  });
});

describe('the hit depth of a tenant that has shown none', () => {
  const shown = (process: ProcessDepth, tenants: number, from: number) => {
    for (let tenant = 0; tenant < tenants; tenant += 1)
      start(process).learn(batch(100, rows(100, from), 1_000));
    return start(process).depth;
  };

  test('is what the first batches of others have shown, the more the more there were', () => {
    const process = new ProcessDepth();
    expect(shown(process, 1, 0)).toBe(1.9);
    expect(shown(process, 50, 0)).toBeCloseTo(1, 1);
  });

  test('follows where others have theirs deeper, and one alone moves it by a quarter at most', () => {
    const process = new ProcessDepth();
    expect(shown(process, 1, 800)).toBe(2.5);
    expect(shown(process, 20, 800)).toBeCloseTo(9, 0);
  });

  test('goes by no later batch of a tenant, and by none that was hardly found', () => {
    const process = new ProcessDepth();
    start(process).learn(batch(100, rows(49), 200));
    start(process).learn(batch(4, rows(4), 200));
    expect(process.depth).toBe(2);
    const tenant = start(process);
    for (let count = 0; count < 50; count += 1) tenant.learn(batch(100, rows(100), 1_000));
    expect(process.depth).toBe(1.9);
  });
});

test('of a hundred kinds that are kept, the oldest goes for another', () => {
  const kinds = new ByKind((kind) => ({ kind }));
  const first = kinds.of('0');
  for (const index of rows(99, 1)) kinds.of(String(index));
  expect(kinds.of('0')).toBe(first);
  kinds.of('100');
  expect(kinds.of('0')).not.toBe(first);
});
