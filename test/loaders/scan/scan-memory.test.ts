import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { neverAborted } from '../../../src/concurrency/cancellation.ts';
import { recordLoader } from '../../../src/loaders/record-loader.ts';
import { countByStatus } from '../../../src/loaders/scan/count-by-status.ts';
import { readFilteredSlice } from '../../../src/loaders/scan/filtered-slice.ts';
import { createScans, type ListScan } from '../../../src/loaders/scan/list-scan.ts';
import type { FilteredRow } from '../../../src/loaders/scan/row-filter.ts';
import { createCallContexts } from '../../fixtures/call-contexts.ts';
import { until } from '../../fixtures/rest-service.ts';

function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc');
}

const fields: [string, (scan: ListScan<FilteredRow>) => Promise<unknown>][] = [
  ['counts', (scan) => countByStatus(scan, undefined)],
  ['a filter', (scan) => readFilteredSlice(scan, { statuses: ['WITH_ERROR'] }, 10)],
];

test.each(fields)('a scan for %s keeps no page while it waits for the next page', async (_what, read) => {
  const pages: WeakRef<object>[] = [];
  const third = Promise.withResolvers<void>();
  const list = async () => {
    if (pages.length === 2) await third.promise;
    const start = 1_000 * pages.length;
    const rows = Array.from({ length: 1_000 }, (_, row): FilteredRow => ({ name: `orders/o${start + row}` }));
    pages.push(new WeakRef(rows));
    return { rows, nextPageToken: pages.length === 3 ? undefined : String(pages.length) };
  };
  const byName = recordLoader<FilteredRow>(() => Promise.resolve(null));
  const callContext = createCallContexts().of('token', neverAborted);
  const result = read(createScans(list, 1_000, byName, callContext)({}));
  await until(() => pages.length === 2);
  const collectGarbage = garbageCollector();
  // A WeakRef holds what it was made for until the present job has ended.
  await until(() => {
    collectGarbage();
    return pages.every((page) => page.deref() === undefined);
  });
  third.resolve();
  await result;
  expect(pages.length).toBe(3);
});
