import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import {
  type DocumentStore,
  EndedDocumentError,
  newDocumentId,
} from '../../../src/printing/store/document-store.ts';
import { createMemoryDocuments } from '../../../src/printing/store/memory-documents.ts';
import { openPostgresDocuments } from '../../../src/printing/store/postgres-documents.ts';
import { isPostgresMissing, openStore, parsedUrl, sharedPostgres } from '../../fixtures/postgres.ts';
import { until } from '../../fixtures/rest-service.ts';

/** A store with room for a number of bytes beside what documents take themselves. */
type Open = (maxBytes?: number) => Promise<DocumentStore & AsyncDisposable>;

const disposable = (store: DocumentStore, end: () => Promise<void> = async () => {}) => ({
  ...store,
  async [Symbol.asyncDispose]() {
    await store.close();
    await end();
  },
});

const inMemory: Open = async (maxBytes) => disposable(createMemoryDocuments(maxBytes));

const inPostgres: Open = async (maxBytes) => {
  const url = parsedUrl(await sharedPostgres());
  const keys = await openStore(url);
  const options = maxBytes === undefined ? {} : { maxBytes };
  const store = openPostgresDocuments({
    url,
    secret: keys.secret,
    failure: keys.failure,
    timeoutMs: 20_000,
    ...options,
  });
  return disposable(store, () => keys.close());
};

const stores: [string, Open][] = [['in memory', inMemory]];
if (!isPostgresMissing) stores.push(['in PostgreSQL', inPostgres]);

describe.each(stores)('documents %s', (_where, open) => {
  const put = (store: DocumentStore, id: string, holder: string, size: number, lifetimeMs = 60_000) =>
    store.put(id, { holder, parts: [Buffer.alloc(size, id)], lifetimeMs });

  async function alive(store: DocumentStore, ids: string) {
    const found = await Promise.all([...ids].map((id) => store.find(id)));
    return [...ids].filter((_id, index) => found[index] !== undefined).join('');
  }

  test('are returned as they were stored, also with several parts', async () => {
    await using store = await open();
    const id = newDocumentId();
    const parts = [Buffer.alloc(1_500_000, 'one'), Buffer.alloc(900_000, 'two'), Buffer.from('three')];
    const before = Date.now();
    expect(await store.put(id, { holder: 'ana', parts, lifetimeMs: 60_000 })).toBe(true);
    const found = await store.find(id);
    expect(found).toMatchObject({ holder: 'ana', bytes: 2_400_005 });
    expect(Math.abs((found?.createdAtMs ?? 0) - before)).toBeLessThan(60_000);
    const chunks: Uint8Array[] = [];
    for await (const chunk of found?.read() ?? []) chunks.push(chunk);
    expect(Buffer.concat(chunks).equals(Buffer.concat(parts))).toBe(true);
    expect(await store.find(newDocumentId())).toBeUndefined();
  });

  test('replace the oldest document of the token with the most bytes in a full store', async () => {
    await using store = await open(100_000);
    await put(store, 'a', 'ana', 10_000);
    await put(store, 'b', 'eva', 30_000);
    await put(store, 'c', 'eva', 30_000);
    await put(store, 'd', 'ana', 15_000);
    expect(await alive(store, 'abcd')).toBe('abcd');
    await put(store, 'e', 'lia', 20_000);
    expect(await alive(store, 'abcde')).toBe('acde');
    // With the new one, Ana has the most.
    await put(store, 'f', 'ana', 36_000);
    expect(await alive(store, 'abcdef')).toBe('cef');
  });

  test('are refused if they are larger than the store, and harm no other document', async () => {
    await using store = await open(100_000);
    await put(store, 'a', 'ana', 90_000);
    expect(await put(store, 'b', 'eva', 100_001)).toBe(false);
    expect(await alive(store, 'ab')).toBe('a');
  });

  test('end when their lifetime is over', async () => {
    await using store = await open();
    await put(store, 'a', 'ana', 10, 300);
    await put(store, 'b', 'ana', 10);
    await sleep(301);
    expect(await alive(store, 'ab')).toBe('b');
  });

  test('end when the token of their holder is rejected', async () => {
    await using store = await open();
    const holders = ['ana', 'eva'].map((token) => store.holderOf(token));
    expect(new Set(holders).size).toBe(2);
    const [ana = '', eva = ''] = holders;
    await put(store, 'a', ana, 10);
    await put(store, 'b', eva, 10);
    store.endAll(ana);
    expect(await alive(store, 'ab')).toBe('b');
    expect(store.holderOf('ana')).toBe(ana);
  });

  test.each<[string, number, (store: DocumentStore) => unknown]>([
    ['the lifetime ends', 2_000, () => sleep(2_001)],
    ['the token is rejected', 60_000, (store) => store.endAll('ana')],
    ['another document needs the room', 60_000, (store) => put(store, 'z', 'eva', 3_000_000)],
  ])('break off a running read when %s', async (_what, lifetimeMs, end) => {
    await using store = await open(5_000_000);
    const parts = [Buffer.alloc(1_048_576, 'one'), Buffer.alloc(1_048_576, 'two')];
    await store.put('a', { holder: 'ana', parts, lifetimeMs });
    const reader = (await store.find('a'))?.read()[Symbol.asyncIterator]();
    expect((await reader?.next())?.value?.length).toBe(1_048_576);
    await end(store);
    await expect(reader?.next()).rejects.toThrow(EndedDocumentError);
  });
});

test('a document that ends leaves the memory even while a reader waits', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const store = createMemoryDocuments();
  const parts = [Buffer.alloc(1_000), Buffer.alloc(1_000), Buffer.alloc(1_000)];
  const last = new WeakRef(parts[2] ?? {});
  await store.put('a', { holder: 'ana', parts: parts.splice(0), lifetimeMs: 60_000 });
  const found = await store.find('a');
  const reader = found?.read()[Symbol.asyncIterator]();
  await reader?.next();
  store.endAll('ana');
  await until(() => {
    collectGarbage();
    return last.deref() === undefined;
  });
  await expect(reader?.next()).rejects.toThrow(EndedDocumentError);
});
