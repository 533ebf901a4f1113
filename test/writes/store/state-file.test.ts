import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type KeyStore, StoreOpenError } from '../../../src/writes/store/key-store.ts';
import { openSqliteStore } from '../../../src/writes/store/sqlite-store.ts';
import { mustClaim } from './contract.ts';

const isRoot = process.getuid?.() === 0;

let folder = '';
let file = '';
const stores: KeyStore[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'waybill-'));
  file = join(folder, 'keys');
});

afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
  chmodSync(folder, 0o700);
  rmSync(folder, { recursive: true });
});

async function open(): Promise<KeyStore> {
  const store = await openSqliteStore({ file, timeoutMs: 30_000 });
  stores.push(store);
  return store;
}

/** All that a refused start must not change: names, modes, times and contents. */
function snapshot(): object {
  return readdirSync(folder)
    .sort()
    .map((name) => {
      const { mode, mtimeMs, size, ino, rdev } =
        statSync(join(folder, name), { throwIfNoEntry: false }) ?? {};
      const isRegular = statSync(join(folder, name), { throwIfNoEntry: false })?.isFile();
      const content = isRegular ? readFileSync(join(folder, name), 'base64') : undefined;
      return { name, mode, mtimeMs, size, ino, rdev, content };
    });
}

function createDatabase(sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}

const ownMark = 'PRAGMA application_id = 0x57415942; PRAGMA user_version = 1;';
const notRegular = (kind: string) => `is ${kind}, but must be a regular file. Choose another path.`;

interface Refused {
  create(): unknown;
  problem: string;
  rootOnly?: true;
  notAsRoot?: true;
}

const refused: Record<string, Refused> = {
  'a directory': { create: () => mkdirSync(file), problem: notRegular('a directory') },
  'a pipe': { create: () => execFileSync('mkfifo', [file]), problem: notRegular('a pipe') },
  'a device': {
    // The numbers of /dev/null.
    create: () => execFileSync('mknod', ['-m', '666', file, 'c', '1', '3']),
    problem: notRegular('a device'),
    rootOnly: true,
  },
  'a link to a device': {
    create: () => {
      execFileSync('mknod', ['-m', '666', join(folder, 'device'), 'c', '1', '3']);
      symlinkSync(join(folder, 'device'), file);
    },
    problem: notRegular('a device'),
    rootOnly: true,
  },
  'a link to a directory': {
    create: () => {
      mkdirSync(join(folder, 'directory'));
      symlinkSync(join(folder, 'directory'), file);
    },
    problem: notRegular('a directory'),
  },
  'a link to a pipe': {
    create: () => {
      execFileSync('mkfifo', [join(folder, 'pipe')]);
      symlinkSync(join(folder, 'pipe'), file);
    },
    problem: notRegular('a pipe'),
  },
  'a link to nothing': {
    create: () => symlinkSync(join(folder, 'nothing'), file),
    problem: 'is a link to a file that does not exist. Create that file, or choose another path.',
  },
  'a text file': {
    create: () => writeFileSync(file, 'text '.repeat(1_000), { mode: 0o644 }),
    problem: 'is not a SQLite file. Choose another file.',
  },
  'a short text file': {
    create: () => writeFileSync(file, 'x', { mode: 0o644 }),
    problem: 'is not a SQLite file. Choose another file.',
  },
  'a database of another program': {
    create: () => createDatabase('CREATE TABLE keys (id)'),
    problem: 'belongs to another program. Choose another file.',
  },
  'a database of another program in WAL mode': {
    create: () => createDatabase('PRAGMA journal_mode = WAL; CREATE TABLE keys (id)'),
    problem: 'belongs to another program. Choose another file.',
  },
  'a database of another program without tables': {
    create: () => createDatabase('PRAGMA user_version = 1'),
    problem: 'belongs to another program. Choose another file.',
  },
  'a file of a newer version': {
    create: () => createDatabase(`CREATE TABLE a (b); ${ownMark} PRAGMA user_version = 2`),
    problem:
      'has version 2, but this version of Waybill supports version 1. Use the version of Waybill that wrote the file, or a new file.',
  },
  'a file of Waybill without a secret': {
    create: () => createDatabase(`CREATE TABLE secrets (secret BLOB); ${ownMark}`),
    problem: 'is damaged: its secret is missing. Choose a new file.',
  },
  'a file of Waybill without tables': {
    create: () => createDatabase(`CREATE TABLE other (a); ${ownMark}`),
    problem: 'cannot be opened (no such table: secrets). Check the file, its permissions and its directory.',
  },
  'a file that is not readable': {
    create: () => writeFileSync(file, '', { mode: 0o000 }),
    problem: 'is not readable (EACCES). Check the permissions of the file.',
    notAsRoot: true,
  },
  'a new file beside a directory with the name of its journal': {
    create: () => mkdirSync(`${file}-journal`),
    problem: 'has a directory in place of its -journal file. Choose another path.',
  },
};

describe('a start with a STATE_FILE that is', () => {
  const cases = Object.entries(refused).filter(([, { rootOnly, notAsRoot }]) =>
    isRoot ? !notAsRoot : !rootOnly,
  );
  test.each(cases)('%s is refused with a reason, and changes nothing', async (_what, { create, problem }) => {
    create();
    const paths = readdirSync(folder).map((name) => join(folder, name));
    for (const path of paths) if (statSync(path, { throwIfNoEntry: false })) utimesSync(path, 1_000, 1_000);
    const before = snapshot();
    const error: unknown = await open().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StoreOpenError);
    expect(String(error)).toBe(`StoreOpenError: ${file} ${problem}`);
    expect(snapshot()).toEqual(before);
  });

  test('a socket is refused with a reason, and changes nothing', async () => {
    const server = createServer().listen(file);
    await new Promise((resolve) => server.once('listening', resolve));
    const before = snapshot();
    await expect(open()).rejects.toThrow(`${file} ${notRegular('a socket')}`);
    expect(snapshot()).toEqual(before);
    server.close();
  });

  test.each([
    [
      'in a missing directory',
      'missing/keys',
      'is in a directory that does not exist. Create the directory.',
    ],
    ['below a file', 'text/keys', 'is in a directory that does not exist. Create the directory.'],
  ])('%s is refused with a reason, and changes nothing', async (_what, name, problem) => {
    writeFileSync(join(folder, 'text'), 'a');
    file = join(folder, name);
    const before = snapshot();
    await expect(open()).rejects.toThrow(`${file} ${problem}`);
    expect(snapshot()).toEqual(before);
  });

  test('on a full disk leaves no new file behind', async () => {
    await expect(openSqliteStore({ file, maxPages: 2 })).rejects.toThrow('(database or disk is full)');
    expect(readdirSync(folder)).toEqual([]);
  });

  test('new, empty or from an earlier start succeeds', async () => {
    await (await open()).close();
    await (await open()).close();
    file = join(folder, 'empty');
    writeFileSync(file, '');
    await mustClaim(await open(), { merchant: 'merchant', id: 'key' });
  });

  test('a link to the file of an earlier start succeeds', async () => {
    await (await open()).close();
    symlinkSync(file, join(folder, 'link'));
    file = join(folder, 'link');
    await mustClaim(await open(), { merchant: 'merchant', id: 'key' });
  });
});

describe('the file of a running store', () => {
  const gone = 'The file of STATE_FILE was deleted or replaced while this server uses it. ';
  const notWritable = 'The file of STATE_FILE or its directory is not writable any more. ';

  test.each<[string, () => void]>([
    ['is deleted', () => rmSync(file)],
    [
      'is deleted with the files beside it',
      () => {
        for (const end of ['', '-wal']) rmSync(file + end);
      },
    ],
    ['loses the -wal file beside it', () => rmSync(`${file}-wal`)],
    ['is moved', () => renameSync(file, `${file}-moved`)],
    [
      'is replaced',
      () => {
        writeFileSync(`${file}-new`, readFileSync(file));
        renameSync(`${file}-new`, file);
      },
    ],
    ['is in a directory that is moved', () => renameSync(folder, `${folder}-moved`)],
  ])('causes a report without a request when it %s', async (_what, change) => {
    const store = await open();
    let reports = 0;
    store.onReport(() => {
      reports += 1;
    });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect([store.fileProblem(), reports]).toEqual([undefined, 0]);
    change();
    await expect.poll(() => store.fileProblem()).toMatch(gone);
    expect([store.failure(), reports]).toEqual([undefined, 1]);
    await mustClaim(store, { merchant: 'merchant', id: 'key' });
    // For the clean-up.
    if (!statSync(folder, { throwIfNoEntry: false })) renameSync(`${folder}-moved`, folder);
  });

  test.skipIf(isRoot)('causes a report when it is no longer writable', async () => {
    const store = await open();
    chmodSync(file, 0o400);
    await expect.poll(() => store.fileProblem()).toMatch(notWritable);
  });

  test('causes no problem after it is moved back', async () => {
    const store = await open();
    renameSync(file, `${file}-moved`);
    await expect.poll(() => store.fileProblem()).toMatch(gone);
    renameSync(`${file}-moved`, file);
    await expect.poll(() => store.fileProblem()).toBeUndefined();
  });
});
