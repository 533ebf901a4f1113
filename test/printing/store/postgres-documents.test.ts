import { Client } from 'pg';
import { describe, expect, test } from 'vitest';
import { newDocumentId } from '../../../src/printing/store/document-store.ts';
import { openPostgresDocuments } from '../../../src/printing/store/postgres-documents.ts';
import { StoreUnavailableError } from '../../../src/writes/store/key-store.ts';
import { isPostgresMissing, openStore, parsedUrl, sharedPostgres } from '../../fixtures/postgres.ts';

/** Starts two servers that share their documents. */
async function startServers({
  maxBytes = 1_073_741_824,
  failure,
}: {
  maxBytes?: number;
  failure?: () => string | undefined;
} = {}) {
  const postgres = await sharedPostgres();
  const url = parsedUrl(postgres);
  const keys = await openStore(url);
  const start = () =>
    openPostgresDocuments({
      url,
      secret: keys.secret,
      failure: failure ?? keys.failure,
      timeoutMs: 20_000,
      maxBytes,
    });
  const [one, other] = [start(), start()];
  const table = `${url.schema}.documents`;
  return {
    one,
    other,
    table,
    sql: postgres.sql,
    /** Holds all statements on documents, until the returned function is called. */
    async hold(lock = `LOCK TABLE ${table}`): Promise<() => Promise<void>> {
      const client = new Client({ connectionString: postgres.url() });
      await client.connect();
      await client.query('BEGIN');
      await client.query(lock);
      return () => client.end();
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([one.close(), other.close()]);
      await keys.close();
    },
  };
}

const document = (holder: string, bytes: number) => ({
  holder,
  parts: [Buffer.alloc(bytes, 'x')],
  lifetimeMs: 60_000,
});

describe.skipIf(isPostgresMissing)('documents in PostgreSQL', () => {
  test('guesses of ids take no place of a document that is stored', async () => {
    await using servers = await startServers();
    const { one: store } = servers;
    const id = newDocumentId();
    const release = await servers.hold();
    const guesses = Array.from({ length: 300 }, () => store.find(newDocumentId()));
    const stored = store.put(id, document('ana', 100));
    const refused = await Promise.allSettled(guesses.slice(50));
    expect(refused.filter(({ status }) => status === 'rejected')).toHaveLength(250);
    await expect(guesses[50]).rejects.toThrow(StoreUnavailableError);
    await release();
    expect(await Promise.all(guesses.slice(0, 50))).toEqual(Array(50).fill(undefined));
    expect(await stored).toBe(true);
    expect(await store.find(id)).toBeDefined();
  });

  test('an id is refused at once while PostgreSQL is known to be away', async () => {
    let failure: string | undefined;
    await using servers = await startServers({ failure: () => failure });
    const { one: store } = servers;
    const id = newDocumentId();
    await store.put(id, document('ana', 100));
    const release = await servers.hold();
    failure = 'PostgreSQL does not respond.';
    await expect(store.find(id)).rejects.toThrow(new StoreUnavailableError(failure));
    await release();
    failure = undefined;
    expect(await store.find(id)).toBeDefined();
  });
});
