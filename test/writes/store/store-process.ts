import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import type { Claim, ClaimResult, KeyName, KeyStore } from '../../../src/writes/store/key-store.ts';
import { openSqliteStore, type SqliteStoreOptions } from '../../../src/writes/store/sqlite-store.ts';
import type { Command } from './store-child.ts';

/** A folder for each test of a file, with the processes and stores that use files there. They end with the test. */
export function useStoreFolder() {
  const children: ChildProcess[] = [];
  const stores: KeyStore[] = [];
  const place = { folder: '', file: '' };

  beforeEach(() => {
    place.folder = mkdtempSync(join(tmpdir(), 'waybill-'));
    place.file = join(place.folder, 'keys.db');
  });
  afterEach(async () => {
    await Promise.all(children.splice(0).map(kill));
    for (const store of stores.splice(0)) await store.close();
    rmSync(place.folder, { recursive: true });
  });

  function startChild(cwd?: string, nodeOptions: string[] = []): ChildProcess {
    const child = fork(join(import.meta.dirname, 'store-child.ts'), { execArgv: nodeOptions, cwd });
    children.push(child);
    return child;
  }

  return {
    place,
    startChild,
    /** Opens a store in this process. */
    async open(options: Partial<SqliteStoreOptions> = {}): Promise<KeyStore> {
      const store = await openSqliteStore({ file: place.file, ...options });
      stores.push(store);
      return store;
    },
    /** Opens a store in another process. */
    async openChild(
      options: Partial<SqliteStoreOptions> = {},
      nodeOptions: string[] = [],
    ): Promise<ChildProcess> {
      const child = startChild(undefined, nodeOptions);
      const { error } = await ask(child, { run: 'open', options: { file: place.file, ...options } });
      if (error !== undefined) throw new Error(error);
      return child;
    },
  };
}

/** Sends a command to the process of a store. */
export async function ask(
  child: ChildProcess,
  command: Command,
): Promise<{ value?: unknown; error?: string }> {
  const response = once(child, 'message');
  child.send(command);
  return (await response)[0];
}

/** Claims a key in the process of a store. The key must be free or resumable. */
export async function claimIn(child: ChildProcess, name: KeyName): Promise<Claim> {
  const { value, error } = await ask(child, { run: 'claim', key: name });
  // The child sends what its `claim` returns.
  const result = value as ClaimResult | undefined;
  if (result?.state !== 'claimed') throw new Error(`${name.id} is ${result?.state ?? error}`);
  return result.claim;
}

/** Ends a process by SIGKILL. */
export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}
