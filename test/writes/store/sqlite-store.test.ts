import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { type KeyName, StoreUnavailableError } from '../../../src/writes/store/key-store.ts';
import { openSqliteStore } from '../../../src/writes/store/sqlite-store.ts';
import { describeKeyStore, mustClaim } from './contract.ts';

describeKeyStore('memory', { open: (options) => openSqliteStore({ file: 'memory', ...options }) });

const folder = mkdtempSync(join(tmpdir(), 'waybill-'));
afterAll(() => rmSync(folder, { recursive: true }));

let file = '';
describeKeyStore('a file', {
  open: (options) => {
    file = join(folder, `${randomUUID()}.db`);
    return openSqliteStore({ file, timeoutMs: 30_000, ...options });
  },
  reopen: (options) => openSqliteStore({ file, timeoutMs: 30_000, ...options }),
});

test('a store rejects all requests after its thread has failed', async () => {
  const store = await openSqliteStore({ file: 'memory' });
  const claim = await mustClaim(store, { merchant: 'merchant', id: 'key' });
  // Deliberately wrong: SQLite stores no objects, so the thread throws.
  const invalid = { merchant: 'merchant', id: {} } as unknown as KeyName;
  const problem = /^The thread of the key store failed: .*\. Restart the server\.$/;
  await expect(store.claim(invalid, 'input')).rejects.toThrow(problem);
  await expect(store.finish(claim, 'outcome')).rejects.toThrow(StoreUnavailableError);
  expect(store.holds(claim)).toBe(false);
  expect(store.failure()).toMatch(problem);
  await store.close();
});

test('a store in memory can be closed even if it was never used', async () => {
  const store = await openSqliteStore({ file: 'memory' });
  expect(store.secret()).toHaveLength(32);
  expect(store.failure()).toBeUndefined();
  await store.close();
  await expect(store.wasOrganizationShown('service')).rejects.toThrow(StoreUnavailableError);
});

test('a store in memory waits for a process that stands still for longer than a file may take', async () => {
  const store = await openSqliteStore({ file: 'memory' });
  // The start of the thread has no time limit.
  await store.wasOrganizationShown('service');
  const shown = store.wasOrganizationShown('service');
  await setImmediate();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_100);
  expect(await shown).toBe(false);
  await store.close();
});

test('a store rejects a request if 10,000 requests are pending', async () => {
  const store = await openSqliteStore({ file: 'memory' });
  const claim = await mustClaim(store, { merchant: 'merchant', id: 'key' });
  const accepted = Array.from({ length: 10_000 }, () => store.wasOrganizationShown('service'));
  await expect(store.wasOrganizationShown('service')).rejects.toThrow(StoreUnavailableError);
  // Nobody else would end this claim.
  await store.release(claim);
  expect(new Set(await Promise.all(accepted))).toEqual(new Set([false]));
  expect(await store.wasOrganizationShown('service')).toBe(false);
  await store.close();
});
