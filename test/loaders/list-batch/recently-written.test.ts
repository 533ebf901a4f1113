import { beforeEach, expect, test, vi } from 'vitest';
import { ListBatchLoader } from '../../../src/loaders/list-batch/list-batch-loader.ts';
import { ListState, SharedListState } from '../../../src/loaders/list-batch/list-state.ts';
import { RecentlyWritten } from '../../../src/loaders/list-batch/recently-written.ts';
import { createCallContexts } from '../../fixtures/call-contexts.ts';
import { named } from './list.ts';

let nowMs = 0;
beforeEach(() => {
  nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
});

test('a record counts as written for 30 seconds after the latest write', () => {
  const written = new RecentlyWritten();
  expect(written.has('r1')).toBe(false);
  written.note('r1');
  nowMs = 20_000;
  written.note('r1');
  nowMs = 49_999;
  expect([written.has('r1'), written.has('r2')]).toEqual([true, false]);
  nowMs = 50_000;
  expect(written.has('r1')).toBe(false);
});

test('only the latest 200 records count as written', () => {
  const written = new RecentlyWritten();
  for (let number = 1; number <= 200; number += 1) written.note(`r${number}`);
  written.note('r1');
  expect([written.has('r1'), written.has('r2')]).toEqual([true, true]);
  written.note('r201');
  expect([written.has('r1'), written.has('r2'), written.has('r201')]).toEqual([true, false, true]);
});

/** A loader of a new operation, whose list has old rows. */
function start(state: ListState, readsPerOperation = 250) {
  const calls: string[] = [];
  const loader = new ListBatchLoader<{ name: string; source?: string }>({
    kind: 'orders',
    isRowComplete: () => true,
    maxPageSize: 1_000,
    state,
    isListUsed: true,
    observer: undefined,
    callContext: createCallContexts({ readsPerOperation }).of('a', new AbortController().signal),
    async get(name) {
      calls.push(name);
      return { name, source: 'record' };
    },
    async list({ pageSize }) {
      calls.push(`page of ${pageSize}`);
      return { rows: rows(30).slice(0, pageSize), nextPageToken: undefined };
    },
  });
  return { loader, calls };
}

const names = (count: number) => Array.from({ length: count }, (_, index) => `r${index + 1}`);
const rows = (count: number) => named(...names(count)).map((row) => ({ ...row, source: 'row' }));

function comparedState(): ListState {
  const shared = new SharedListState();
  void shared.compare({}, Promise.resolve({}));
  return new ListState(shared);
}

test('later operations read a written record by its id', async () => {
  const state = comparedState();
  start(state).loader.replace('r3', { name: 'r3', source: 'response' });
  const { loader, calls } = start(state);
  const records = await Promise.all(names(10).map((name) => loader.load(name)));
  expect(records).toEqual(names(10).map((name) => ({ name, source: name === 'r3' ? 'record' : 'row' })));
  expect(calls).toEqual(['r3', 'page of 18']);
});

test('the operation of the write uses the response to the write', async () => {
  const { loader, calls } = start(comparedState());
  loader.replace('r3', { name: 'r3', source: 'response' });
  loader.prime(rows(10), loader.generation);
  expect(await loader.load('r3')).toEqual({ name: 'r3', source: 'response' });
  expect(await loader.load('r4')).toEqual({ name: 'r4', source: 'row' });
  expect(calls).toEqual([]);
});

test('a batch of written records reads no page', async () => {
  const state = comparedState();
  for (const name of names(10)) state.written.note(name);
  const { loader, calls } = start(state);
  loader.expect({ rowsBefore: 0, rowsPerId: state.rowsPerId('ids') });
  await Promise.all(names(10).map((name) => loader.load(name)));
  expect(calls).toEqual(names(10));
});

test('rows of other calls are not kept for written records', async () => {
  const state = comparedState();
  state.written.note('r3');
  const { loader, calls } = start(state);
  loader.prime(rows(10), loader.generation);
  expect(await loader.load('r3')).toEqual({ name: 'r3', source: 'record' });
  expect(await loader.load('r4')).toEqual({ name: 'r4', source: 'row' });
  expect(calls).toEqual(['r3']);
});

test.each([
  [20, 'record', 10],
  [19, 'row', 1],
])('with %i reads left, ten written records have the source "%s"', async (readsLeft, source, callCount) => {
  const state = comparedState();
  for (const name of names(10)) state.written.note(name);
  const { loader, calls } = start(state, readsLeft);
  const records = await Promise.all(names(10).map((name) => loader.load(name)));
  expect(records).toEqual(names(10).map((name) => ({ name, source })));
  expect(calls).toHaveLength(callCount);
});
