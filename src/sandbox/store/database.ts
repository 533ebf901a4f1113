import { randomBytes } from 'node:crypto';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { resembles } from '../interface/name-search.ts';

/** The version of the tables. A file of version 1 is upgraded. A file of any other version is not opened. */
const schemaVersion = 2;

/** A merchant has any number of tokens. They keep their rows after their end, so that the next can be issued. */
const merchantTables = `
  CREATE TABLE merchants (
    sequence INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, prefix TEXT NOT NULL, organization TEXT NOT NULL
  ) STRICT;
  CREATE TABLE tokens (
    token TEXT PRIMARY KEY, merchant TEXT NOT NULL, number INTEGER NOT NULL, ended INTEGER NOT NULL DEFAULT 0,
    UNIQUE (merchant, number)
  ) STRICT;
`;

/**
 * The table `records` holds every record as the JSON of responses, in order of creation. Each collection fills the
 * search columns that it needs.
 */
const tables = `
  CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  ${merchantTables}
  CREATE TABLE records (
    sequence INTEGER PRIMARY KEY, merchant TEXT NOT NULL, path TEXT NOT NULL, key TEXT NOT NULL, json TEXT NOT NULL,
    status TEXT, phone TEXT, reference TEXT, words TEXT,
    due INTEGER, -- when its status changes next, in ms
    UNIQUE (merchant, path, key)
  ) STRICT;
  CREATE VIRTUAL TABLE names USING fts5 (name, tokenize = 'trigram');
`;

/** Version 1 had the one token of a merchant in the table of merchants. */
const upgradeFrom1 = `
  ALTER TABLE merchants RENAME TO merchants_of_1;
  ${merchantTables}
  INSERT INTO merchants (id, prefix, organization)
    SELECT id, prefix, organization FROM merchants_of_1 ORDER BY rowid;
  INSERT INTO tokens (token, merchant, number) SELECT token, id, 1 FROM merchants_of_1;
  DROP TABLE merchants_of_1;
  PRAGMA user_version = 2;
`;

/** Created after the seed is written: this takes half the time of updating them with each row. */
const indexes = `
  CREATE INDEX records_in_order ON records (merchant, path, sequence);
  CREATE INDEX records_by_phone ON records (merchant, path, phone) WHERE phone IS NOT NULL;
  CREATE INDEX records_due ON records (due) WHERE due IS NOT NULL;
`;

/** The SQLite database with the sandbox's data. */
export interface Database {
  /** Whether the database had no tables when it was opened. */
  isEmpty: boolean;
  /** Creates and fills the tables in one transaction: a file has all the data or none. */
  create(fill: () => void): void;
  /** The secret of this database, which never changes. @throws before `create`. */
  secret(): string;
  all(sql: string, ...values: SQLInputValue[]): Record<string, unknown>[];
  run(sql: string, ...values: SQLInputValue[]): { lastInsertRowid: number | bigint };
  /** The bytes of this database, for `openDatabase`. */
  image(): Uint8Array;
  /** Runs `work` in a transaction and rolls back if `work` throws. A nested call joins the outer transaction. */
  transaction<Result>(work: () => Result): Result;
  close(): void;
}

/**
 * Opens a database file, or a database in memory for undefined. Upgrades a file of version 1.
 * @param image the data of a database in memory, which gets a secret of its own
 * @throws for a file of another schema version.
 */
export function openDatabase(file: string | undefined, image?: Uint8Array): Database {
  const sqlite = new DatabaseSync(file ?? ':memory:');
  if (image !== undefined) {
    sqlite.deserialize(image);
    sqlite.prepare("UPDATE settings SET value = ? WHERE name = 'secret'").run(newSecret());
  }
  const statements = new Map<string, StatementSync>();
  const prepare = (sql: string) => {
    const prepared = statements.get(sql) ?? sqlite.prepare(sql);
    statements.set(sql, prepared);
    return prepared;
  };
  const transaction: Database['transaction'] = (work) => {
    if (sqlite.isTransaction) return work();
    sqlite.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      sqlite.exec('COMMIT');
      return result;
    } catch (error) {
      sqlite.exec('ROLLBACK');
      throw error;
    }
  };
  const isEmpty = sqlite.prepare('SELECT 1 FROM sqlite_schema').get() === undefined;
  const fileVersion = sqlite.prepare('PRAGMA user_version').get()?.user_version;
  if (!isEmpty && fileVersion !== 1 && fileVersion !== schemaVersion) {
    sqlite.close();
    throw new Error(
      `${file} is not a sandbox file of version ${schemaVersion} (its user_version is ${fileVersion})`,
    );
  }
  if (fileVersion === 1) transaction(() => sqlite.exec(upgradeFrom1));
  // A commit survives a crash of the process. A power failure may lose the last commits.
  sqlite.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
  sqlite.function('resembles', { deterministic: true }, (name, text) =>
    Number(resembles(String(name), String(text))),
  );
  return {
    isEmpty,
    create: (fill) =>
      transaction(() => {
        sqlite.exec(`${tables}; PRAGMA user_version = ${schemaVersion}`);
        prepare("INSERT INTO settings VALUES ('secret', ?)").run(newSecret());
        fill();
        sqlite.exec(indexes);
      }),
    secret: () => String(prepare("SELECT value FROM settings WHERE name = 'secret'").get()?.value),
    all: (sql, ...values) => prepare(sql).all(...values),
    run: (sql, ...values) => prepare(sql).run(...values),
    image: () => sqlite.serialize(),
    transaction,
    close: () => sqlite.close(),
  };
}

function newSecret(): string {
  return randomBytes(32).toString('hex');
}
