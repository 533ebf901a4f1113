import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { StoreOpenError, StoreUnavailableError } from '../../../src/writes/store/key-store.ts';
import { openDatabase } from '../../../src/writes/store/sqlite-file.ts';
import { applicationId } from '../../../src/writes/store/state-file.ts';
import { mustClaim } from './contract.ts';
import { useStoreFolder } from './store-process.ts';

const hourMs = 60 * 60 * 1000;
const key = { merchant: 'merchant', id: 'key' };

const { place, open } = useStoreFolder();

/** Runs SQL on the file. */
function execute(sql: string): void {
  const database = new DatabaseSync(place.file);
  database.exec(sql);
  database.close();
}

function query(sql: string): unknown {
  const database = new DatabaseSync(place.file, { readOnly: true });
  const [value] = Object.values(database.prepare(sql).get() ?? {});
  database.close();
  return value;
}

const permissionsOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe('the file of a store', () => {
  test.each([
    ['journal_mode', 'wal'],
    ['locking_mode', 'exclusive'],
    ['synchronous', 2],
    ['application_id', applicationId],
    ['user_version', 1],
  ])('has %s = %j', (name, value) => {
    const options = { path: place.file, secret: Buffer.alloc(32), maxPages: undefined };
    for (const state of ['new', 'existing']) {
      const { database } = openDatabase(options);
      expect(database.prepare(`PRAGMA ${name}`).get(), state).toEqual({
        [name]: value,
      });
      database.close();
    }
  });

  test('is accessible only to its owner', async () => {
    writeFileSync(place.file, '', { mode: 0o644 });
    const store = await open();
    await mustClaim(store, key);
    expect(readdirSync(place.folder).map((name) => permissionsOf(join(place.folder, name)))).toEqual([
      '600',
      '600',
    ]);
  });

  test('becomes private to its owner again when it is opened', async () => {
    await (await open()).close();
    chmodSync(place.file, 0o666);
    await mustClaim(await open(), key);
    expect(readdirSync(place.folder).map((name) => permissionsOf(join(place.folder, name)))).toEqual([
      '600',
      '600',
    ]);
  });

  test('has a secret of its own', async () => {
    const store = await open();
    const secret = store.secret();
    await store.close();
    expect((await open()).secret()).toEqual(secret);
    place.file = join(place.folder, 'another.db');
    expect((await open()).secret()).not.toEqual(secret);
  });

  test('removes at most 100 expired keys per claim', async () => {
    let nowMs = 0;
    /** Closes the store, because nobody else can read the file of an open one. */
    const count = async (table: string) => {
      await store.close();
      const rows = query(`SELECT count(*) FROM ${table}`);
      store = await open({ now: () => nowMs });
      return rows;
    };
    let store = await open({ now: () => nowMs });
    const merchants = Array.from({ length: 150 }, (_, index) => `merchant ${index}`);
    for (const merchant of merchants)
      await store.release(await mustClaim(store, { merchant, id: 'released' }));
    await Promise.all(
      merchants.map(async (merchant) => store.abandon(await mustClaim(store, { merchant, id: 'key' }))),
    );
    expect(await count('keys')).toBe(150);
    nowMs = 24 * hourMs;
    await mustClaim(store, key);
    expect(await count('keys')).toBe(51);
    await mustClaim(store, { ...key, id: 'next' });
    expect(await count('keys')).toBe(2);
    expect(await count('merchants')).toBe(1);
  });
});

describe('opening a store', () => {
  const openError = async (): Promise<string> => {
    const error: unknown = await open().catch((reason: unknown) => reason);
    if (!(error instanceof StoreOpenError)) throw error;
    return error.message.replace(place.folder, '');
  };

  test('fails if the file is not a SQLite file', async () => {
    writeFileSync(place.file, 'A file of another program, '.repeat(100));
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
    execute('PRAGMA user_version = 2');
    expect(await openError()).toBe(
      '/keys.db has version 2, but this version of Waybill supports version 1. Use the version of Waybill that wrote the file, or a new file.',
    );
  });

  test('fails if the directory does not exist', async () => {
    place.file = join(place.folder, 'missing', 'keys.db');
    expect(await openError()).toBe(
      '/missing/keys.db is in a directory that does not exist. Create the directory.',
    );
  });

  test('fails if the file is a directory', async () => {
    mkdirSync(place.file);
    expect(await openError()).toBe(
      '/keys.db is a directory, but must be a regular file. Choose another path.',
    );
  });

  test('fails if the directory is not writable', async () => {
    // For root, only a directory of the kernel is not writable.
    if (process.getuid?.() === 0) place.file = '/sys/keys.db';
    else chmodSync(place.folder, 0o500);
    expect(await openError()).toMatch(
      /keys\.db (is not writable|cannot be created \(E(ACCES|PERM|ROFS)\))\. Check /,
    );
  });

  test.skipIf(process.getuid?.() === 0)('fails if the file is not writable', async () => {
    await (await open()).close();
    chmodSync(place.file, 0o400);
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

test('a claim of a held key writes nothing', async () => {
  const store = await open();
  await mustClaim(store, key);
  const walSize = () => statSync(`${place.file}-wal`).size;
  const sizeBefore = walSize();
  for (let count = 0; count < 10; count += 1) await store.claim(key, 'input');
  expect(walSize()).toBe(sizeBefore);
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

  test('fails the operation that needs space, and no other in the same transaction', async () => {
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
    const store = await open({ maxPages: 30 });
    await expect(store.noteOrganizationShown(large)).rejects.toThrow(StoreUnavailableError);
    expect(store.failure()).toBeDefined();
    await expect.poll(() => store.failure()).toBeUndefined();
  });
});
