import { describe, expect, test } from 'vitest';
import { createAgeCheck } from '../../../src/loaders/scan/list-sequence.ts';
import type { FilteredRow } from '../../../src/loaders/scan/row-filter.ts';
import { InvalidResponseError } from '../../../src/rest/errors.ts';

type Row = FilteredRow | InvalidResponseError;

const startMs = Date.parse('2026-01-01T00:00:00Z');
const atMinute = (minute: number) => startMs + minute * 60_000;
const row = (minute: number): Row => ({
  name: 'orders/1',
  createTime: new Date(atMinute(minute)).toISOString(),
});
const untimed: Row[] = [
  { name: 'orders/1' },
  { name: 'orders/1', createTime: null },
  { name: 'orders/1', createTime: 'soon' },
  new InvalidResponseError('broken'),
];
/** Rows of each minute, the newest first. */
const rows = (newest: number, count: number) =>
  Array.from({ length: count }, (_, index) => row(newest - index));

/** After all rows. */
const laterMs = atMinute(1_001);

/** Whether the rows after these pages are older than a time. */
function areLaterRowsOlder(pages: Row[][], sinceMs: number | undefined, minPages?: number): boolean {
  const check = createAgeCheck(sinceMs, minPages);
  return pages.map(check).at(-1) ?? false;
}

describe('a list proves that later rows are older than a time', () => {
  test.each<[string, Row[][]]>([
    ['after 200 rows over two pages', [rows(1_000, 100), rows(900, 100)]],
    ['even if two rows have the same time', [rows(1_000, 100), rows(901, 100)]],
    ['even if rows between them have no time', [rows(1_000, 100), [...untimed, ...rows(900, 100)]]],
  ])('%s', (_what, pages) => expect(areLaterRowsOlder(pages, laterMs)).toBe(true));

  test('after one page if minPages is 1', () => {
    expect(areLaterRowsOlder([rows(1_000, 200)], laterMs, 1)).toBe(true);
  });
});

describe('a list does not prove that later rows are older than a time', () => {
  test.each<[string, Row[][]]>([
    ['after 199 rows', [rows(1_000, 100), rows(900, 99)]],
    ['after 199 rows with a time and others without one', [rows(1_000, 199), untimed]],
    ['after 250 rows of one page', [rows(1_000, 250)]],
    ['if all its rows have the same time', [Array(150).fill(row(5)), Array(150).fill(row(5))]],
    ['if only its first page is in order', [rows(1_000, 250), [row(752)]]],
    ['if only its second page is in order', [[row(999)], rows(1_000, 250)]],
    ['if it is sorted oldest first', [rows(1_000, 100).reverse(), rows(1_100, 100).reverse()]],
  ])('%s', (_what, pages) => expect(areLaterRowsOlder(pages, laterMs)).toBe(false));

  test('if its oldest row has exactly this time', () => {
    const pages = [rows(1_000, 100), rows(900, 101)];
    expect([atMinute(800), atMinute(800) + 1].map((ms) => areLaterRowsOlder(pages, ms))).toEqual([
      false,
      true,
    ]);
  });

  test('if the time is undefined', () => {
    expect(areLaterRowsOlder([rows(1_000, 100), rows(900, 100)], undefined)).toBe(false);
  });
});
