import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../config/config.ts';
import { type KeyStore, StoreOpenError } from '../writes/store/key-store.ts';
import { openSqliteStore } from '../writes/store/sqlite-store.ts';

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

/** Returns the file of STATE_FILE for several processes: without one, a private file that is lost at the end. */
export function sharedStateFile(stateFile = memory): SharedStateFile {
  if (stateFile !== memory) return { path: stateFile, remove() {} };
  // mkdtemp makes a directory that only this user can read.
  const directory = mkdtempSync(join(tmpdir(), 'waybill-keys-'));
  return { path: join(directory, 'keys'), remove: () => rmSync(directory, { recursive: true, force: true }) };
}

/** Returns where the keys are kept, for the text that is printed at the start. */
export function describeStateFile(stateFile = memory): string {
  return stateFile === memory ? 'in memory: a restart forgets them (see STATE_FILE)' : `in ${stateFile}`;
}
