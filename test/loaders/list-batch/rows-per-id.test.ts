import { beforeEach, describe, expect, test } from 'vitest';
import { RowsPerId } from '../../../src/loaders/list-batch/rows-per-id.ts';

/** A batch of ids with hits at these indexes of the rows. */
const batch = (idCount: number, hits: number[]) => ({ idCount, hits, nextPageToken: 'next' });
type Batch = Omit<ReturnType<typeof batch>, 'nextPageToken'> & { nextPageToken: string | undefined };
const every = (step: number, hitCount: number, from = 0) =>
  Array.from({ length: hitCount }, (_, index) => from + index * step);

let nowMs = 0;
beforeEach(() => {
  nowMs = 0;
});
const createEstimate = (ofProcess?: RowsPerId) => new RowsPerId(() => nowMs, ofProcess);

/** An estimate that has seen the batches, all at the time 0. */
function learned(...batches: Batch[]): RowsPerId {
  const rowsPerId = createEstimate();
  for (const one of batches) rowsPerId.learn(one, 0);
  return rowsPerId;
}

describe('the estimate', () => {
  test('starts at 1.6 rows per id, and pages have a quarter more', () => {
    expect(learned().rowsFor(100)).toBe(200);
  });

  test('follows deeper hits at once', () => {
    // 100 ids in 400 rows, so 4 rows per id.
    expect(learned(batch(100, every(4, 100))).rowsFor(100)).toBeGreaterThanOrEqual(495);
  });

  test('follows less deep hits slowly', () => {
    const dense = batch(100, every(1, 100));
    expect(learned(dense).rowsFor(100)).toBe(175);
    expect(learned(...Array.from({ length: 20 }, () => dense)).rowsFor(100)).toBeLessThanOrEqual(126);
  });

  test('assumes the density of the hits below a page that was too short', () => {
    expect(learned(batch(100, every(4, 50))).rowsFor(100)).toBeGreaterThanOrEqual(490);
  });

  test('ignores the deepest 5 % of the hits', () => {
    expect(learned(batch(100, [...every(1, 95), ...every(1, 5, 900)])).rowsFor(100)).toBe(175);
  });

  test('counts rows from the first expected hit on', () => {
    const rowsPerId = createEstimate();
    rowsPerId.learn(batch(100, every(1, 100, 1_000)), 1_000);
    expect(rowsPerId.rowsFor(100)).toBe(175);
  });
});

describe('a page with less than a tenth of its ids', () => {
  const miss = batch(100, every(20, 9));

  test('makes the estimate four times deeper', () => {
    expect(learned(miss).rowsFor(100)).toBe(800);
  });

  test('leaves the estimate if the list has no more rows', () => {
    expect(learned({ ...miss, hits: [], nextPageToken: undefined }).rowsFor(100)).toBe(200);
  });

  test.each([
    ['once does not pause pages', [miss], false],
    ['twice in a row pauses pages', [miss, miss], true],
    ['twice, but not in a row, does not pause pages', [miss, batch(100, every(2, 100)), miss], false],
  ])('%s', (_what, batches, isPaused) => {
    const { pause } = learned(...batches);
    nowMs = 29_999;
    expect(pause.isOn).toBe(isPaused);
    nowMs = 30_000;
    expect(pause.isOn).toBe(false);
  });
});

test('more than 32 rows per id pause pages, and the estimate is that of new tokens', () => {
  const shared = createEstimate();
  const rowsPerId = createEstimate(shared);
  rowsPerId.learn(batch(10, every(40, 10)), 0);
  nowMs = 29_999;
  expect(rowsPerId.pause.isOn).toBe(true);
  nowMs = 30_000;
  expect(rowsPerId.pause.isOn).toBe(false);
  expect(rowsPerId.rowsFor(100)).toBe(createEstimate(shared).rowsFor(100));
});

test.each([
  [50, true],
  [49, false],
])('a batch that found %i of 100 ids was useful: %s', (hitCount, wasUseful) => {
  expect(learned(batch(100, every(1, hitCount))).wasUseful).toBe(wasUseful);
});

describe('the estimate of new tokens', () => {
  const deep = batch(100, every(10, 100));

  test('moves by at most a quarter for one token, however many batches it has', () => {
    const shared = createEstimate();
    const rowsPerId = createEstimate(shared);
    for (let count = 0; count < 10; count += 1) rowsPerId.learn(deep, 0);
    expect(shared.value).toBe(2);
  });

  test('follows many tokens', () => {
    const shared = createEstimate();
    for (let token = 0; token < 30; token += 1) createEstimate(shared).learn(deep, 0);
    expect(createEstimate(shared).rowsFor(100)).toBeGreaterThan(1_200);
  });

  test('ignores pages that found less than half of their ids', () => {
    const shared = createEstimate();
    createEstimate(shared).learn(batch(100, every(20, 40)), 0);
    expect(shared.value).toBe(1.6);
  });
});
