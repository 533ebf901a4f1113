import { chmodSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import {
  applicationId,
  belongsToOther,
  createFile,
  existingFiles,
  FileProblem,
  inspectFile,
  otherVersion,
  schemaVersion,
} from './state-file.ts';

const tables = `
  CREATE TABLE secrets (secret BLOB NOT NULL) STRICT;
  CREATE TABLE services (service TEXT PRIMARY KEY) STRICT; -- with tokens that have shown an organization
  CREATE TABLE keys (
    merchant TEXT NOT NULL, id TEXT NOT NULL, fingerprint TEXT NOT NULL,
    progress TEXT, outcome TEXT, -- JSON
    owner TEXT, -- the store that claimed unfinished work
    expires_at_ms INTEGER NOT NULL, -- by the wall clock
    UNIQUE (merchant, id)
  ) STRICT;
  CREATE INDEX keys_by_expiry ON keys (expires_at_ms);
  CREATE INDEX keys_of_merchant_by_expiry ON keys (merchant, expires_at_ms);
  CREATE TABLE merchants (merchant TEXT PRIMARY KEY, key_count INTEGER NOT NULL) STRICT;
  CREATE TRIGGER key_added AFTER INSERT ON keys BEGIN
    INSERT INTO merchants VALUES (new.merchant, 1) ON CONFLICT DO UPDATE SET key_count = key_count + 1;
  END;
  CREATE TRIGGER key_removed AFTER DELETE ON keys BEGIN
    UPDATE merchants SET key_count = key_count - 1 WHERE merchant = old.merchant;
    DELETE FROM merchants WHERE merchant = old.merchant AND key_count = 0;
  END;
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${schemaVersion};
`;

// Primary result codes of SQLite.
const busy = 5;
const full = 13;
const notADatabase = 26;

export interface OpenOptions {
  /** A path, or `:memory:`. */
  path: string;
  /** The secret of a database that has none yet. */
  secret: Uint8Array;
  /** The maximum size in pages of 4 KB; undefined for no maximum. */
  maxPages: number | undefined;
}

/**
 * Opens the database, or creates it in a missing or empty file, and locks it for as long as it is open. The system frees
 * the lock of a killed process. A file that cannot be used is left as it was.
 * @throws FileProblem, and the errors of SQLite: see `isBusy` for a file that another process uses.
 */
export function openDatabase(options: OpenOptions): { database: DatabaseSync; secret: Uint8Array } {
  const { path } = options;
  const isFile = path !== ':memory:';
  // Only a file that this call has created is removed again.
  const isCreated = isFile && !inspectFile(path) && createFile(path);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path);
    return { database, secret: prepareDatabase(database, options, isFile) };
  } catch (error) {
    database?.close();
    // If the database is busy, another process uses the file.
    if (isCreated && !isBusy(error))
      for (const file of [...existingFiles(path), `${path}-journal`]) rmSync(file, { force: true });
    throw error;
  }
}

/** @returns the secret of the database */
function prepareDatabase(database: DatabaseSync, options: OpenOptions, isFile: boolean): Uint8Array {
  const { path, maxPages } = options;
  // In this mode the first transaction takes the lock, and the database keeps it.
  database.exec('PRAGMA locking_mode = EXCLUSIVE');
  if (maxPages !== undefined) database.exec(`PRAGMA max_page_count = ${maxPages}`);
  database.exec('BEGIN EXCLUSIVE');
  const stored = isFresh(database) ? undefined : storedSecret(database);
  // Before the secret is written. The file may have had another mode.
  if (isFile) for (const file of existingFiles(path)) chmodSync(file, 0o600);
  if (stored === undefined) {
    database.exec(tables);
    database.prepare('INSERT INTO secrets VALUES (?)').run(options.secret);
  }
  database.exec('COMMIT');
  if (isFile) database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = FULL');
  // The first read in this mode also opens the -wal file.
  return storedSecret(database);
}

function storedSecret(database: DatabaseSync): Uint8Array {
  const stored = database.prepare('SELECT secret FROM secrets').get()?.secret;
  if (stored instanceof Uint8Array) return stored;
  throw new FileProblem('is damaged: its secret is missing. Choose a new file.');
}

export function isSqliteError(error: unknown): error is Error & { errcode: number } {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number';
}

/** Whether another process has locked the database. */
export function isBusy(error: unknown): boolean {
  return isSqliteError(error) && (error.errcode & 0xff) === busy;
}

/** Says why SQLite cannot open a file, in the form of `FileProblem`. */
export function openProblem(error: unknown): string {
  if (error instanceof FileProblem) return error.message;
  const message = error instanceof Error ? error.message : String(error);
  return isSqliteError(error) && (error.errcode & 0xff) === notADatabase
    ? 'is not a SQLite file. Choose another file.'
    : `cannot be opened (${message}). Check the file, its permissions and its directory.`;
}

/** Says why an operation failed, as a sentence for operators. */
export function operationProblem(error: Error & { errcode: number }): string {
  return (error.errcode & 0xff) === full
    ? 'The disk of the key store is full. Free some space.'
    : `The key store failed: ${error.message}. Check its file and disk.`;
}

/** Whether the file has no tables. @throws FileProblem if the file has tables that are not of this version. */
function isFresh(database: DatabaseSync): boolean {
  const { id, version, hasTables } =
    database
      .prepare(
        `SELECT (SELECT application_id FROM pragma_application_id) AS id, EXISTS (SELECT 1 FROM sqlite_schema)
        AS hasTables, (SELECT user_version FROM pragma_user_version) AS version`,
      )
      .get() ?? {};
  if (id === 0 && version === 0 && hasTables === 0) return true;
  if (id !== applicationId) throw belongsToOther();
  if (version === schemaVersion) return false;
  throw otherVersion(version);
}
