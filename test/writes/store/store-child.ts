import type { Claim, KeyName, KeyStore } from '../../../src/writes/store/key-store.ts';
import { openPostgresStore, type PostgresStoreOptions } from '../../../src/writes/store/postgres-store.ts';
import { openSqliteStore, type SqliteStoreOptions } from '../../../src/writes/store/sqlite-store.ts';

/** The commands of a process that the tests kill and stop. Each responds with a value or the name of an error. */
export type Command =
  | { run: 'open'; options: SqliteStoreOptions | PostgresStoreOptions }
  | { run: 'claim'; key: KeyName }
  /** Starts each claim in a round of the event loop of its own. */
  | { run: 'start claims'; keys: KeyName[] }
  /** @returns how many of these claims succeeded */
  | { run: 'started claims' }
  | { run: 'checkpoint' | 'finish'; claim: Claim; value: unknown }
  | { run: 'abandon' | 'release' | 'holds'; claim: Claim }
  | { run: 'note service'; service: string }
  | { run: 'failure' | 'secret' | 'close' };

const claims: Promise<unknown>[] = [];
let opening: Promise<KeyStore> | undefined;

async function execute(command: Command): Promise<unknown> {
  if (command.run === 'open') {
    const { options } = command;
    opening = 'url' in options ? openPostgresStore(options) : openSqliteStore(options);
    await opening;
    return 'opened';
  }
  const store = await opening;
  if (store === undefined) throw new Error('open the store first');
  switch (command.run) {
    case 'claim':
      return store.claim(command.key, 'input');
    case 'start claims':
      for (const key of command.keys) {
        claims.push(store.claim(key, 'input'));
        await new Promise(setImmediate);
      }
      return claims.length;
    case 'started claims':
      return (await Promise.all(claims)).length;
    case 'checkpoint':
    case 'finish':
      return store[command.run](command.claim, command.value);
    case 'abandon':
    case 'release':
      return store[command.run](command.claim);
    case 'holds':
      return store.holds(command.claim);
    case 'note service':
      return store.noteOrganizationShown(command.service);
    case 'failure':
      return store.failure();
    case 'secret':
      return store.secret().toString('hex');
    case 'close':
      return store.close();
  }
}

process.on('message', (command: Command) => {
  execute(command).then(
    (value) => process.send?.({ value }),
    (error: Error) => process.send?.({ error: error.name }),
  );
});
