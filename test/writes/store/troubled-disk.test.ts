import { statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { StoreUnavailableError } from '../../../src/writes/store/key-store.ts';
import type { SqliteStoreOptions } from '../../../src/writes/store/sqlite-store.ts';
import { createDisk } from '../../fixtures/troubled-disk.ts';
import { ask, claimIn, useStoreFolder } from './store-process.ts';

// The stores are in processes of their own, whose disk the tests control.

const key = { merchant: 'merchant', id: 'key' };
const { place, openChild } = useStoreFolder();
const unavailable = { error: StoreUnavailableError.name };
// Enough for a busy machine.
const timeoutMs = 3_000;
const noResponse = `The key store did not respond within ${timeoutMs} ms. Check its disk.`;

async function openOnDisk(options: Partial<SqliteStoreOptions> = { timeoutMs }) {
  const disk = createDisk(place.folder);
  const child = await openChild(options, disk.nodeOptions);
  const failure = async () => (await ask(child, { run: 'failure' })).value;
  return { disk, child, failure };
}

describe('a store whose disk hangs', () => {
  test('refuses operations, and works again by itself', async () => {
    const { disk, child, failure } = await openOnDisk();
    const claim = await claimIn(child, key);
    disk.become('hangs');
    expect(await ask(child, { run: 'note service', service: 'a' })).toEqual(unavailable);
    expect(await ask(child, { run: 'checkpoint', claim, value: 1 })).toEqual(unavailable);
    expect(await failure()).toBe(noResponse);
    disk.heal();
    await expect.poll(failure).toBeUndefined();
    expect(await ask(child, { run: 'checkpoint', claim, value: 2 })).toEqual({});
  });

  test('skips operations whose time limit has passed', async () => {
    const { disk, child, failure } = await openOnDisk();
    const claim = await claimIn(child, key);
    await ask(child, { run: 'checkpoint', claim, value: 'old' });
    disk.become('hangs');
    // The thread hangs in the first operation, and finds the second one when its time has ended.
    expect(await ask(child, { run: 'note service', service: 'a' })).toEqual(unavailable);
    expect(await ask(child, { run: 'checkpoint', claim, value: 'late' })).toEqual(unavailable);
    disk.heal();
    await expect.poll(failure).toBeUndefined();
    await ask(child, { run: 'abandon', claim });
    expect(await ask(child, { run: 'claim', key })).toMatchObject({ value: { progress: 'old' } });
  });

  test('ends a claim later if the end failed while the disk hung', async () => {
    const { disk, child, failure } = await openOnDisk();
    const finished = await claimIn(child, { ...key, id: 'finished' });
    const abandoned = await claimIn(child, { ...key, id: 'abandoned' });
    const released = await claimIn(child, { ...key, id: 'released' });
    disk.become('hangs');
    expect(await ask(child, { run: 'finish', claim: finished, value: 'outcome' })).toEqual(unavailable);
    expect(await ask(child, { run: 'abandon', claim: abandoned })).toEqual(unavailable);
    expect(await ask(child, { run: 'release', claim: released })).toEqual(unavailable);
    disk.heal();
    await expect.poll(failure).toBeUndefined();
    const claimAgain = async (name: typeof key) => (await ask(child, { run: 'claim', key: name })).value;
    expect(await claimAgain(finished.key)).toEqual({ state: 'done', outcome: 'outcome' });
    expect(await claimAgain(abandoned.key)).toMatchObject({ isResumed: true });
    expect(await claimAgain(released.key)).toMatchObject({ isResumed: false });
  });

  test('runs all requests that waited as one transaction', async () => {
    const { disk, child } = await openOnDisk({ timeoutMs: 30_000 });
    await claimIn(child, key);
    const walPages = () => statSync(`${place.file}-wal`).size / 4096;
    const pagesBefore = walPages();
    disk.become('hangs');
    const keys = Array.from({ length: 50 }, (_, index) => ({ ...key, id: `${index}` }));
    expect(await ask(child, { run: 'start claims', keys })).toEqual({ value: 50 });
    disk.heal();
    expect(await ask(child, { run: 'started claims' })).toEqual({ value: 50 });
    // A transaction for each claim would write at least two pages for each.
    expect(walPages() - pagesBefore).toBeLessThan(60);
  });

  test('opens later if the disk hangs at the start', async () => {
    const disk = createDisk(place.folder);
    disk.become('hangs');
    const child = await openChild({ timeoutMs }, disk.nodeOptions);
    expect(await ask(child, { run: 'failure' })).toEqual({ value: noResponse });
    expect(await ask(child, { run: 'claim', key })).toEqual(unavailable);
    disk.heal();
    await expect.poll(() => ask(child, { run: 'failure' })).toEqual({});
    await claimIn(child, key);
  });
});

test('a store reports the failure of its disk until it can write again', async () => {
  const { disk, child, failure } = await openOnDisk();
  const claim = await claimIn(child, key);
  disk.become('fails');
  expect(await ask(child, { run: 'finish', claim, value: 'outcome' })).toEqual(unavailable);
  const problem = 'The key store failed: disk I/O error. Check its file and disk.';
  // The next check fails too.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(await failure()).toBe(problem);
  disk.heal();
  await expect.poll(failure).toBeUndefined();
  expect(await ask(child, { run: 'claim', key })).toEqual({ value: { state: 'done', outcome: 'outcome' } });
});
