import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../config/config.ts';
import { type KeyStore, StoreOpenError } from '../writes/store/key-store.ts';
import { openSqliteStore } from '../writes/store/sqlite-store.ts';
import { unusableSetting } from './startup-errors.ts';

const memory = 'memory';

/** Opens the store of STATE_FILE. @throws ConfigError if the file cannot be used. */
export function openKeyStore(stateFile = memory): Promise<KeyStore> {
  return openSqliteStore({ file: stateFile }).catch((error: unknown) => {
    throw error instanceof StoreOpenError
      ? new ConfigError(`STATE_FILE: ${error.message}`, { cause: error })
      : error;
  });
}

/**
 * The file of STATE_FILE for several processes: without one, a private file that the exit of this process removes.
 * @throws ConfigError if the temporary directory is not writable.
 */
export function sharedStateFile(stateFile = memory): string {
  if (stateFile !== memory) return stateFile;
  try {
    // Only this user can read it.
    const directory = mkdtempSync(join(tmpdir(), 'waybill-keys-'));
    process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
    return join(directory, 'keys');
  } catch (error) {
    const expected = `the path of a file, because the workers cannot keep their keys in ${tmpdir()}`;
    throw unusableSetting(`STATE_FILE: expected ${expected}`, error);
  }
}

/** For the text that is printed at the start. */
export function describeStateFile(stateFile = memory): string {
  return stateFile === memory ? 'in memory: a restart loses them (see STATE_FILE)' : `in ${stateFile}`;
}
