import { DatabaseSync } from 'node:sqlite';
import type { Claim, KeyName } from '../../../src/writes/store/key-store.ts';
import { openSqliteStore, type SqliteStoreOptions } from '../../../src/writes/store/sqlite-store.ts';

/** The commands of a process that the tests kill and stop. Each responds with a value or the name of an error. */
export type Command =
  | { run: 'open'; options: SqliteStoreOptions }
  | { run: 'claim'; key: KeyName }
  | { run: 'checkpoint' | 'finish'; claim: Claim; value: unknown }
  | { run: 'abandon' | 'release' | 'holds'; claim: Claim }
  /** Begins a transaction on a file, and never ends it. */
  | { run: 'lock'; file: string };

let opening: ReturnType<typeof openSqliteStore> | undefined;
let locked: DatabaseSync | undefined;

async function execute(command: Command): Promise<unknown> {
  if (command.run === 'open') {
    opening = openSqliteStore(command.options);
    await opening;
    return 'opened';
  }
  if (command.run === 'lock') {
    // The store may be in a transaction of its own.
    locked = new DatabaseSync(command.file, { timeout: 5_000 });
    locked.exec('BEGIN IMMEDIATE');
    return locked.isTransaction;
  }
  const store = await opening;
  if (store === undefined) throw new Error('open the store first');
  switch (command.run) {
    case 'claim':
      return store.claim(command.key, 'input');
    case 'checkpoint':
    case 'finish':
      return store[command.run](command.claim, command.value);
    case 'abandon':
    case 'release':
      return store[command.run](command.claim);
    case 'holds':
      return store.holds(command.claim);
  }
}

process.on('message', (command: Command) => {
  execute(command).then(
    (value) => process.send?.({ value }),
    (error: Error) => process.send?.({ error: error.name }),
  );
});
