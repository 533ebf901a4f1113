import { describe, expect, test } from 'vitest';
import { ListCursors, type Position } from '../../../src/loaders/paging/cursor.ts';
import { PageLoader } from '../../../src/loaders/paging/page-loader.ts';
import { readPageSlice } from '../../../src/loaders/paging/page-slice.ts';
import type { PageQuery } from '../../../src/rest/api-types.ts';
import {
  maxScannedPages,
  ScanBudget,
  ScanBudgetExceededError,
} from '../../../src/rest/client/scan-budget.ts';
import { InvalidResponseError } from '../../../src/rest/errors.ts';

interface Row {
  name: string;
  language?: string;
  text?: string;
}

const invalid = new InvalidResponseError('no record');

/** Lists in which rows look alike by their name. */
const lists: [string, (Row | InvalidResponseError)[]][] = [
  [
    'templates of one name in three languages',
    [
      { name: 'welcome', language: 'es' },
      { name: 'welcome', language: 'en' },
      { name: 'bye', language: 'en' },
      { name: 'welcome', language: 'pt' },
      { name: 'bye', language: 'es' },
    ],
  ],
  [
    'templates without a language',
    [
      { name: 'welcome', text: 'Hola' },
      { name: 'welcome', text: 'Hello' },
      { name: 'bye', text: 'Adiós' },
    ],
  ],
  ['rows that are in the list twice', ['a', 'a', 'b', 'c'].map((name) => ({ name }))],
  ['rows that end a page and come again', ['a', 'b', 'a', 'b', 'c', 'd'].map((name) => ({ name }))],
  ['invalid rows', [invalid, invalid, { name: 'a' }, invalid]],
];

/** Pages of a list. With `varies`, each response has new page tokens. With `ignores`, each token reads the first page. */
function pagesOf(rows: (Row | InvalidResponseError)[], { varies = false, ignores = false }) {
  const queries: string[] = [];
  const list = async ({ pageSize, pageToken }: PageQuery) => {
    queries.push(`${pageSize}${pageToken === undefined ? '' : `@${pageToken}`}`);
    const start = ignores ? 0 : Number(pageToken?.split('#')[0] ?? 0);
    const end = start + pageSize;
    const nextPageToken = end < rows.length ? `${end}${varies ? `#${queries.length}` : ''}` : undefined;
    return { rows: rows.slice(start, end), nextPageToken };
  };
  const pages = (scanBudget?: ScanBudget) => new PageLoader(list, 100, scanBudget);
  return { pages, queries };
}

describe.each(lists)('%s', (_what, rows) => {
  const cursors = new ListCursors('templates', {});
  const through = (position: Position) => cursors.decode(cursors.encode(position));

  test.each([
    [1, false],
    [1, true],
    [2, false],
    [2, true],
    [3, true],
  ])('are read with no gap or repeat, %i at a time (new tokens per response: %s)', async (first, varies) => {
    const { pages } = pagesOf(rows, { varies });
    const seen: unknown[] = [];
    let after: Position | undefined;
    do {
      const slice = await readPageSlice(pages(), {}, first, after);
      seen.push(...slice.rows.map(({ row }) => row));
      const last = slice.rows.at(-1)?.after;
      after = slice.hasNextPage && last !== undefined ? through(last) : undefined;
    } while (after !== undefined);
    expect(seen).toEqual(rows);
  });

  test('continue after each cursor within a page', async () => {
    const { pages } = pagesOf(rows, { varies: true });
    const { rows: placed } = await readPageSlice(pages(), {}, rows.length, undefined);
    for (const [index, { after }] of placed.entries()) {
      const slice = await readPageSlice(pages(), {}, 100, through(after));
      expect(slice.rows.map(({ row }) => row)).toEqual(rows.slice(index + 1));
    }
  });
});

test('a cursor stays valid after a template of the same name is added at the top', async () => {
  const rows = ['es', 'en', 'pt', 'fr'].map((language) => ({ name: 'welcome', language }));
  const list: Row[] = [...rows];
  const { pages } = pagesOf(list, {});
  const { rows: placed } = await readPageSlice(pages(), {}, 4, undefined);
  list.unshift({ name: 'welcome', language: 'de' });
  for (const [index, { after }] of placed.slice(0, 3).entries()) {
    const slice = await readPageSlice(pages(), {}, 4, after);
    expect(slice.rows.map(({ row }) => row)).toEqual(rows.slice(index + 1));
  }
});

test.each([
  [false, ['1'], '1@1'],
  [true, ['1', '1', '100', '100@1#1'], '1@1#1'],
])(
  'scanned pages prove that REST ignores page tokens (new tokens per response: %s)',
  async (varies, scanned, second) => {
    const rows = ['a', 'b', 'c'].map((name) => ({ name }));
    const { pages, queries } = pagesOf(rows, { varies, ignores: true });
    const { rows: placed } = await readPageSlice(pages(), {}, 1, undefined);
    const after = placed[0]?.after;
    const scanBudget = new ScanBudget();
    await expect(readPageSlice(pages(scanBudget), {}, 1, after)).rejects.toThrow(
      'For a page token, the REST service returned the first page of the list again. Check the setting PAGE_TOKEN_PARAMETER.',
    );
    expect([queries, scanBudget.used]).toEqual([['1', second, ...scanned], scanned.length]);
    // One page too few is left.
    scanBudget.used = maxScannedPages - scanned.length + 1;
    queries.length = 0;
    await expect(readPageSlice(pages(scanBudget), {}, 1, after)).rejects.toThrow(ScanBudgetExceededError);
    expect(queries).toEqual([second, ...scanned.slice(0, -1)]);
  },
);
