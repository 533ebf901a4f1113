import { type Config, ConfigError } from '../config/config.ts';
import { type KeyStore, StoreOpenError } from '../writes/store/key-store.ts';
import { describePostgres } from '../writes/store/postgres-url.ts';
import { openSqliteStore } from '../writes/store/sqlite-store.ts';

const memory = 'memory';

/** The settings of the store. STATE_URL wins, because the image always sets STATE_FILE. */
type StateSettings = Partial<Pick<Config, 'stateFile' | 'stateUrl'>>;

/** Opens the store of STATE_URL, or else of STATE_FILE. @throws ConfigError if it cannot be used. */
export async function openKeyStore({ stateFile = memory, stateUrl }: StateSettings): Promise<KeyStore> {
  try {
    if (stateUrl === undefined) return await openSqliteStore({ file: stateFile });
    // Imported here, because most servers have no PostgreSQL.
    const { openPostgresStore } = await import('../writes/store/postgres-store.ts');
    return await openPostgresStore({ url: stateUrl });
  } catch (error) {
    if (!(error instanceof StoreOpenError)) throw error;
    const variable = stateUrl === undefined ? 'STATE_FILE' : 'STATE_URL';
    throw new ConfigError(`${variable}: ${error.message}`, { cause: error });
  }
}

/** For the text that is printed at the start. @param problem of the store, as a sentence */
export function describeState({ stateFile = memory, stateUrl }: StateSettings, problem?: string): string {
  const warning = problem === undefined ? '' : `. WARNING: ${problem}`;
  if (stateUrl !== undefined) {
    const unused = stateFile === memory ? '' : ', and not in STATE_FILE';
    return `in ${describePostgres(stateUrl)}${unused}${warning}`;
  }
  return stateFile === memory
    ? 'in memory: a restart loses them (see STATE_FILE)'
    : `in ${stateFile}${warning}`;
}
