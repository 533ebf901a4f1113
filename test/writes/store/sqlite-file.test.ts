import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type KeyStore, StoreOpenError, StoreUnavailableError } from '../../../src/writes/store/key-store.ts';
import { openDatabase } from '../../../src/writes/store/sqlite-file.ts';
import { openSqliteStore, type SqliteStoreOptions } from '../../../src/writes/store/sqlite-store.ts';
import { applicationId } from '../../../src/writes/store/state-file.ts';
import { mustClaim } from './contract.ts';

const hourMs = 60 * 60 * 1000;
const key = { merchant: 'merchant', id: 'key' };

let folder = '';
let file = '';
const stores: KeyStore[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'waybill-'));
  file = join(folder, 'keys.db');
});

afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
  chmodSync(folder, 0o700);
  rmSync(folder, { recursive: true });
});

async function open(options: Partial<SqliteStoreOptions> = {}): Promise<KeyStore> {
  const store = await openSqliteStore({ file, ...options });
  stores.push(store);
  return store;
}

/** Runs SQL on the file. */
function execute(sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}

function query(sql: string): unknown {
  const database = new DatabaseSync(file, { readOnly: true });
  const [value] = Object.values(database.prepare(sql).get() ?? {});
  database.close();
  return value;
}

const permissionsOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe('the file of a store', () => {
  test.each([
    ['journal_mode', 'wal'],
    ['synchronous', 2],
    ['application_id', applicationId],
    ['user_version', 1],
  ])('has %s = %j', (name, value) => {
    const options = { path: file, secret: Buffer.alloc(32), busyTimeoutMs: 100, maxPages: undefined };
    for (const state of ['new', 'existing']) {
      const { database } = openDatabase(options);
      expect(database.prepare(`PRAGMA ${name}`).get(), state).toEqual({
        [name]: value,
      });
      database.close();
    }
  });

  test('is accessible only to its owner', async () => {
    writeFileSync(file, '', { mode: 0o644 });
    const store = await open();
    await mustClaim(store, key);
    expect(['', '-wal', '-shm'].map((suffix) => permissionsOf(`${file}${suffix}`))).toEqual(
      Array(3).fill('600'),
    );
  });

  test('becomes private to its owner again when it is opened', async () => {
    await (await open()).close();
    chmodSync(file, 0o666);
    await mustClaim(await open(), key);
    expect(['', '-wal', '-shm'].map((suffix) => permissionsOf(`${file}${suffix}`))).toEqual(
      Array(3).fill('600'),
    );
  });

  test('still contains its secret after the store is closed', async () => {
    const { secret, close } = await open();
    expect(secret).toHaveLength(32);
    await close();
    expect((await open()).secret).toEqual(secret);
    file = join(folder, 'another.db');
    expect((await open()).secret).not.toEqual(secret);
  });

  test('keeps the keys after close', async () => {
    const store = await open();
    await store.finish(await mustClaim(store, key), 'outcome');
    await store.close();
    expect(await (await open()).claim(key, 'input')).toEqual({ state: 'done', outcome: 'outcome' });
  });

  test('treats a lease from before a reboot as expired', async () => {
    const store = await open();
    await mustClaim(store, key);
    await store.close();
    expect(await (await open()).claim(key, 'input')).toEqual({ state: 'held' });
    // A boot restarts the monotonic clock, so that earlier times are in the future.
    execute('UPDATE owners SET renewed_ms = renewed_ms + 1000000');
    expect(await (await open()).claim(key, 'input')).toMatchObject({ state: 'claimed', isResumed: true });
  });

  test('keeps no lease that has ended', async () => {
    const store = await open({ leaseMs: 50 });
    for (const id of ['first', 'second']) {
      await store.release(await mustClaim(store, { ...key, id }));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await mustClaim(store, key);
    expect(query('SELECT count(*) FROM owners')).toBe(1);
  });

  test('removes at most 100 expired keys per claim', async () => {
    let nowMs = 0;
    const store = await open({ now: () => nowMs });
    const merchants = Array.from({ length: 150 }, (_, index) => `merchant ${index}`);
    for (const merchant of merchants)
      await store.release(await mustClaim(store, { merchant, id: 'released' }));
    await Promise.all(
      merchants.map(async (merchant) => store.abandon(await mustClaim(store, { merchant, id: 'key' }))),
    );
    expect(query('SELECT count(*) FROM keys')).toBe(150);
    nowMs = 24 * hourMs;
    await mustClaim(store, key);
    expect(query('SELECT count(*) FROM keys')).toBe(51);
    await mustClaim(store, { ...key, id: 'next' });
    expect(query('SELECT count(*) FROM keys')).toBe(2);
    expect(query('SELECT count(*) FROM merchants')).toBe(1);
  });
});

describe('opening a store', () => {
  const openError = async (): Promise<string> => {
    const error: unknown = await open().catch((reason: unknown) => reason);
    if (!(error instanceof StoreOpenError)) throw error;
    return error.message.replace(folder, '');
  };

  test('uses the secret of a process that creates the file at the same time', async () => {
    writeFileSync(file, '');
    const other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    const opening = open();
    await new Promise((resolve) => setTimeout(resolve, 300));
    other.exec('ROLLBACK');
    other.close();
    const { database, secret } = openDatabase({
      path: file,
      secret: randomBytes(32),
      busyTimeoutMs: 1000,
      maxPages: undefined,
    });
    database.close();
    expect((await opening).secret).toEqual(Buffer.from(secret));
  });

  test('fails if the file is not a SQLite file', async () => {
    writeFileSync(file, 'A file of another program, '.repeat(100));
    expect(await openError()).toBe('/keys.db is not a SQLite file. Choose another file.');
  });

  test.each([
    ['no application_id', 'CREATE TABLE keys (id)'],
    ['another application_id', 'PRAGMA application_id = 1'],
    ['another application_id and the same version', 'PRAGMA application_id = 1; PRAGMA user_version = 1'],
  ])('fails without changing a file with %s', async (_, sql) => {
    execute(sql);
    expect(await openError()).toBe('/keys.db belongs to another program. Choose another file.');
    expect(query('PRAGMA journal_mode')).toBe('delete');
  });

  test('fails if the file has a newer version', async () => {
    await (await open()).close();
    stores.length = 0;
    execute('PRAGMA user_version = 2');
    expect(await openError()).toBe(
      '/keys.db has version 2, but this version of Waybill supports version 1. Use the newer version of Waybill, or a new file.',
    );
  });

  test('fails if the directory does not exist', async () => {
    file = join(folder, 'missing', 'keys.db');
    expect(await openError()).toBe(
      '/missing/keys.db is in a directory that does not exist. Create the directory.',
    );
  });

  test('fails if the file is a directory', async () => {
    mkdirSync(file);
    expect(await openError()).toBe(
      '/keys.db is a directory, but must be a regular file. Choose another path.',
    );
  });

  test('fails if the directory is not writable', async () => {
    // For root, only a directory of the kernel is not writable.
    if (process.getuid?.() === 0) file = '/sys/keys.db';
    else chmodSync(folder, 0o500);
    expect(await openError()).toMatch(
      /keys\.db (is not writable|cannot be created \(E(ACCES|PERM|ROFS)\))\. Check /,
    );
  });

  test.skipIf(process.getuid?.() === 0)('fails if the file is not writable', async () => {
    await (await open()).close();
    chmodSync(file, 0o400);
    expect(await openError()).toBe(
      '/keys.db is not writable. Check the permissions of the file and its directory.',
    );
  });

  test.each([
    ['a table is missing', 'DROP TABLE secrets', 'cannot be opened (no such table: secrets). Check '],
    ['the secret is missing', 'DELETE FROM secrets', 'is damaged: its secret is missing. Choose a new file.'],
  ])('fails if %s', async (_what, sql, problem) => {
    await (await open()).close();
    execute(sql);
    expect(await openError()).toMatch(`/keys.db ${problem}`);
  });
});

test('requests that wait together share a transaction', async () => {
  const store = await open();
  await mustClaim(store, key);
  const other = new DatabaseSync(file);
  other.exec('BEGIN IMMEDIATE');
  const walPages = () => statSync(`${file}-wal`).size / 4096;
  const pagesBefore = walPages();
  const claims: Promise<unknown>[] = [];
  for (let id = 0; id < 50; id += 1) {
    claims.push(mustClaim(store, { ...key, id: `waiting ${id}` }));
    await new Promise(setImmediate);
  }
  other.exec('ROLLBACK');
  other.close();
  await Promise.all(claims);
  // A transaction for each claim would write at least two pages for each.
  expect(walPages() - pagesBefore).toBeLessThan(60);
});

test('a claim of a held key writes nothing', async () => {
  const store = await open();
  await mustClaim(store, key);
  const walSize = () => statSync(`${file}-wal`).size;
  const sizeBefore = walSize();
  for (let count = 0; count < 10; count += 1) await store.claim(key, 'input');
  expect(walSize()).toBe(sizeBefore);
});

test('a store reports its failure until it can write again', async () => {
  const store = await open({ leaseMs: 500 });
  execute(`
    CREATE TRIGGER no_service BEFORE INSERT ON services BEGIN SELECT RAISE(ABORT, 'no space'); END;
    CREATE TRIGGER no_lease BEFORE INSERT ON owners BEGIN SELECT RAISE(ABORT, 'no space'); END;
  `);
  await expect(store.noteOrganizationShown('service')).rejects.toThrow(StoreUnavailableError);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(store.failure()).toMatch('no space');
  execute('DROP TRIGGER no_lease');
  await expect.poll(() => store.failure()).toBeUndefined();
});

describe('a full disk', () => {
  const large = 'x'.repeat(200_000);

  test('affects only operations that need more space', async () => {
    const store = await open({ maxPages: 30 });
    const claim = await mustClaim(store, key);
    const rejection = store.checkpoint(claim, large);
    await expect(rejection).rejects.toThrow(StoreUnavailableError);
    await expect(rejection).rejects.toThrow('The disk of the key store is full. Free some space.');
    expect(store.failure()).toBe('The disk of the key store is full. Free some space.');
    await store.checkpoint(claim, 'small');
    expect(store.failure()).toBeUndefined();
    await store.abandon(claim);
    expect(await store.claim(key, 'input')).toMatchObject({ progress: 'small' });
  });

  test('affects only one operation of a shared transaction: the one that needs space', async () => {
    const store = await open({ maxPages: 30 });
    const claim = await mustClaim(store, key);
    const second = await mustClaim(store, { ...key, id: 'second' });
    const results = await Promise.allSettled([
      store.checkpoint(claim, 'small'),
      store.checkpoint(second, large),
      store.claim({ ...key, id: 'third' }, 'input'),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  test('prevents new keys, but stored outcomes can still be read', async () => {
    const store = await open({ maxPages: 30 });
    const name = (index: number) => ({ ...key, id: `${index} ${'x'.repeat(500)}` });
    let count = 0;
    const error: unknown = await (async () => {
      for (; count < 1000; count += 1) await store.finish(await mustClaim(store, name(count)), count);
    })().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect(await store.claim(name(0), 'input')).toEqual({ state: 'done', outcome: 0 });
  });

  test('stops being reported by failure() even without another operation', async () => {
    const store = await open({ maxPages: 30, leaseMs: 500 });
    await expect(store.noteOrganizationShown(large)).rejects.toThrow(StoreUnavailableError);
    expect(store.failure()).toBeDefined();
    await expect.poll(() => store.failure()).toBeUndefined();
  });
});
