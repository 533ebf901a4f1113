import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type Claim,
  ClaimLostError,
  type ClaimResult,
  type KeyName,
  type KeyStore,
  StoreUnavailableError,
} from '../../../src/writes/store/key-store.ts';
import { openSqliteStore, type SqliteStoreOptions } from '../../../src/writes/store/sqlite-store.ts';
import { mustClaim } from './contract.ts';
import type { Command } from './store-child.ts';

const leaseMs = 1500;
const key = { merchant: 'merchant', id: 'key' };

let folder = '';
let file = '';
const children: ChildProcess[] = [];
const stores: KeyStore[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'waybill-'));
  file = join(folder, 'keys.db');
});

afterEach(async () => {
  for (const child of children.splice(0)) await kill(child);
  for (const store of stores.splice(0)) await store.close();
  rmSync(folder, { recursive: true });
});

async function open(options: Partial<SqliteStoreOptions> = {}): Promise<KeyStore> {
  const store = await openSqliteStore({ file, leaseMs, ...options });
  stores.push(store);
  return store;
}

function startChild(cwd?: string): ChildProcess {
  const child = fork(join(import.meta.dirname, 'store-child.ts'), { execArgv: [], cwd });
  children.push(child);
  return child;
}

async function ask(child: ChildProcess, command: Command): Promise<{ value?: unknown; error?: string }> {
  const response = once(child, 'message');
  child.send(command);
  return (await response)[0];
}

async function openChild(): Promise<ChildProcess> {
  const child = startChild();
  expect(await ask(child, { run: 'open', options: { file, leaseMs } })).toEqual({ value: 'opened' });
  return child;
}

async function claimIn(child: ChildProcess, name: KeyName): Promise<Claim> {
  // The child sends what its `claim` returns.
  const { state, ...result } = (await ask(child, { run: 'claim', key: name })).value as ClaimResult;
  if (!('claim' in result)) throw new Error(`${name.id} is ${state}`);
  return result.claim;
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

/** Claims a key again and again until it is not held. */
async function claimWhenFree(store: KeyStore, name: KeyName): Promise<ClaimResult> {
  for (;;) {
    const result = await store.claim(name, 'input').catch((error: unknown) => {
      if (error instanceof StoreUnavailableError) return undefined;
      throw error;
    });
    if (result !== undefined && result.state !== 'held') return result;
    await sleep(20);
  }
}

describe('a killed process', () => {
  const states: Record<
    string,
    { expected: object; isEnded?: boolean; make(child: ChildProcess): Promise<unknown> }
  > = {
    claimed: {
      make: (child) => claimIn(child, { ...key, id: 'claimed' }),
      expected: { state: 'claimed', isResumed: true, progress: undefined },
    },
    'at a checkpoint': {
      make: async (child) => {
        const claim = await claimIn(child, { ...key, id: 'at a checkpoint' });
        return ask(child, { run: 'checkpoint', claim, value: 1 });
      },
      expected: { state: 'claimed', isResumed: true, progress: 1 },
    },
    resumed: {
      make: async (child) => {
        const name = { ...key, id: 'resumed' };
        const claim = await claimIn(child, name);
        await ask(child, { run: 'checkpoint', claim, value: 1 });
        await ask(child, { run: 'abandon', claim });
        return claimIn(child, name);
      },
      expected: { state: 'claimed', isResumed: true, progress: 1 },
    },
    abandoned: {
      make: async (child) => {
        const claim = await claimIn(child, { ...key, id: 'abandoned' });
        return ask(child, { run: 'abandon', claim });
      },
      isEnded: true,
      expected: { state: 'claimed', isResumed: true, progress: undefined },
    },
    finished: {
      make: async (child) => {
        const claim = await claimIn(child, { ...key, id: 'finished' });
        return ask(child, { run: 'finish', claim, value: 'outcome' });
      },
      isEnded: true,
      expected: { state: 'done', outcome: 'outcome' },
    },
    released: {
      make: async (child) => {
        const claim = await claimIn(child, { ...key, id: 'released' });
        return ask(child, { run: 'release', claim });
      },
      isEnded: true,
      expected: { state: 'claimed', isResumed: false, progress: undefined },
    },
  };

  test('leaves unfinished keys claimed until the lease expires', async () => {
    const child = await openChild();
    const store = await open();
    for (const { make } of Object.values(states)) expect(await make(child)).not.toHaveProperty('error');
    await kill(child);
    for (const [id, { isEnded = false, expected }] of Object.entries(states))
      expect(await store.claim({ ...key, id }, 'input'), id).toMatchObject(
        isEnded ? expected : { state: 'held' },
      );
    await sleep(leaseMs);
    for (const [id, { isEnded = false, expected }] of Object.entries(states)) {
      if (isEnded) continue;
      expect(await store.claim({ ...key, id }, 'other input'), id).toEqual({ state: 'conflict' });
      expect(await store.claim({ ...key, id }, 'input'), id).toMatchObject(expected);
    }
  });

  test('leaves its keys to a process that starts later', async () => {
    const child = await openChild();
    await claimIn(child, key);
    await kill(child);
    await sleep(leaseMs);
    const store = await open();
    expect(await store.claim(key, 'input')).toMatchObject({ state: 'claimed', isResumed: true });
  });
});

describe('a suspended process', () => {
  test('loses its claims to another process after the lease', async () => {
    const child = await openChild();
    const store = await open();
    const claim = await claimIn(child, key);
    expect(await ask(child, { run: 'checkpoint', claim, value: 'progress' })).toEqual({});
    child.kill('SIGSTOP');
    await sleep(leaseMs);
    const taken = await mustClaim(store, key);
    child.kill('SIGCONT');
    expect(await ask(child, { run: 'holds', claim })).toEqual({ value: false });
    expect(await ask(child, { run: 'checkpoint', claim, value: 2 })).toEqual({ error: 'ClaimLostError' });
    expect(await ask(child, { run: 'finish', claim, value: 2 })).toEqual({ error: 'ClaimLostError' });
    const own = await claimIn(child, { ...key, id: 'own' });
    expect(await ask(child, { run: 'holds', claim })).toEqual({ value: false });
    expect(await ask(child, { run: 'holds', claim: own })).toEqual({ value: true });
    await store.finish(taken, 'outcome');
  });

  test('loses its claims after the lease even if no process takes them over', async () => {
    const child = await openChild();
    const claim = await claimIn(child, key);
    child.kill('SIGSTOP');
    await sleep(leaseMs);
    child.kill('SIGCONT');
    expect(await ask(child, { run: 'holds', claim })).toEqual({ value: false });
    const next = await claimIn(child, { ...key, id: 'next' });
    await ask(child, { run: 'release', claim: next });
    await sleep(leaseMs);
    // Nothing renews the lease for the lost claim.
    expect(await ask(child, { run: 'holds', claim: next })).toEqual({ value: false });
    expect(await ask(child, { run: 'checkpoint', claim, value: 2 })).toEqual({ error: 'ClaimLostError' });
    const store = await open();
    expect(await store.claim(key, 'input')).toMatchObject({ state: 'claimed', isResumed: true });
  });

  test('can still finish, abandon or release lost claims that no process took over', async () => {
    const child = await openChild();
    const [finished, abandoned, released] = [
      await claimIn(child, { ...key, id: 'finished' }),
      await claimIn(child, { ...key, id: 'abandoned' }),
      await claimIn(child, { ...key, id: 'released' }),
    ];
    child.kill('SIGSTOP');
    await sleep(leaseMs);
    child.kill('SIGCONT');
    // The next claim starts a new lease.
    await claimIn(child, key);
    expect(await ask(child, { run: 'finish', claim: finished, value: 'outcome' })).toEqual({});
    expect(await ask(child, { run: 'abandon', claim: abandoned })).toEqual({});
    expect(await ask(child, { run: 'release', claim: released })).toEqual({});
    const store = await open();
    expect(await store.claim(finished.key, 'input')).toEqual({ state: 'done', outcome: 'outcome' });
    expect(await store.claim(abandoned.key, 'input')).toMatchObject({ isResumed: true });
    expect(await store.claim(released.key, 'input')).toMatchObject({ isResumed: false });
  });

  test('keeps its claims after a pause that is shorter than the lease', async () => {
    const child = await openChild();
    const claim = await claimIn(child, key);
    child.kill('SIGSTOP');
    await sleep(leaseMs / 5);
    child.kill('SIGCONT');
    expect(await ask(child, { run: 'holds', claim })).toEqual({ value: true });
    expect(await ask(child, { run: 'finish', claim, value: 'outcome' })).toEqual({});
  });
});

test('an idle process keeps its claims beyond the duration of a lease', async () => {
  const store = await open();
  const other = await open();
  const claim = await mustClaim(store, key);
  await sleep(1.5 * leaseMs);
  expect(store.holds(claim)).toBe(true);
  expect(await other.claim(key, 'input')).toEqual({ state: 'held' });
  await store.checkpoint(claim, 'progress');
});

test('a store without claims lets its lease expire', async () => {
  const store = await open();
  const first = await mustClaim(store, key);
  await store.release(first);
  await sleep(leaseMs);
  expect(store.holds(first)).toBe(false);
  const second = await mustClaim(store, key);
  expect(second.owner).not.toBe(first.owner);
  expect(store.holds(second)).toBe(true);
});

describe('a process that is suspended during a transaction', () => {
  test('makes another process reject 100 claims without blocking the event loop', async () => {
    const store = await open();
    const child = startChild();
    await ask(child, { run: 'lock', file });
    child.kill('SIGSTOP');
    let turns = 0;
    const turning = setInterval(() => {
      turns += 1;
    }, 10);
    const startMs = performance.now();
    const names = Array.from({ length: 100 }, (_, index) => ({ ...key, id: `0.${index}` }));
    const results = await Promise.allSettled(names.map((name) => store.claim(name, 'input')));
    clearInterval(turning);
    expect(performance.now() - startMs).toBeLessThan(4_000);
    // SQLite waits for 1.5 s, in a thread of its own.
    expect(turns).toBeGreaterThan(20);
    for (const result of results)
      expect(result).toMatchObject({ status: 'rejected', reason: expect.any(StoreUnavailableError) });
    expect(store.failure()).toMatch(/^Another process keeps the key store locked\./);
    await kill(child);
    expect(await claimWhenFree(store, { ...key, id: '0.0' })).toMatchObject({ isResumed: false });
    expect(store.failure()).toBeUndefined();
  });

  test('delays the end of claims in other processes until the lock is gone', async () => {
    const store = await open({ leaseMs: 20_000, timeoutMs: 300 });
    const claims = await Promise.all(
      ['finish', 'abandon', 'release'].map((id) => mustClaim(store, { ...key, id })),
    );
    const child = startChild();
    await ask(child, { run: 'lock', file });
    const [finished, abandoned, released] = claims;
    if (finished === undefined || abandoned === undefined || released === undefined)
      throw new Error('no claim');
    await Promise.all([
      expect(store.finish(finished, 'outcome')).rejects.toThrow(StoreUnavailableError),
      expect(store.abandon(abandoned)).rejects.toThrow(StoreUnavailableError),
      expect(store.release(released)).rejects.toThrow(StoreUnavailableError),
    ]);
    await kill(child);
    expect(await claimWhenFree(store, finished.key)).toEqual({ state: 'done', outcome: 'outcome' });
    expect(await claimWhenFree(store, abandoned.key)).toMatchObject({ isResumed: true });
    expect(await claimWhenFree(store, released.key)).toMatchObject({ isResumed: false });
  });

  test('makes another process lose its claims after the lease', async () => {
    const store = await open();
    const claim = await mustClaim(store, key);
    const child = startChild();
    await ask(child, { run: 'lock', file });
    await sleep(leaseMs);
    expect(store.holds(claim)).toBe(false);
    await kill(child);
    await claimWhenFree(store, { ...key, id: 'other' });
    expect(store.holds(claim)).toBe(false);
    await expect(store.checkpoint(claim, 'progress')).rejects.toThrow(ClaimLostError);
  });

  test('makes a checkpoint of another process time out without an effect', async () => {
    // A transaction waits 750 ms. The second checkpoint waits for the first, and then beyond its own time.
    const store = await open({ timeoutMs: 1000, leaseMs: 10_000 });
    const claim = await mustClaim(store, key);
    await store.checkpoint(claim, 'old');
    const child = startChild();
    await ask(child, { run: 'lock', file });
    const first = expect(store.checkpoint(claim, 'first')).rejects.toThrow(StoreUnavailableError);
    await sleep(100);
    const second = expect(store.checkpoint(claim, 'second')).rejects.toThrow(StoreUnavailableError);
    await Promise.all([first, second]);
    await kill(child);
    await store.abandon(claim);
    expect(await store.claim(key, 'input')).toMatchObject({ progress: 'old' });
  });
});

test.each([
  ['a free key', false],
  ['an abandoned key', true],
])('a claim of %s is undone if the claim times out', async (_what, isResumed) => {
  const store = await open({ timeoutMs: 300 });
  const first = await mustClaim(store, key);
  if (isResumed) await store.checkpoint(first, 'progress');
  await (isResumed ? store.abandon(first) : store.release(first));
  const { promise, resolve } = Promise.withResolvers<Promise<ClaimResult>>();
  // From here, the event loop runs timers before it reads messages.
  setImmediate(() => {
    const claim = store.claim(key, 'input');
    claim.catch(() => 'asserted below');
    resolve(Promise.resolve(claim));
    // After the request is sent: the thread claims in time, and its reply comes too late.
    process.nextTick(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400));
  });
  await expect(promise).rejects.toThrow(StoreUnavailableError);
  expect(store.failure()).toBe('The key store did not respond within 300 ms. Check its disk.');
  expect(await claimWhenFree(store, key)).toMatchObject({
    isResumed,
    progress: isResumed ? 'progress' : undefined,
  });
});

test('processes that start at the same time create one file', async () => {
  const opened = await Promise.all(Array.from({ length: 4 }, () => openChild()));
  const states = await Promise.all(opened.map((child) => ask(child, { run: 'claim', key })));
  // The children send what their `claim` returns.
  const results = states.map(({ value }) => value as ClaimResult);
  expect(results.map(({ state }) => state).sort()).toEqual(['claimed', 'held', 'held', 'held']);
});

test.each(['a file', 'memory'])('an open store in %s does not keep a process alive', async (place) => {
  const child = startChild();
  const options = { file: place === 'memory' ? place : file };
  await ask(child, { run: 'open', options });
  await claimIn(child, key);
  const exit = once(child, 'exit');
  child.disconnect();
  expect(await exit).toEqual([0, null]);
});

test('a store with the file name ":memory:" is a file on disk', async () => {
  const child = startChild(folder);
  await ask(child, { run: 'open', options: { file: ':memory:' } });
  const claim = await claimIn(child, key);
  await ask(child, { run: 'finish', claim, value: 'outcome' });
  await kill(child);
  file = join(folder, ':memory:');
  expect(await (await open()).claim(key, 'input')).toEqual({ state: 'done', outcome: 'outcome' });
});
