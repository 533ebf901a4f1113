import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../config/config.ts';
import { type KeyStore, StoreOpenError } from '../writes/store/key-store.ts';
import { openSqliteStore } from '../writes/store/sqlite-store.ts';
import { unusableSetting } from './startup-errors.ts';

/** The value of STATE_FILE for keys in the memory of this process. */
const memory = 'memory';

/** Opens the store of STATE_FILE. @throws ConfigError if the file cannot be used. */
export function openKeyStore(stateFile = memory): Promise<KeyStore> {
  return openSqliteStore({ file: stateFile }).catch((error: unknown) => {
    throw error instanceof StoreOpenError
      ? new ConfigError(`STATE_FILE: ${error.message}`, { cause: error })
      : error;
  });
}

/** A file that several processes share. */
export interface SharedStateFile {
  path: string;
  /** Removes the file if no setting names it. */
  remove(): void;
}

/**
 * Returns the file of STATE_FILE for several processes: without one, a private file that is lost at the end.
 * @throws ConfigError if the temporary directory is not writable.
 */
export function sharedStateFile(stateFile = memory): SharedStateFile {
  if (stateFile !== memory) return { path: stateFile, remove() {} };
  const directory = privateDirectory();
  return { path: join(directory, 'keys'), remove: () => rmSync(directory, { recursive: true, force: true }) };
}

/** Makes a directory that only this user can read. */
function privateDirectory(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'waybill-keys-'));
  } catch (error) {
    const expected = `a path, because several WORKERS need a writable ${tmpdir()} without one`;
    throw unusableSetting(`STATE_FILE: expected ${expected}`, error);
  }
}

/** Returns where the keys are kept, for the text that is printed at the start. */
export function describeStateFile(stateFile = memory): string {
  return stateFile === memory ? 'in memory: a restart forgets them (see STATE_FILE)' : `in ${stateFile}`;
}
