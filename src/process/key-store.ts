import { ConfigError } from '../config/config.ts';
import { type KeyStore, StoreOpenError } from '../writes/store/key-store.ts';
import { openSqliteStore } from '../writes/store/sqlite-store.ts';

const memory = 'memory';

/** Opens the store of STATE_FILE. @throws ConfigError if the file cannot be used. */
export function openKeyStore(stateFile = memory): Promise<KeyStore> {
  return openSqliteStore({ file: stateFile }).catch((error: unknown) => {
    throw error instanceof StoreOpenError
      ? new ConfigError(`STATE_FILE: ${error.message}`, { cause: error })
      : error;
  });
}

/** For the text that is printed at the start. @param problem of the store, as a sentence */
export function describeStateFile(stateFile = memory, problem?: string): string {
  if (stateFile === memory) return 'in memory: a restart loses them (see STATE_FILE)';
  return problem === undefined ? `in ${stateFile}` : `in ${stateFile}. WARNING: ${problem}`;
}
