import { describe, expect, test } from 'vitest';
import type { PointReads } from '../../../src/loaders/list-batch/point-reads.ts';
import { lacksFields, RowCompleteness } from '../../../src/loaders/list-batch/row-completeness.ts';

describe('a row lacks', () => {
  const row = { name: 'a', updateTime: '1', recipient: { city: 'Pasto' }, tags: [1], note: null };

  test.each([
    ['nothing when it is its record', row, row, false],
    ['nothing when it has more', row, { name: 'a', updateTime: '1' }, false],
    ['nothing when a list in it is shorter, or a value another', row, { ...row, tags: [1, 2] }, false],
    ['nothing when what is more is empty', row, { ...row, cost: null, label: undefined }, false],
    ['a field', row, { ...row, cost: 1 }, true],
    ['a field of a field', row, { ...row, recipient: { city: 'Pasto', phone: '1' } }, true],
    ['what is null in it', row, { ...row, note: 'x' }, true],
    ['even its time', { name: 'a' }, { name: 'a', updateTime: '1' }, true],
    ['nothing when the record has changed in between', row, { ...row, updateTime: '2', cost: 1 }, false],
  ])('%s', (_what, row, record, isLacking) => {
    expect(lacksFields(row, record)).toBe(isLacking);
  });
});

describe('rows are compared', () => {
  interface Row {
    cost?: number;
  }
  const whole = { cost: 1 };
  const process = () => ({ comparedAtMs: Number.NEGATIVE_INFINITY });
  const names = ['a', 'b', 'c', 'd'];
  const isDue = (completeness: RowCompleteness) => completeness.startComparison(names) !== undefined;

  /** Compares the first of these rows, whose records all have a cost. */
  async function compare(completeness: RowCompleteness, ...rows: Row[]) {
    const all = async (names: readonly string[]) => names.map(() => whole);
    const named = new Map(rows.map((row, index) => [String(index), row]));
    // Nothing else of them is asked for.
    const reads = { all, start: async () => whole } as unknown as PointReads<Row>;
    const records = await completeness.replacementRecords(named, '0', reads, 1_000);
    return records && [...records.values()];
  }

  test('of the first page of the process, the third of a tenant, and then once in half a minute', async () => {
    let now = 0;
    const shared = process();
    const tenant = () => new RowCompleteness(shared, () => now);
    const first = tenant();
    expect(isDue(first)).toBe(true);
    expect(await compare(first, whole)).toBeUndefined();
    const other = tenant();
    expect([isDue(first), isDue(other)]).toEqual([false, false]);
    other.countPage();
    expect(isDue(other)).toBe(false);
    other.countPage();
    expect(isDue(other)).toBe(true);
    await compare(other, whole);
    now = 29_999;
    expect([isDue(first), isDue(other), isDue(tenant())]).toEqual([false, false, false]);
    now = 30_000;
    expect([isDue(first), isDue(other), isDue(tenant())]).toEqual([true, true, true]);
  });

  test('another one each time, and no more than three in half a minute where no record comes', () => {
    let now = 0;
    const own = new RowCompleteness(process(), () => now);
    const started = () => Array.from({ length: 5 }, () => own.startComparison(names));
    expect(started()).toEqual(['c', 'd', 'a', undefined, undefined]);
    now = 30_000;
    expect(started()).toEqual(['b', undefined, undefined, undefined, undefined]);
  });

  test('and where two lack something, or the only one, the list is off for this tenant for ten minutes', async () => {
    let now = 0;
    const shared = process();
    const tenant = () => new RowCompleteness(shared, () => now);
    const own = tenant();
    expect(await compare(own, {}, whole, whole)).toEqual([whole, whole, whole]);
    expect([own.isIncomplete(), isDue(tenant())]).toEqual([false, false]);
    expect(await compare(own, {}, whole, {})).toEqual([whole, whole, whole]);
    const other = tenant();
    expect([own.isIncomplete(), other.isIncomplete(), isDue(other)]).toEqual([true, false, true]);
    now = 599_999;
    expect(own.isIncomplete()).toBe(true);
    now = 600_000;
    expect([own.isIncomplete(), isDue(own)]).toEqual([false, true]);
    await compare(own, {});
    expect(own.isIncomplete()).toBe(true);
  });
});
