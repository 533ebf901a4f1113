import { expect, test } from 'vitest';
import { createMemoryStore, type MemoryStoreOptions } from '../../src/writes/idempotency-store.ts';

const hourMs = 60 * 60 * 1000;

/** A store, and the clock that the store reads. */
function storeWithClock(options: Omit<MemoryStoreOptions, 'now'> = { maxKeys: 20_000 }) {
  let nowMs = 0;
  const store = createMemoryStore({ ...options, now: () => nowMs });
  return {
    store,
    pass: (ms: number) => {
      nowMs += ms;
    },
    /** Returns which of the keys are free, and claims them. */
    async free(...keys: string[]): Promise<string[]> {
      const taken = await Promise.all(keys.map((key) => store.claim(key, record('later'))));
      return keys.filter((_key, index) => taken[index] === undefined);
    },
  };
}

const record = (fingerprint: string) => ({ fingerprint });

test('a key is claimed once; a later claim gets the record', async () => {
  const { store } = storeWithClock();
  expect(await store.claim('a', record('first'))).toBeUndefined();
  expect(await store.claim('a', record('second'))).toEqual(record('first'));
  expect(await store.claim('b', record('second'))).toBeUndefined();
});

test('of many claims at once, one is the first', async () => {
  const { store } = storeWithClock();
  const claims = ['1', '2', '3'].map((fingerprint) => store.claim('a', record(fingerprint)));
  expect(await Promise.all(claims)).toEqual([undefined, record('1'), record('1')]);
});

test('a record takes the place of the one before', async () => {
  const { store } = storeWithClock();
  await store.claim('a', record('x'));
  await store.replace('a', { fingerprint: 'x', progress: 1 });
  expect(await store.claim('a', record('x'))).toEqual({ fingerprint: 'x', progress: 1 });
  await store.replace('a', { fingerprint: 'x', outcome: null });
  expect(await store.claim('a', record('x'))).toEqual({ fingerprint: 'x', outcome: null });
});

test('a key that is released is free', async () => {
  const { store } = storeWithClock();
  await store.claim('a', record('first'));
  await store.release('a');
  expect(await store.claim('a', record('second'))).toBeUndefined();
  expect(await store.claim('a', record('third'))).toEqual(record('second'));
});

test('to release or replace an unclaimed key does nothing', async () => {
  const { store } = storeWithClock();
  await store.release('a');
  await store.replace('a', record('never claimed'));
  expect(await store.claim('a', record('first'))).toBeUndefined();
});

test('a key is known for 24 hours from its claim, whatever is put in its place meanwhile', async () => {
  const { store, pass } = storeWithClock();
  await store.claim('a', record('first'));
  pass(23 * hourMs);
  await store.replace('a', { fingerprint: 'first', outcome: 1 });
  pass(hourMs - 1);
  expect(await store.claim('a', record('second'))).toEqual({ fingerprint: 'first', outcome: 1 });
  pass(1);
  expect(await store.claim('a', record('second'))).toBeUndefined();
});

test('a key that is claimed again after its expiry has a whole lifetime', async () => {
  const { store, pass, free } = storeWithClock({ maxKeys: 20_000, lifetimeMs: 100 });
  await store.claim('a', record('first'));
  pass(60);
  await store.claim('b', record('first'));
  pass(40);
  expect(await free('a')).toEqual(['a']);
  pass(60);
  // By its first claim, it would be gone before the other one.
  expect(await free('a', 'b')).toEqual(['b']);
});

test('a key that was released and claimed again has a whole lifetime too', async () => {
  const { store, pass, free } = storeWithClock({ maxKeys: 20_000, lifetimeMs: 100 });
  await store.claim('a', record('first'));
  pass(60);
  await store.release('a');
  await store.claim('a', record('second'));
  pass(60);
  expect(await free('a')).toEqual([]);
});

test('to replace an evicted key does nothing', async () => {
  const { store, pass } = storeWithClock({ lifetimeMs: 100, maxKeys: 1 });
  await store.claim('a', record('first'));
  await store.claim('b', record('first'));
  await store.replace('a', { fingerprint: 'first', outcome: 1 });
  expect(await store.claim('b', record('second'))).toEqual(record('first'));
  pass(100);
  expect(await store.claim('a', record('second'))).toBeUndefined();
});

test('beyond its bound, the oldest keys are forgotten first', async () => {
  const { store, free } = storeWithClock({ maxKeys: 3 });
  for (const key of ['a', 'b', 'c']) await store.claim(key, record('first'));
  // Neither makes the first one any younger.
  await store.replace('a', { fingerprint: 'first', outcome: 1 });
  await store.claim('a', record('second'));
  await store.claim('d', record('first'));
  expect(await free('b', 'c', 'd')).toEqual([]);
  expect(await free('a')).toEqual(['a']);
  expect(await free('c', 'd', 'a')).toEqual([]);
  expect(await free('b')).toEqual(['b']);
});

test('keys that have lived their time make room before others', async () => {
  const { store, pass, free } = storeWithClock({ maxKeys: 3, lifetimeMs: 100 });
  await store.claim('a', record('first'));
  await store.claim('b', record('first'));
  pass(99);
  await store.claim('c', record('first'));
  pass(1);
  expect(await free('d', 'e')).toEqual(['d', 'e']);
  expect(await free('c', 'd', 'e')).toEqual([]);
});

test('a released key makes room', async () => {
  const { store, free } = storeWithClock({ maxKeys: 2 });
  await store.claim('a', record('first'));
  await store.claim('b', record('first'));
  await store.release('b');
  await store.claim('c', record('first'));
  expect(await free('a', 'c')).toEqual([]);
});

test('without options it holds 20,000 keys', async () => {
  const { store, free } = storeWithClock();
  for (let key = 0; key < 20_000; key += 1) await store.claim(String(key), record('first'));
  expect(await free('0')).toEqual([]);
  await store.claim('one more', record('first'));
  expect(await free('1', '0')).toEqual(['0']);
});

test('the tenant with most keys loses its oldest, so that no tenant evicts the key of another', async () => {
  const { store, free } = storeWithClock({ maxKeys: 4 });
  for (const key of ['ana.1', 'eva.1', 'eva.2', 'eva.3', 'eva.4', 'eva.5']) {
    await store.claim(key, record('first'));
  }
  expect(await free('ana.1', 'eva.3', 'eva.4', 'eva.5')).toEqual([]);
});
