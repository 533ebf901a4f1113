import { afterEach, describe, expect, test } from 'vitest';
import type { Claim, KeyName, KeyStore } from '../../../src/writes/store/key-store.ts';
import { ClaimLostError } from '../../../src/writes/store/key-store.ts';

/** What a test sets. Times are in milliseconds. */
export interface ContractOptions {
  now?: () => number;
  maxKeysPerMerchant?: number;
}

/** How the contract opens an implementation. */
export interface Implementation {
  open(options: ContractOptions): Promise<KeyStore>;
  /** Opens the keys of the last `open` again, after its store was closed. Absent if the keys end with their store. */
  reopen?(options: ContractOptions): Promise<KeyStore>;
}

const hourMs = 60 * 60 * 1000;
const key = { merchant: 'merchant', id: 'key' };

/** Claims a key that must be free or resumable. */
export async function mustClaim(store: KeyStore, name: KeyName, fingerprint = 'input'): Promise<Claim> {
  const result = await store.claim(name, fingerprint);
  if (result.state !== 'claimed') throw new Error(`${name.id} is ${result.state}`);
  return result.claim;
}

/** The tests that every implementation of KeyStore passes. */
export function describeKeyStore(name: string, { open, reopen }: Implementation): void {
  describe(`the key store in ${name}`, () => {
    const opened: KeyStore[] = [];
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close();
    });
    const use = async (opening: Promise<KeyStore> | undefined): Promise<KeyStore> => {
      const store = await opening;
      if (store === undefined) throw new Error('no store');
      opened.push(store);
      return store;
    };

    test('grants a free key to only one of two concurrent claims', async () => {
      const store = await use(open({}));
      const results = await Promise.all([store.claim(key, 'input'), store.claim(key, 'input')]);
      const [first, second] = results.sort((one, other) => one.state.localeCompare(other.state));
      expect(first).toEqual({
        state: 'claimed',
        claim: { key, owner: expect.any(String) },
        progress: undefined,
        isResumed: false,
      });
      expect(second).toEqual({ state: 'held' });
    });

    test('separates the keys of different merchants', async () => {
      const store = await use(open({}));
      await mustClaim(store, key);
      expect(await store.claim({ ...key, merchant: 'other' }, 'input')).toMatchObject({ state: 'claimed' });
    });

    test('returns the outcome of finished work', async () => {
      const store = await use(open({}));
      const outcome = { orders: ['orders/1', null], priceCents: 5 };
      await store.finish(await mustClaim(store, key), outcome);
      expect(await store.claim(key, 'input')).toEqual({ state: 'done', outcome });
    });

    test('returns null as the outcome of work without a value', async () => {
      const store = await use(open({}));
      await store.finish(await mustClaim(store, key), undefined);
      expect(await store.claim(key, 'input')).toEqual({ state: 'done', outcome: null });
    });

    test('returns the last progress of abandoned work', async () => {
      const store = await use(open({}));
      const first = await mustClaim(store, key);
      await store.checkpoint(first, { step: 1 });
      await store.checkpoint(first, { step: 2 });
      await store.abandon(first);
      const second = await store.claim(key, 'input');
      expect(second).toMatchObject({ state: 'claimed', progress: { step: 2 }, isResumed: true });
    });

    test('resumes abandoned work without progress', async () => {
      const store = await use(open({}));
      await store.abandon(await mustClaim(store, key));
      expect(await store.claim(key, 'input')).toMatchObject({ progress: undefined, isResumed: true });
    });

    test('frees a released key for any input', async () => {
      const store = await use(open({}));
      const first = await mustClaim(store, key);
      await store.checkpoint(first, 'progress');
      await store.release(first);
      const second = await store.claim(key, 'other input');
      expect(second).toMatchObject({ state: 'claimed', progress: undefined, isResumed: false });
    });

    test.each(['held', 'abandoned', 'finished'])(
      'rejects a different input for a key that is %s',
      async (state) => {
        const store = await use(open({}));
        const claim = await mustClaim(store, key);
        if (state === 'abandoned') await store.abandon(claim);
        if (state === 'finished') await store.finish(claim, 'outcome');
        expect(await store.claim(key, 'other input')).toEqual({ state: 'conflict' });
      },
    );

    test.each(['abandon', 'finish', 'release'] as const)(
      'rejects further calls with a claim after %s',
      async (end) => {
        const store = await use(open({}));
        const claim = await mustClaim(store, key);
        await store[end](claim, 'outcome');
        await expect(store.checkpoint(claim, 'progress')).rejects.toThrow(ClaimLostError);
        await expect(store.finish(claim, 'outcome')).rejects.toThrow(ClaimLostError);
        await expect(store.abandon(claim)).rejects.toThrow(ClaimLostError);
        await expect(store.release(claim)).rejects.toThrow(ClaimLostError);
      },
    );

    test('holds a claim as soon as the claim is granted', async () => {
      const store = await use(open({}));
      const claim = await mustClaim(store, key);
      expect(store.holds(claim)).toBe(true);
      expect(store.holds({ key, owner: 'another.1' })).toBe(false);
    });

    test('holds no claim after close', async () => {
      const store = await use(open({}));
      const claim = await mustClaim(store, key);
      await store.close();
      expect(store.holds(claim)).toBe(false);
      await expect(store.claim(key, 'input')).rejects.toThrow('The key store is closed.');
    });

    test('keeps a key for 24 hours by the wall clock', async () => {
      let nowMs = 0;
      const store = await use(open({ now: () => nowMs }));
      await store.finish(await mustClaim(store, key), 'outcome');
      nowMs = 24 * hourMs - 1;
      expect(await store.claim(key, 'other input')).toEqual({ state: 'conflict' });
      nowMs = 24 * hourMs;
      expect(await store.claim(key, 'other input')).toMatchObject({ state: 'claimed', isResumed: false });
    });

    test.each([1, -1])('keeps keys and claims when the wall clock jumps by %i h', async (hours) => {
      let nowMs = 100 * hourMs;
      const store = await use(open({ now: () => nowMs }));
      const claim = await mustClaim(store, key);
      const ended = { ...key, id: 'ended' };
      await store.finish(await mustClaim(store, ended), 'outcome');
      nowMs += hours * hourMs;
      expect(store.holds(claim)).toBe(true);
      expect(await store.claim(key, 'input')).toEqual({ state: 'held' });
      expect(await store.claim(ended, 'input')).toEqual({ state: 'done', outcome: 'outcome' });
      await store.checkpoint(claim, 'progress');
    });

    test('keeps a key beyond its lifetime while the write with this key runs', async () => {
      let nowMs = 0;
      const store = await use(open({ now: () => nowMs }));
      const claim = await mustClaim(store, key);
      nowMs = 25 * hourMs;
      expect(await store.claim(key, 'input')).toEqual({ state: 'held' });
      expect(await store.claim(key, 'other input')).toEqual({ state: 'conflict' });
      await store.finish(claim, 'outcome');
    });

    test('extends the lifetime of a key when its write stores a checkpoint', async () => {
      let nowMs = 0;
      const store = await use(open({ now: () => nowMs }));
      const claim = await mustClaim(store, key);
      nowMs = 23 * hourMs;
      await store.checkpoint(claim, 'posted');
      await store.abandon(claim);
      nowMs = 25 * hourMs;
      expect(await store.claim(key, 'input')).toMatchObject({ isResumed: true, progress: 'posted' });
    });

    test('extends the lifetime of a resumed key', async () => {
      let nowMs = 0;
      const store = await use(open({ now: () => nowMs }));
      await store.abandon(await mustClaim(store, key));
      nowMs = 23 * hourMs;
      await store.finish(await mustClaim(store, key), 'outcome');
      nowMs = 25 * hourMs;
      expect(await store.claim(key, 'input')).toEqual({ state: 'done', outcome: 'outcome' });
    });

    test('rejects only new keys of a merchant that has reached its key limit', async () => {
      const store = await use(open({ maxKeysPerMerchant: 2 }));
      await store.finish(await mustClaim(store, key), 'outcome');
      const second = await mustClaim(store, { ...key, id: 'second' });
      expect(await store.claim({ ...key, id: 'third' }, 'input')).toEqual({ state: 'full' });
      expect(await store.claim(key, 'input')).toEqual({ state: 'done', outcome: 'outcome' });
      expect(await store.claim({ merchant: 'other', id: 'third' }, 'input')).toMatchObject({
        state: 'claimed',
      });
      await store.release(second);
      expect(await store.claim({ ...key, id: 'third' }, 'input')).toMatchObject({ state: 'claimed' });
    });

    test.each([
      ['a new key at the key limit after an earlier key has expired', { ...key, id: 'second' }, 1],
      ['another input for an expired key', key, 2],
    ])('accepts %s', async (_what, next, maxKeysPerMerchant) => {
      let nowMs = 0;
      const store = await use(open({ maxKeysPerMerchant, now: () => nowMs }));
      // A claim removes the oldest expired keys, but not all of them.
      const others = Array.from({ length: 150 }, (_, index) => ({ ...key, merchant: `merchant ${index}` }));
      await Promise.all(others.map(async (other) => store.abandon(await mustClaim(store, other))));
      nowMs = 1;
      await store.finish(await mustClaim(store, key), 'outcome');
      nowMs = 25 * hourMs;
      expect(await store.claim(next, 'next input')).toMatchObject({ state: 'claimed', isResumed: false });
    });

    test('remembers that a service has returned an organization', async () => {
      const store = await use(open({}));
      await store.noteOrganizationShown('service');
      await store.noteOrganizationShown('service');
      expect(await store.wasOrganizationShown('service')).toBe(true);
      expect(await store.wasOrganizationShown('another service')).toBe(false);
    });

    test('reports no failure after a successful claim', async () => {
      const store = await use(open({}));
      await mustClaim(store, key);
      expect(store.failure()).toBeUndefined();
    });

    describe.skipIf(reopen === undefined)('that is opened again', () => {
      test('has its secret, the outcomes and the services', async () => {
        const store = await use(open({}));
        const secret = store.secret();
        expect(secret).toHaveLength(32);
        await store.finish(await mustClaim(store, key), 'outcome');
        await store.noteOrganizationShown('service');
        await store.close();
        const next = await use(reopen?.({}));
        expect(next.secret()).toEqual(secret);
        expect(await next.claim(key, 'input')).toEqual({ state: 'done', outcome: 'outcome' });
        expect(await next.claim(key, 'other input')).toEqual({ state: 'conflict' });
        expect(await next.wasOrganizationShown('service')).toBe(true);
      });

      test.each([true, false])('resumes unfinished work (abandoned before: %s)', async (isAbandoned) => {
        const store = await use(open({}));
        const claim = await mustClaim(store, key);
        await store.checkpoint(claim, 'progress');
        if (isAbandoned) await store.abandon(claim);
        await store.close();
        const next = await use(reopen?.({}));
        expect(next.holds(claim)).toBe(false);
        const resumed = await next.claim(key, 'input');
        expect(resumed).toMatchObject({ state: 'claimed', progress: 'progress', isResumed: true });
        await expect(next.checkpoint(claim, 'late')).rejects.toThrow(ClaimLostError);
        await expect(next.finish(claim, 'late')).rejects.toThrow(ClaimLostError);
        expect(await next.claim(key, 'input')).toEqual({ state: 'held' });
      });
    });
  });
}
