import { expect, test } from 'vitest';
import { sharedReadings } from '../../../src/loaders/scan/shared-readings.ts';
import type { Page, PageQuery } from '../../../src/rest/api-types.ts';
import { errorOf } from '../../fixtures/rest-service.ts';

interface Row {
  name: string;
}

const pageSize = 2;

/** A list of so many rows, whose pages wait for `hold`, with the tokens of the pages that were requested. */
function createList(rowCount: number, hold: (pageToken?: string) => Promise<void> = async () => {}) {
  const requested: string[] = [];
  async function load({ pageToken }: PageQuery): Promise<Page<Row>> {
    requested.push(pageToken ?? 'first');
    await hold(pageToken);
    const start = Number(pageToken ?? 0);
    const names = Array.from({ length: rowCount }, (_, index) => ({ name: `rows/${index}` }));
    const nextPageToken = start + pageSize < rowCount ? String(start + pageSize) : undefined;
    return { rows: names.slice(start, start + pageSize), nextPageToken };
  }
  const readPages = sharedReadings<Row>({ load, loadFurther: load, clearAll() {}, maxPageSize: pageSize });
  /** Reads until the page with this row. @returns the names of the rows that were read */
  async function readTo(name?: string): Promise<string[]> {
    const names: string[] = [];
    await readPages(async (rows) => {
      names.push(...rows.map((row) => row.name));
      return name !== undefined && names.includes(name);
    });
    return names;
  }
  return { requested, readPages, readTo };
}

test('readers that come together share the pages, and each reads as far as it needs', async () => {
  const { requested, readTo } = createList(6);
  const results = await Promise.all([readTo('rows/0'), readTo('rows/3'), readTo('rows/1')]);
  expect(results.map((names) => names.length)).toEqual([2, 4, 2]);
  expect(requested).toEqual(['first', '2']);
});

test('readers that come during a reading share the next reading', async () => {
  const requestedOnce = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { requested, readTo } = createList(3, async () => {
    requestedOnce.resolve();
    await released;
  });
  const first = readTo();
  await requestedOnce.promise;
  const later = [readTo(), readTo()];
  expect(requested).toEqual(['first']);
  release();
  const whole = ['rows/0', 'rows/1', 'rows/2'];
  expect(await Promise.all([first, ...later])).toEqual([whole, whole, whole]);
  expect(requested).toEqual(['first', '2', 'first', '2']);
});

test('an error of a reader fails no other reader', async () => {
  const { requested, readPages, readTo } = createList(4);
  const broken = readPages(async () => {
    throw new Error('broken');
  });
  const [error, names] = await Promise.all([errorOf(broken), readTo()]);
  expect(error).toEqual(new Error('broken'));
  expect(names).toHaveLength(4);
  expect(requested).toEqual(['first', '2']);
});

test('an error of a page fails the readers that need the page, and not the next reading', async () => {
  let isBroken = true;
  const { readTo } = createList(4, async (pageToken) => {
    if (pageToken !== undefined && isBroken) throw new Error('no page');
  });
  const deep = readTo();
  expect(await Promise.all([readTo('rows/1'), errorOf(deep)])).toEqual([
    ['rows/0', 'rows/1'],
    new Error('no page'),
  ]);
  isBroken = false;
  expect(await readTo()).toHaveLength(4);
});
