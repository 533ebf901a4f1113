import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { neverAborted } from '../../../src/concurrency/cancellation.ts';
import { noDeadline } from '../../../src/concurrency/operation-scope.ts';
import type { Position } from '../../../src/loaders/paging/cursor.ts';
import type { PageSlice } from '../../../src/loaders/paging/page-slice.ts';
import { recordLoader } from '../../../src/loaders/record-loader.ts';
import { countByStatus } from '../../../src/loaders/scan/count-by-status.ts';
import { readFilteredSlice } from '../../../src/loaders/scan/filtered-slice.ts';
import { createScans, type ListScan } from '../../../src/loaders/scan/list-scan.ts';
import { type FilteredRow, matchesFilter, type RowFilter } from '../../../src/loaders/scan/row-filter.ts';
import type { PageQuery } from '../../../src/rest/api-types.ts';
import type { CallContext } from '../../../src/rest/client/call-context.ts';
import { maxScannedPages, ScanBudgetExceededError } from '../../../src/rest/client/scan-budget.ts';
import { InvalidResponseError } from '../../../src/rest/errors.ts';
import { createCallContexts } from '../../fixtures/call-contexts.ts';
import { shipmentStatuses } from '../../fixtures/shipment-statuses.ts';

type Row = FilteredRow & { createTime?: string };

const startMs = Date.parse('2026-01-01T00:00:00Z');
const minute = 60_000;
const settle = () => new Promise((resolve) => setImmediate(resolve));
/** The context of a new operation that may scan so many pages. */
function operation(pagesLeft = maxScannedPages, deadline = noDeadline): CallContext {
  const callContext = createCallContexts().of('token', neverAborted, deadline);
  callContext.scanBudget.used = maxScannedPages - pagesLeft;
  return callContext;
}
/** Of scans whose rows are not kept. */
const noRecords = recordLoader<Row>(() => Promise.reject(new Error('no record is loaded')));
/** A row that was created this many minutes after the start of 2026. */
const row = (minutes: number, status = 'DELIVERED'): Row => ({
  name: `shipments/s${minutes}`,
  status,
  createTime: new Date(startMs + minutes * minute).toISOString(),
});
/** Rows, the newest first, of which those at `matches` have the status WITH_ERROR. */
const newestFirst = (count: number, matches: readonly number[] = []): Row[] =>
  Array.from({ length: count }, (_, index) =>
    row(count - index, matches.includes(index) ? 'WITH_ERROR' : 'DELIVERED'),
  );

const anyTime = { createdSinceMs: undefined, createdUntilMs: undefined };
const withError: RowFilter = { statuses: ['WITH_ERROR'], ...anyTime };
const since = (minutes: number): RowFilter => ({
  statuses: undefined,
  createdSinceMs: startMs + minutes * minute,
  createdUntilMs: undefined,
});

/** A list of a REST service, with the queries that came: `100`, `1000@100`. */
function createList(rows: readonly (Row | InvalidResponseError)[]) {
  const queries: string[] = [];
  const list = {
    rows,
    queries,
    /** The scans of a new operation. */
    scans(pagesLeft = maxScannedPages, deadline = noDeadline, callContext = operation(pagesLeft, deadline)) {
      const readPage = async ({ pageSize, pageToken }: PageQuery) => {
        queries.push(pageToken === undefined ? `${pageSize}` : `${pageSize}@${pageToken}`);
        const start = Number(pageToken ?? 0);
        const end = start + pageSize;
        return {
          rows: list.rows.slice(start, end) as Row[],
          nextPageToken: end < list.rows.length ? String(end) : undefined,
        };
      };
      return createScans(readPage, 1_000, noRecords, callContext);
    },
    read(
      filter: RowFilter,
      first: number,
      { after, pagesLeft }: { after?: Position; pagesLeft?: number } = {},
    ) {
      return readFilteredSlice(list.scans(pagesLeft)({}, after), filter, first);
    },
  };
  return list;
}

/** The first pages of a scan, as a filter asks for them, or as counts do. */
function firstPages<Row>(scan: ListScan<Row>, count = 1, firstPageRows = 100) {
  const pages: object[] = [];
  return scan(firstPageRows, (page) => (pages.push(Object(page)) === count ? pages : undefined));
}

/** Numbers from 0 to 1, the same for each list. */
function randomNumbers(): () => number {
  let state = 20_261_124;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface TimedRow extends Row {
  updateTime: string;
}

/** Rows of all statuses, often DELIVERED. Each 50th has no time. */
function rowsOfSeed(count: number): TimedRow[] {
  const random = randomNumbers();
  return newestFirst(count).map(({ name, createTime = '' }, index) => ({
    name,
    status: random() < 0.7 ? 'DELIVERED' : (shipmentStatuses[Math.floor(random() * 13)] ?? ''),
    updateTime: new Date(startMs + Math.floor(random() * count) * minute).toISOString(),
    ...(index % 50 === 49 ? {} : { createTime }),
  }));
}

const orders: Record<string, (rows: TimedRow[]) => TimedRow[]> = {
  'newest first': (rows) => rows,
  'oldest first': (rows) => rows.toReversed(),
  'by updateTime': (rows) => rows.toSorted((a, b) => (a.updateTime > b.updateTime ? -1 : 1)),
  'by name': (rows) => rows.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
};

/**
 * The queries of a filtered page: one for 100 rows or more behind the cursor, then one for each 1,000 rows.
 * @param isPast whether the scan ends after two or more pages with these rows
 */
function queriesFor(
  rows: readonly Row[],
  matchesRow: (row: Row) => boolean,
  first: number,
  after: Position | undefined,
  isPast: (seen: readonly Row[]) => boolean = () => false,
): string[] {
  const { rowsBefore, skip } = after ?? { rowsBefore: 0, skip: 0 };
  let matches = 0;
  let end = rowsBefore + skip;
  for (const row of rows.slice(end)) {
    if (matches === first) break;
    if (matchesRow(row)) matches += 1;
    end += 1;
  }
  const firstPageRows = Math.min(skip + Math.max(100, 5 * first), 1_000);
  const queries = [query(firstPageRows, rowsBefore)];
  for (let read = rowsBefore + firstPageRows; read < end; read += 1_000) {
    if (queries.length > 1 && isPast(rows.slice(rowsBefore, read))) break;
    queries.push(query(1_000, read));
  }
  return queries;
}

/** A query for rows after so many others. */
const query = (pageSize: number, rowsBefore: number) =>
  rowsBefore === 0 ? `${pageSize}` : `${pageSize}@${rowsBefore}`;
const names = ({ rows }: PageSlice<Row>) => rows.map(({ row }) => row.name);
const pagesOf1000 = (from: number, to: number) =>
  Array.from({ length: (to - from) / 1_000 }, (_, index) => `1000@${from + index * 1_000}`);

describe.each([5_000, 12_000])('a list of %d rows', (count) => {
  const last = count - 1;
  const allPages = ['100', ...pagesOf1000(100, count + 100)];

  test.each<[string, number[], number, string[]]>([
    ['matches on the first page', [0, 1, 2], 3, ['100']],
    ['a match after the first page', [0, 1, 150], 3, ['100', '1000@100']],
    ['a match in the last row', [last], 1, allPages],
    ['no match', [], 1, allPages],
  ])('is read to the last wanted match or to the end: %s', async (_where, matches, first, queries) => {
    const list = createList(newestFirst(count, matches));
    const slice = await list.read(withError, first);
    expect(names(slice)).toEqual(matches.map((index) => `shipments/s${count - index}`));
    expect(slice.hasNextPage).toBe(queries.length === 1 || queries.length === 2);
    expect(list.queries).toEqual(queries);
  });

  test.each(Object.entries(orders))(
    'yields exactly the matching rows if it is sorted %s',
    async (_order, sort) => {
      const rows = sort(rowsOfSeed(count));
      for (const [index, status] of shipmentStatuses.entries()) {
        const list = createList(rows);
        const first = 20 + 35 * index;
        const filter: RowFilter = { statuses: [status], ...anyTime };
        const found: string[] = [];
        const queries: string[] = [];
        let after: Position | undefined;
        do {
          queries.push(...queriesFor(rows, (row) => row.status === status, first, after));
          const slice = await list.read(filter, first, after && { after });
          found.push(...names(slice));
          after = slice.hasNextPage ? slice.rows.at(-1)?.after : undefined;
        } while (after !== undefined);
        const matches = rows.filter((row) => row.status === status).map(({ name }) => name);
        expect({ found, queries: list.queries }).toEqual({ found: matches, queries });
      }
    },
  );

  test.each(Object.entries(orders))(
    'is counted in a single pass if it is sorted %s',
    async (_order, sort) => {
      const rows = sort(rowsOfSeed(count));
      const list = createList(rows);
      const { byStatus, isExact } = await countByStatus(list.scans()({}), undefined);
      const plain = Map.groupBy(rows, ({ status }) => String(status));
      expect(isExact).toBe(true);
      expect(byStatus).toEqual(new Map([...plain].map(([status, { length }]) => [status, length])));
      expect(list.queries).toEqual(['1000', ...pagesOf1000(1_000, count)]);
    },
  );
});

describe('a filtered slice of a list of 5,000 rows', () => {
  const allPages = ['100', ...pagesOf1000(100, 5_100)];

  test.each<[string, number[], boolean, string[]]>([
    ['tells of a match on a later page', [4_999], true, allPages],
    ['tells of a match on the first page', [3], true, ['100']],
    ['tells that there is no match', [], false, allPages],
  ])('with "first: 0" %s', async (_what, matches, hasNextPage, queries) => {
    const list = createList(newestFirst(5_000, matches));
    expect(await list.read(withError, 0)).toEqual({ rows: [], hasNextPage });
    expect(list.queries).toEqual(queries);
  });

  test('requests a first page with five rows per wanted row', async () => {
    const list = createList(newestFirst(5_000, [0]));
    const small = await list.read(withError, 60, { pagesLeft: 1 });
    const large = await list.read(withError, 500, { pagesLeft: 1 });
    expect([names(small), names(large), list.queries]).toEqual([
      ['shipments/s5000'],
      ['shipments/s5000'],
      ['300', '1000'],
    ]);
  });

  test('has no next page after the last match', async () => {
    const list = createList(newestFirst(5_000, [0, 4_999]));
    const slice = await list.read(withError, 2);
    expect([names(slice), slice.hasNextPage, list.queries]).toEqual([
      ['shipments/s5000', 'shipments/s1'],
      false,
      ['100', ...pagesOf1000(100, 5_100)],
    ]);
  });
});

describe('filtered slices with a page limit', () => {
  const rows = newestFirst(12_000, [11_999]);

  test('end after the last row that was read, even without a match', async () => {
    const list = createList(rows);
    const slice = await list.read(withError, 5, { pagesLeft: 3 });
    expect([names(slice), slice.hasNextPage, list.queries]).toEqual([
      [],
      true,
      ['100', '1000@100', '1000@1100'],
    ]);
    expect(slice.endPosition).toMatchObject({
      pageToken: '2100',
      rowsBefore: 2_100,
      skip: 0,
      anchor: undefined,
    });
  });

  test('together reach a match at the end of the list', async () => {
    const list = createList(rows);
    let after: Position | undefined;
    const found: string[][] = [];
    do {
      const slice = await list.read(withError, 5, { pagesLeft: 5, ...(after && { after }) });
      found.push(names(slice));
      after = slice.hasNextPage ? slice.endPosition : undefined;
    } while (after !== undefined);
    expect([found, list.queries]).toEqual([
      [[], [], ['shipments/s1']],
      [
        ...['100', ...pagesOf1000(100, 4_100)],
        ...['100@4100', ...pagesOf1000(4_200, 8_200)],
        ...['100@8200', ...pagesOf1000(8_300, 12_300)],
      ],
    ]);
  });
});

describe('createdSince', () => {
  const read = async (rows: Row[], minutes: number, first = 1_000) => {
    const list = createList(rows);
    const slice = await list.read(since(minutes), first);
    return { found: names(slice), hasNextPage: slice.hasNextPage, queries: list.queries };
  };
  const namesOf = (rows: Row[]) => rows.map(({ name }) => name);

  test('stops the scan of a list that is sorted newest first', async () => {
    const rows = newestFirst(12_000);
    expect(await read(rows, 10_900)).toEqual({
      found: namesOf(rows.slice(0, 1_000)),
      hasNextPage: true,
      queries: ['1000'],
    });
    expect(await read(rows, 10_600, 1_500)).toEqual({
      found: namesOf(rows.slice(0, 1_401)),
      hasNextPage: false,
      queries: ['1000', '1000@1000'],
    });
  });

  test.each<[string, Row[]]>([
    ['sorted oldest first', newestFirst(5_000).reverse()],
    ['sorted by updateTime', orders['by updateTime']?.(rowsOfSeed(5_000)) ?? []],
    ['sorted by name', newestFirst(5_000).sort((a, b) => (a.name < b.name ? -1 : 1))],
    ['sorted newest first except for one row', newestFirst(5_000).with(150, row(4_999))],
  ])('reads a list to the end if it is %s', async (_order, rows) => {
    const earliest = row(4_995).createTime ?? '';
    expect(await read(rows, 4_995, 100)).toEqual({
      found: namesOf(rows.filter(({ createTime = '' }) => createTime >= earliest)),
      hasNextPage: false,
      queries: ['500', ...pagesOf1000(500, 5_500)],
    });
  });

  test('skips rows without a valid createTime', async () => {
    const rows = newestFirst(300).map((entry, index) =>
      index % 2 === 0 ? entry : { name: entry.name, status: 'DELIVERED', createTime: 'soon' },
    );
    expect(await read(rows, 0)).toEqual({
      found: namesOf(rows.filter((_row, index) => index % 2 === 0)),
      hasNextPage: false,
      queries: ['1000'],
    });
  });
});

test('an invalid row matches no filter', async () => {
  const list = createList([new InvalidResponseError('broken'), ...newestFirst(3, [1])]);
  expect([names(await list.read(withError, 5)), list.queries]).toEqual([['shipments/s2'], ['100']]);
});

test('a slice is empty and has a next page if the operation may read no more pages', async () => {
  const list = createList(newestFirst(300, [0]));
  const slice = await list.read(withError, 5, { pagesLeft: 0 });
  expect([slice.rows, slice.hasNextPage, list.queries]).toEqual([[], true, []]);
  const next = await list.read(withError, 5, { ...(slice.endPosition && { after: slice.endPosition }) });
  expect([slice.endPosition?.pageToken, names(next), list.queries]).toEqual([
    undefined,
    ['shipments/s300'],
    ['100', '1000@100'],
  ]);
});

test('rows that are inserted at the top cause no duplicates on the next page', async () => {
  const list = createList(newestFirst(3_000, [5, 50, 500, 900]));
  const first = await list.read(withError, 2);
  list.rows = [row(3_001), row(3_002, 'WITH_ERROR'), ...list.rows];
  const second = await list.read(withError, 2, { ...(first.rows[1] && { after: first.rows[1].after }) });
  expect([names(first), names(second)]).toEqual([
    ['shipments/s2995', 'shipments/s2950'],
    ['shipments/s2500', 'shipments/s2100'],
  ]);
  // The position is in the middle of the first page.
  expect(list.queries).toEqual(['100', '151', '1000@151']);
});

describe('the first page of a scan that starts at a cursor', () => {
  const start = { pageToken: undefined, rowsBefore: 0 };
  const moved: Position = { ...start, skip: 1, anchor: 'shipments/gone', next: 'shipments/gone too' };
  const far: Position = { ...start, skip: 150, anchor: 'shipments/s2850', next: 'shipments/s2849' };

  test.each([
    ['is two scanned pages if its rows have moved away', moved, ['101', '1000'], 20],
    ['is one scanned page if it skips many rows', far, ['250'], 20],
  ])('%s', async (_what, after, queries, pagesLeft) => {
    const list = createList(newestFirst(3_000, [200]));
    const callContext = operation(pagesLeft);
    const before = callContext.scanBudget.used;
    let turns = 0;
    callContext.scanBudget.gate = {
      takeMorePages() {
        turns += 1;
        return undefined;
      },
    };
    const scan = list.scans(pagesLeft, noDeadline, callContext)({}, after);
    expect(names(await readFilteredSlice(scan, withError, 1))).toEqual(['shipments/s2800']);
    expect([list.queries, callContext.scanBudget.used - before]).toEqual([queries, queries.length]);
    // The first page of an operation has no turn.
    expect(turns).toBe(queries.length - (before === 0 ? 1 : 0));
  });
});

describe('a first page that must be read again, with no page left', () => {
  const start = { rowsBefore: 0, skip: 0, anchor: undefined };
  // As if it were the page after the first one, which a client may have made up. The list reads this token as its start.
  const again: Position = { ...start, pageToken: '0', firstBefore: 'shipments/s3000' };
  const moved: Position = {
    ...start,
    pageToken: undefined,
    skip: 1,
    anchor: 'shipments/gone',
    next: 'shipments/gone too',
  };

  test.each([
    ['its rows have moved away', moved, '101'],
    ['it may be the first page', again, '100@0'],
  ])('is refused: %s', async (_why, after, query) => {
    const list = createList(newestFirst(3_000, [200]));
    const callContext = operation(1);
    const scan = list.scans(1, noDeadline, callContext)({}, after);
    await expect(readFilteredSlice(scan, withError, 1)).rejects.toThrow(ScanBudgetExceededError);
    expect([list.queries, callContext.scanBudget.used]).toEqual([[query], maxScannedPages]);
  });
});

describe('the fields of one operation', () => {
  test('share the pages of a scan', async () => {
    const list = createList(newestFirst(5_000, [4_999]));
    const scans = list.scans();
    const delivered: RowFilter = { statuses: ['DELIVERED'], ...anyTime };
    const [errors, first, counts] = await Promise.all([
      readFilteredSlice(scans({}), withError, 1),
      readFilteredSlice(scans({}), delivered, 10),
      countByStatus(scans({}), undefined),
    ]);
    expect([names(errors), names(first), counts.isExact]).toEqual([
      ['shipments/s1'],
      Array.from({ length: 10 }, (_, index) => `shipments/s${5_000 - index}`),
      true,
    ]);
    expect(counts.byStatus).toEqual(
      new Map([
        ['DELIVERED', 4_999],
        ['WITH_ERROR', 1],
      ]),
    );
    expect(list.queries).toEqual(['1000', ...pagesOf1000(1_000, 5_000)]);
  });

  test.each([
    ['join a scan of other fields while the first page is read', 0, ['100', '1000@100']],
    [
      'have a scan of their own if they start after the first page',
      1,
      ['100', '1000@100', '100', '1000@100'],
    ],
    ['have a scan of their own if they start after the last page', 2, ['100', '1000@100', '100', '1000@100']],
  ])('%s', async (_what, pagesBefore, queries) => {
    const rows = newestFirst(1_100);
    const list = createList(rows);
    const scans = list.scans();
    const expected = [{ page: { rows: rows.slice(0, 100) } }, { page: { rows: rows.slice(100) } }];
    let late: Promise<object[]> | undefined;
    const scan = scans({});
    const early: object[] = [];
    const start = () => {
      late = firstPages(scans({}), 2);
    };
    const done = scan(100, (page) => {
      early.push(Object(page));
      if (early.length === pagesBefore) queueMicrotask(start);
      return early.length === 2 || undefined;
    });
    if (pagesBefore === 0) queueMicrotask(start);
    await done;
    await settle();
    expect([early, await late]).toMatchObject([expected, expected]);
    expect(list.queries.sort()).toEqual(queries.sort());
  });

  test('share the error of a page, except fields that do not need the page', async () => {
    const list = async ({ pageToken }: PageQuery) => {
      if (pageToken !== undefined) throw new InvalidResponseError('the second page is broken');
      return { rows: newestFirst(100, [1]), nextPageToken: '1' };
    };
    const scans = createScans(list, 1_000, noRecords, operation());
    const [found, filter, counts] = await Promise.allSettled([
      readFilteredSlice(scans({}), withError, 1),
      readFilteredSlice(scans({}), withError, 2),
      countByStatus(scans({}), undefined),
    ]);
    const reason = new InvalidResponseError('the second page is broken');
    expect(found).toMatchObject({
      status: 'fulfilled',
      value: { rows: [{ row: { name: 'shipments/s99' } }] },
    });
    expect([filter, counts]).toEqual([
      { status: 'rejected', reason },
      { status: 'rejected', reason },
    ]);
  });

  test('do not wait for fields that start later', async () => {
    const list = createList(newestFirst(100, [1]));
    const scan = list.scans()({});
    await settle();
    expect(list.queries).toEqual([]);
    expect(names(await readFilteredSlice(scan, withError, 1))).toEqual(['shipments/s99']);
  });

  /** What counts ask for. */
  const allRows = Number.POSITIVE_INFINITY;
  /** A loader by id, and the names for which it made a call. */
  function createLoader() {
    const gets: string[] = [];
    const byName = recordLoader(async (name: string): Promise<Row> => {
      gets.push(name);
      return { name };
    });
    return { gets, byName };
  }

  test('keep no rows if they only count rows', async () => {
    const { gets, byName } = createLoader();
    const list = async () => ({ rows: newestFirst(3), nextPageToken: undefined });
    const scan = createScans(list, 1_000, byName, operation())({});
    const pages = await firstPages(scan, 1, allRows);
    await byName.load('shipments/s2');
    expect(pages).toMatchObject([{ page: { rows: newestFirst(3) } }]);
    expect(gets).toEqual(['shipments/s2']);
  });

  test('keep no rows that a write made outdated during the read', async () => {
    const { gets, byName } = createLoader();
    const list = async () => {
      byName.clear('shipments/s2');
      return { rows: newestFirst(3, [0, 1, 2]), nextPageToken: undefined };
    };
    const scan = createScans(list, 1_000, byName, operation())({});
    expect(names(await readFilteredSlice(scan, withError, 5))).toHaveLength(3);
    await byName.load('shipments/s3');
    expect(gets).toEqual(['shipments/s3']);
  });

  test('pass the gate of the operation before each page except the first page', async () => {
    const callContext = operation();
    let sent = 0;
    const taken: number[] = [];
    callContext.scanBudget.gate = {
      takeMorePages() {
        taken.push(sent);
        return undefined;
      },
    };
    const list = async () => {
      sent += 1;
      return { rows: [{ name: `shipments/${sent}` }], nextPageToken: String(sent) };
    };
    const scan = createScans<Row, PageQuery>(list, 1_000, noRecords, callContext)({});
    await firstPages(scan, 3);
    expect([sent, taken]).toEqual([3, [1, 2]]);
  });

  test('keep only the rows that a filter returns', async () => {
    const { gets, byName } = createLoader();
    const list = async ({ pageSize, pageToken = '0' }: PageQuery) => {
      const end = Number(pageToken) + pageSize;
      const rows = newestFirst(150, [3, 120]).slice(Number(pageToken), end);
      return { rows, nextPageToken: end < 150 ? String(end) : undefined };
    };
    const scan = createScans(list, 1_000, byName, operation())({});
    const slice = await readFilteredSlice(scan, withError, 2);
    expect(names(slice)).toEqual(['shipments/s147', 'shipments/s30']);
    await Promise.all([...names(slice), 'shipments/s149'].map((name) => byName.load(name)));
    expect(gets).toEqual(['shipments/s149']);
  });

  /** Scans of an operation whose list holds its pages. `give` ends the oldest one. */
  function createHeldScans(pagesLeft = maxScannedPages) {
    const held: (() => void)[] = [];
    const state = { remainingMs: 30_000, sent: 0 };
    const deadline = { ...noDeadline, remainingMs: () => state.remainingMs };
    const list = async () => {
      state.sent += 1;
      const nextPageToken = String(state.sent);
      await new Promise<void>((resolve) => held.push(resolve));
      return { rows: newestFirst(1), nextPageToken };
    };
    const callContext = operation(pagesLeft, deadline);
    const scans = createScans(list, 1_000, noRecords, callContext);
    return {
      state,
      callContext,
      /** A scan of its own for each text. */
      scan: (search: string) => scans(Object.assign({}, { search })),
      async give() {
        held.shift()?.();
        await settle();
      },
    };
  }

  test('read no further page if the gate opens after half of the time', async () => {
    const { state, scan, give, callContext } = createHeldScans();
    const turn = Promise.withResolvers<void>();
    callContext.scanBudget.gate = { takeMorePages: () => turn.promise };
    const pages = firstPages(scan('late'), 2);
    await settle();
    await give();
    state.remainingMs = 14_000;
    turn.resolve();
    expect(await pages).toMatchObject([{ page: {} }, { endPosition: { pageToken: '1' } }]);
    expect(state.sent).toBe(1);
  });

  test('read only three pages if four scans wait and three pages are left', async () => {
    const { state, scan, give } = createHeldScans(3);
    const pages = ['a', 'b', 'c', 'd'].map((search) => firstPages(scan(search)));
    await settle();
    for (let n = 0; n < 3; n += 1) await give();
    expect((await Promise.all(pages)).flat().map((page) => Object.keys(page))).toEqual([
      ['page', 'position', 'prime'],
      ['page', 'position', 'prime'],
      ['page', 'position', 'prime'],
      ['endPosition'],
    ]);
    expect(state.sent).toBe(3);
  });

  test('read no further page after half of the time of their operation', async () => {
    const list = createList(newestFirst(5_000, [0, 150]));
    let remainingMs = 30_000;
    const deadline = { ...noDeadline, remainingMs: () => remainingMs };
    const scan = list.scans(maxScannedPages, deadline);
    remainingMs = 14_000;
    const first = await readFilteredSlice(scan({}), withError, 5);
    expect([names(first), first.hasNextPage, list.queries]).toEqual([['shipments/s5000'], true, ['100']]);
    const next = await readFilteredSlice(scan({}, first.endPosition), withError, 5);
    expect([names(next), next.hasNextPage, list.queries.splice(0)]).toEqual([
      ['shipments/s4850'],
      true,
      ['100', '100@100'],
    ]);
    remainingMs = 15_000;
    const numbers = new Map([
      ['WITH_ERROR', 2],
      ['DELIVERED', 4_998],
    ]);
    expect(await countByStatus(scan({}), undefined)).toEqual({
      byStatus: numbers,
      byCourier: new Map([[null, numbers]]),
      isExact: true,
      asOf: expect.any(String),
      mayBeKept: true,
    });
    expect(list.queries).toEqual(['1000', ...pagesOf1000(1_000, 5_000)]);
  });

  test('share a limit of 20 pages', async () => {
    const list = createList(newestFirst(50_000));
    const scans = list.scans();
    const counts = await countByStatus(scans({}), undefined);
    const slice = await readFilteredSlice(scans({ page: 2 } as object), withError, 5);
    const late = await countByStatus(scans({ page: 3 } as object), undefined);
    expect([names(slice), slice.hasNextPage]).toEqual([[], true]);
    const asOf = expect.any(String);
    const all = new Map([['DELIVERED', 20_000]]);
    expect([counts, late]).toEqual([
      { byStatus: all, byCourier: new Map([[null, all]]), isExact: false, asOf, mayBeKept: true },
      { byStatus: new Map(), byCourier: new Map(), isExact: false, asOf, mayBeKept: false },
    ]);
    expect(list.queries).toEqual(['1000', ...pagesOf1000(1_000, 20_000)]);
  });
});

const statuses = ['GENERATING_LABEL', 'LABEL_GENERATED', 'IN_PROGRESS', 'DELIVERED', 'WITH_ERROR', 'NEWER'];

test('the pages of any filtered list contain exactly the matching rows', async () => {
  const rowOf = fc.record({
    minutes: fc.integer({ min: 0, max: 5_000 }),
    status: fc.constantFrom(...statuses),
    isBroken: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(rowOf, { maxLength: 3_000, size: 'max' }),
      fc.constantFrom('newest', 'oldest', 'name', 'none'),
      fc.subarray(statuses, { minLength: 1 }),
      fc.integer({ min: 0, max: 5_000 }),
      fc.integer({ min: 1, max: 200 }),
      async (entries, order, wanted, fromMinutes, first) => {
        const rows = entries.map(({ minutes, status, isBroken }, index): Row => {
          const entry = { ...row(minutes, status), name: `shipments/${index}` };
          return isBroken && index % 7 === 0 ? { name: entry.name, status } : entry;
        });
        const timeOf = ({ createTime = '' }: Row) => Date.parse(createTime) || 0;
        if (order === 'newest') rows.sort((a, b) => timeOf(b) - timeOf(a));
        if (order === 'oldest') rows.sort((a, b) => timeOf(a) - timeOf(b));
        if (order === 'name') rows.sort((a, b) => (a.name < b.name ? -1 : 1));
        const filter: RowFilter = { ...since(fromMinutes), statuses: wanted };
        const matches = (entry: Row) => matchesFilter(entry, filter);
        const isPast = (seen: readonly Row[]) => {
          const times = seen.filter(({ createTime }) => createTime !== undefined).map(timeOf);
          const isSorted = times.every((time, index) => index === 0 || time <= (times[index - 1] ?? 0));
          const oldest = times.at(-1) ?? 0;
          return (
            isSorted && times.length >= 200 && oldest < (times[0] ?? 0) && oldest < timeOf(row(fromMinutes))
          );
        };
        const list = createList(rows);
        const found: string[] = [];
        const queries: string[] = [];
        let after: Position | undefined;
        let hasNextPage: boolean;
        do {
          queries.push(...queriesFor(rows, matches, first, after, isPast));
          const slice = await list.read(filter, first, after && { after });
          found.push(...names(slice));
          hasNextPage = slice.hasNextPage;
          after = slice.rows.at(-1)?.after;
        } while (hasNextPage && after !== undefined);
        expect({ found, queries: list.queries }).toEqual({
          found: rows.filter(matches).map(({ name }) => name),
          queries,
        });
      },
    ),
    // Shrinking thousands of rows takes minutes.
    { seed: 20261124, numRuns: 60, endOnFailure: true },
  );
});
