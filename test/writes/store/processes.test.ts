import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import {
  type ClaimResult,
  type KeyStore,
  StoreUnavailableError,
} from '../../../src/writes/store/key-store.ts';
import { mustClaim } from './contract.ts';
import { ask, claimIn, kill, useStoreFolder } from './store-process.ts';

const key = { merchant: 'merchant', id: 'key' };
const { place, startChild, open, openChild } = useStoreFolder();

const inUse =
  'Another process uses the file of the key store. Until that process ends, this server creates no shipments, and ' +
  'refuses mutations with an idempotencyKey.';
const untilOpen = (store: KeyStore) => expect.poll(() => store.failure()).toBeUndefined();

/** The states of a key when its process ends, with what the next process gets for the key. */
const states: Record<string, { make(child: ChildProcess): Promise<unknown>; expected: object }> = {
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
    make: async (child) =>
      ask(child, { run: 'abandon', claim: await claimIn(child, { ...key, id: 'abandoned' }) }),
    expected: { state: 'claimed', isResumed: true, progress: undefined },
  },
  finished: {
    make: async (child) => {
      const claim = await claimIn(child, { ...key, id: 'finished' });
      return ask(child, { run: 'finish', claim, value: 'outcome' });
    },
    expected: { state: 'done', outcome: 'outcome' },
  },
  released: {
    make: async (child) =>
      ask(child, { run: 'release', claim: await claimIn(child, { ...key, id: 'released' }) }),
    expected: { state: 'claimed', isResumed: false, progress: undefined },
  },
};

describe('a store on a file that another process uses', () => {
  test('reports the other process, and refuses each operation', async () => {
    await openChild();
    const store = await open();
    expect(store.failure()).toBe(inUse);
    const refusal = new StoreUnavailableError(inUse);
    expect(() => store.secret()).toThrow(refusal);
    await expect(store.claim(key, 'input')).rejects.toThrow(refusal);
    await expect(store.noteOrganizationShown('service')).rejects.toThrow(refusal);
    await expect(store.wasOrganizationShown('service')).rejects.toThrow(refusal);
  });

  test.each<[string, (child: ChildProcess) => Promise<unknown>]>([
    ['has closed its store', (child) => ask(child, { run: 'close' })],
    ['was killed', kill],
  ])('opens by itself after the other process %s, and resumes the work', async (_end, end) => {
    const child = await openChild();
    const store = await open();
    for (const { make } of Object.values(states)) expect(await make(child)).not.toHaveProperty('error');
    const secret = await ask(child, { run: 'secret' });
    await end(child);
    await untilOpen(store);
    expect(store.secret().toString('hex')).toBe(secret.value);
    for (const [id, { expected }] of Object.entries(states)) {
      if (id !== 'released')
        expect(await store.claim({ ...key, id }, 'other input'), id).toEqual({ state: 'conflict' });
      expect(await store.claim({ ...key, id }, 'input'), id).toMatchObject(expected);
    }
  });

  test('stays closed while the other process is suspended and keeps its claims', async () => {
    const child = await openChild();
    const claim = await claimIn(child, key);
    child.kill('SIGSTOP');
    const store = await open();
    let reports = 0;
    store.onReport(() => {
      reports += 1;
    });
    await expect.poll(() => reports).toBeGreaterThan(1);
    expect(store.failure()).toBe(inUse);
    child.kill('SIGCONT');
    expect(await ask(child, { run: 'holds', claim })).toEqual({ value: true });
    expect(await ask(child, { run: 'finish', claim, value: 'outcome' })).toEqual({});
    await kill(child);
    await untilOpen(store);
    expect(await store.claim(key, 'input')).toEqual({ state: 'done', outcome: 'outcome' });
  });

  test('opens when a program that reads the file ends', async () => {
    await (await open()).close();
    const reader = new DatabaseSync(place.file, { readOnly: true });
    reader.exec('BEGIN; SELECT * FROM keys');
    const store = await open();
    expect(store.failure()).toBe(inUse);
    reader.close();
    await untilOpen(store);
    await mustClaim(store, key);
  });
});

test('processes that start at the same time use the file one at a time', async () => {
  const children = await Promise.all(Array.from({ length: 4 }, () => openChild()));
  const secrets = new Set<unknown>();
  while (children.length > 0) {
    let owner: ChildProcess | undefined;
    await expect
      .poll(async () => {
        const failures = await Promise.all(children.map((child) => ask(child, { run: 'failure' })));
        owner = children[failures.findIndex(({ value }) => value === undefined)];
        return failures.filter(({ value }) => value === undefined).length;
      })
      .toBe(1);
    if (owner === undefined) throw new Error('no process uses the file');
    await claimIn(owner, key);
    secrets.add((await ask(owner, { run: 'secret' })).value);
    await kill(owner);
    children.splice(children.indexOf(owner), 1);
  }
  expect(secrets.size).toBe(1);
});

test.each([
  ['a free key', false],
  ['an abandoned key', true],
])('a claim of %s is undone if the claim times out', async (_what, isResumed) => {
  const store = await open({ timeoutMs: 2_000 });
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
    process.nextTick(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_400));
  });
  await expect(promise).rejects.toThrow(StoreUnavailableError);
  expect(store.failure()).toBe('The key store did not respond within 2000 ms. Check its disk.');
  const isHeld = async () => {
    const result = await store.claim(key, 'input').catch(() => undefined);
    if (result?.state === 'claimed') expect(result).toMatchObject({ isResumed });
    if (result?.state === 'claimed') expect(result.progress).toBe(isResumed ? 'progress' : undefined);
    return result?.state !== 'claimed';
  };
  await expect.poll(isHeld).toBe(false);
});

test.each(['a file', 'memory'])('an open store in %s does not keep a process alive', async (what) => {
  const child = startChild();
  const options = { file: what === 'memory' ? what : place.file };
  await ask(child, { run: 'open', options });
  await claimIn(child, key);
  const exit = once(child, 'exit');
  child.disconnect();
  expect(await exit).toEqual([0, null]);
});

test('a store that waits for another process does not keep a process alive', async () => {
  await openChild();
  const child = await openChild();
  const exit = once(child, 'exit');
  child.disconnect();
  expect(await exit).toEqual([0, null]);
});

test('a store with the file name ":memory:" is a file on disk', async () => {
  const child = startChild(place.folder);
  await ask(child, { run: 'open', options: { file: ':memory:' } });
  const claim = await claimIn(child, key);
  await ask(child, { run: 'finish', claim, value: 'outcome' });
  await kill(child);
  place.file = join(place.folder, ':memory:');
  expect(await (await open()).claim(key, 'input')).toEqual({ state: 'done', outcome: 'outcome' });
});
