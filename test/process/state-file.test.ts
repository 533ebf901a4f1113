import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, test } from 'vitest';
import { startMain } from '../fixtures/main-process.ts';

const directory = mkdtempSync(join(tmpdir(), 'waybill-state-'));
afterAll(() => rmSync(directory, { recursive: true }));

const live = { UPSTREAM_URL: 'http://127.0.0.1:1' };
const production = { ...live, NODE_ENV: 'production' };
const inMemory = 'Keys      in memory: a restart loses them (see STATE_FILE)';

/** Creates a path in the directory of this file. */
const pathOf = (name: string) => join(directory, name);

/** Creates a SQLite file with a table and these pragmas. */
function createDatabase(path: string, pragmas = ''): void {
  const database = new DatabaseSync(path);
  database.exec(`CREATE TABLE other (a); ${pragmas}`);
  database.close();
}

/** Starts the server, ends it after its start text, and returns the lines of the text. */
async function startTextOf(environment: Record<string, string>): Promise<string[]> {
  const main = startMain(environment);
  const text = await main.banner();
  main.signal('SIGTERM');
  expect(await main.exit).toEqual({ code: 0, signal: null, errors: '' });
  return text.split('\n');
}

describe('the start text', () => {
  test('contains the path of the file for idempotency keys', async () => {
    const file = pathOf('keys');
    expect(await startTextOf({ ...production, STATE_FILE: file })).toContain(`Keys      in ${file}`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('warns that idempotency keys in memory are lost at a restart', async () => {
    expect(await startTextOf({ ...production, STATE_FILE: 'memory' })).toContain(inMemory);
  });
});

test('production with a live service requires STATE_FILE', async () => {
  const { exit } = startMain(production);
  expect(await exit).toEqual({
    code: 1,
    signal: null,
    errors:
      'The environment has invalid settings:\n' +
      '  STATE_FILE: required because NODE_ENV is "production". ' +
      'Set STATE_FILE to the path of a file for idempotency keys, or to "memory" if a restart may lose the keys, or set STATE_URL.\n',
  });
});

describe('the start', () => {
  test.each<[string, (file: string) => void, string]>([
    [
      'in a directory that does not exist',
      () => {},
      'is in a directory that does not exist. Create the directory.',
    ],
    [
      'that is not a SQLite file',
      (file) => writeFileSync(file, 'text '.repeat(1_000)),
      'is not a SQLite file. Choose another file.',
    ],
    [
      'that is a pipe',
      (file) => void execFileSync('mkfifo', [file]),
      'is a pipe, but must be a regular file. Choose another path.',
    ],
    [
      'of another program',
      (file) => createDatabase(file),
      'belongs to another program. Choose another file.',
    ],
    [
      'of a newer version',
      (file) => createDatabase(file, 'PRAGMA application_id = 0x57415942; PRAGMA user_version = 99;'),
      'has version 99, but this version of Waybill supports version 1. Use the version of Waybill that wrote the file, or a new file.',
    ],
  ])('fails with one line about a STATE_FILE %s', async (what, create, problem) => {
    const name = what.includes('exist') ? 'missing/keys' : what.replaceAll(' ', '-');
    const path = pathOf(name);
    create(path);
    const { exit, output } = startMain({ ...live, STATE_FILE: path });
    expect(await exit).toEqual({ code: 1, signal: null, errors: `STATE_FILE: ${path} ${problem}\n` });
    expect(output()).toBe('');
  });
});
