import { randomBytes } from 'node:crypto';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { resembles } from '../interface/names.ts';

/** The layout of the tables; a file of another layout is not opened. */
const layout = 1;

/**
 * One table holds every record as the JSON that is served, in order of creation, with the columns it is found by.
 * Which of them a record uses is up to its collection.
 */
const tables = `
  CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  CREATE TABLE merchants (
    token TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE, prefix TEXT NOT NULL, organization TEXT NOT NULL
  ) STRICT;
  CREATE TABLE records (
    sequence INTEGER PRIMARY KEY, merchant TEXT NOT NULL, path TEXT NOT NULL, key TEXT NOT NULL, json TEXT NOT NULL,
    status TEXT, phone TEXT, reference TEXT, words TEXT,
    due INTEGER, -- when its status changes next, in ms
    UNIQUE (merchant, path, key)
  ) STRICT;
  CREATE VIRTUAL TABLE names USING fts5 (name, tokenize = 'trigram');
`;

/** Made when the seed is in: in one go they take half the time. */
const indexes = `
  CREATE INDEX records_in_order ON records (merchant, path, sequence);
  CREATE INDEX records_by_phone ON records (merchant, path, phone) WHERE phone IS NOT NULL;
  CREATE INDEX records_due ON records (due) WHERE due IS NOT NULL;
`;

/** What holds the sandbox's data. */
export interface Database {
  /** Whether there is nothing in it yet. */
  isEmpty: boolean;
  /** Makes the tables and has them filled, in one piece: a file is whole or still empty. */
  create(fill: () => void): void;
  /** A secret of its own, the same for as long as the data lives. Throws before `create`. */
  secret(): string;
  all(sql: string, ...values: SQLInputValue[]): Record<string, unknown>[];
  run(sql: string, ...values: SQLInputValue[]): { lastInsertRowid: number | bigint };
  /** Everything that `work` writes, or nothing of it where it throws. Within another one it is a part of that. */
  transaction<Result>(work: () => Result): Result;
  close(): void;
}

/** Opens the file, or a database in memory where there is none. Throws for a file that is of another layout. */
export function openDatabase(file: string | undefined): Database {
  const sqlite = new DatabaseSync(file ?? ':memory:');
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
  const found = sqlite.prepare('PRAGMA user_version').get()?.user_version;
  if (!isEmpty && found !== layout) {
    sqlite.close();
    throw new Error(`${file} is no sandbox of layout ${layout} (its user_version is ${found})`);
  }
  // A commit survives the end of the process; only a power cut could undo the last ones.
  sqlite.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
  sqlite.function('resembles', { deterministic: true }, (name, text) =>
    Number(resembles(String(name), String(text))),
  );
  return {
    isEmpty,
    create: (fill) =>
      transaction(() => {
        sqlite.exec(`${tables}; PRAGMA user_version = ${layout}`);
        prepare("INSERT INTO settings VALUES ('secret', ?)").run(randomBytes(32).toString('hex'));
        fill();
        sqlite.exec(indexes);
      }),
    secret: () => String(prepare("SELECT value FROM settings WHERE name = 'secret'").get()?.value),
    all: (sql, ...values) => prepare(sql).all(...values),
    run: (sql, ...values) => prepare(sql).run(...values),
    transaction,
    close: () => sqlite.close(),
  };
}
