import { describe, expect, test } from 'vitest';
import { ClaimLostError, type KeyStore, StoreUnavailableError } from '../../src/writes/store/key-store.ts';
import { startWork } from '../fixtures/keyed-work.ts';
import { memoryStore } from '../fixtures/memory-store.ts';

/** Holders of one lock, which log when they begin and end. */
function startHolders(store = memoryStore) {
  const { withLock, log } = startWork({ store });
  const hold = (who: string, token: string) =>
    withLock(
      async () => {
        log.push(`${who} begins`);
        await new Promise((resolve) => setTimeout(resolve, 20));
        log.push(`${who} ends`);
      },
      { token },
    );
  return { hold, log };
}

describe('a lock', () => {
  test('is held by one request at a time, in the order of arrival', async () => {
    const { hold, log } = startHolders();
    await Promise.all([hold('a', 'token'), hold('b', 'next token'), hold('c', 'token')]);
    expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  });

  test.each([
    ['the lock of another resource', { resource: 'orders/2' }],
    ['the lock of another merchant', { token: 'other token' }],
  ])('does not block %s', async (_what, request) => {
    const { withLock } = startWork();
    const held = withLock(async (lock) => {
      await lock.checkpoint('posted');
      return withLock(async ({ note }) => note, request);
    });
    expect(await held).toBeUndefined();
  });

  test('keeps a note that its holder leaves for the next holder', async () => {
    const { withLock } = startWork();
    await withLock(async (lock) => {
      expect(lock.note).toBeUndefined();
      await lock.checkpoint('posted');
      expect(lock.note).toBe('posted');
    });
    expect(await withLock(async ({ note }) => note)).toBe('posted');
    expect(await withLock(async ({ note }) => note)).toBe('posted');
  });

  test('deletes its note if a checkpoint stores undefined', async () => {
    const { withLock } = startWork();
    await withLock((lock) => lock.checkpoint('posted'));
    await withLock((lock) => lock.checkpoint(undefined));
    expect(await withLock(async ({ note }) => note)).toBeUndefined();
  });

  test('keeps its note if the work under the lock fails', async () => {
    const { withLock } = startWork();
    const failed = withLock(async (lock) => {
      await lock.checkpoint('posted');
      throw new Error('a bug');
    });
    await expect(failed).rejects.toThrow('a bug');
    expect(await withLock(async ({ note }) => note)).toBe('posted');
  });
});

describe('a lost claim', () => {
  const lost: KeyStore = { ...memoryStore, holds: () => false };

  test('stops a write with an idempotency key before the REST call', async () => {
    const { ask } = startWork({ store: lost });
    const asked = ask('a', {
      run: async ({ expectHeld }) => {
        expectHeld();
        return 'sent';
      },
    });
    await expect(asked).rejects.toThrow(ClaimLostError);
  });

  test('stops the work under a lock before the REST call', async () => {
    const { withLock } = startWork({ store: lost });
    await expect(withLock(async (lock) => lock.expectHeld())).rejects.toThrow(ClaimLostError);
  });

  test('on an idempotency key also stops the work of the write under a lock', async () => {
    const { withLock } = startWork();
    const outer = {
      expectHeld() {
        throw new ClaimLostError();
      },
    };
    await expect(withLock(async (lock) => lock.expectHeld(), { outer })).rejects.toThrow(ClaimLostError);
  });
});

test('expectHeld does not throw while the claim on the lock is held', async () => {
  const { withLock } = startWork();
  await expect(withLock(async (lock) => lock.expectHeld())).resolves.toBeUndefined();
});

test('a process that loses a claim runs no second request until the first has ended', async () => {
  // As when another process has taken over the keys: the store gives each request the lock.
  let claims = 0;
  const forgetful: KeyStore = {
    ...memoryStore,
    async claim(name, fingerprint) {
      claims += 1;
      return memoryStore.claim({ ...name, id: `${name.id}.${claims}` }, fingerprint);
    },
  };
  const { hold, log } = startHolders(forgetful);
  await Promise.all([hold('a', 'token'), hold('b', 'next token')]);
  expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
  expect(claims).toBe(2);
});

describe('a lock whose store fails', () => {
  const failure = new StoreUnavailableError('the disk is full');
  const failing = (method: keyof KeyStore): KeyStore => ({
    ...memoryStore,
    [method]: () => Promise.reject(failure),
  });

  test('does not start the work', async () => {
    const { withLock } = startWork({ store: failing('claim') });
    await expect(withLock(async () => 'done')).rejects.toBe(failure);
  });

  test('keeps its note unchanged if a checkpoint fails', async () => {
    const { withLock } = startWork({ store: failing('checkpoint') });
    const note = await withLock(async (lock) => {
      await expect(lock.checkpoint('posted')).rejects.toBe(failure);
      return lock.note;
    });
    expect(note).toBeUndefined();
  });

  test('reports a failure of tryCheckpoint', async () => {
    const { withLock, reported } = startWork({ store: failing('checkpoint') });
    await withLock((lock) => lock.tryCheckpoint('posted'));
    expect(reported).toEqual([failure]);
  });

  test('returns the result of the work even if the release fails', async () => {
    const { withLock, reported } = startWork({ store: failing('release') });
    expect(await withLock(async () => 'done')).toBe('done');
    expect(reported).toEqual([failure]);
  });
});
