import { setTimeout as sleep } from 'node:timers/promises';
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

  test('a look-up that fails while its server ends fails alone', async () => {
    const servers = await startServers();
    const { one, sql, table } = servers;
    await one.find(newDocumentId());
    const release = await servers.hold();
    const pending = one.find(newDocumentId());
    pending.catch(() => {});
    const closed = servers[Symbol.asyncDispose]();
    await sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%${table}%'
      AND wait_event_type = 'Lock'`);
    await expect(pending).rejects.toThrow(StoreUnavailableError);
    await closed;
    await release();
  });

  describe('the documents of rejected tokens', () => {
    test('are not found while they are removed', async () => {
      await using servers = await startServers();
      const id = newDocumentId();
      await servers.one.put(id, document('ana', 100));
      // Reads go on.
      const release = await servers.hold(`LOCK TABLE ${servers.table} IN SHARE MODE`);
      servers.one.endAll('ana');
      const removals = () =>
        servers.sql(
          `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%holder = ANY%'`,
        );
      await expect.poll(removals).toHaveLength(1);
      const found = Promise.all([servers.one.find(id), servers.one.find(id)]);
      // A look-up that does not wait has its answer by then.
      await Promise.race([found, sleep(500)]);
      expect(await removals()).toHaveLength(1);
      await release();
      expect(await found).toEqual([undefined, undefined]);
    });

    test('are removed for 1,000 tokens at once', async () => {
      await using servers = await startServers();
      const { table, sql, one } = servers;
      await sql(`INSERT INTO ${table} SELECT n, n, 1, 1, 0, 9e15 FROM generate_series(1, 2500) AS n`);
      await sql(`CREATE TABLE ${table}_removed (count integer)`);
      await sql(`CREATE FUNCTION ${table}_note() RETURNS trigger LANGUAGE plpgsql
        AS 'BEGIN INSERT INTO ${table}_removed SELECT count(*) FROM gone; RETURN NULL; END'`);
      await sql(`CREATE TRIGGER note AFTER DELETE ON ${table} REFERENCING OLD TABLE AS gone
        FOR EACH STATEMENT EXECUTE FUNCTION ${table}_note()`);
      for (let holder = 1; holder <= 2_500; holder += 1) one.endAll(String(holder));
      await one.find(newDocumentId());
      expect(await sql(`SELECT * FROM ${table}_removed ORDER BY count DESC`)).toEqual([
        { count: 1_000 },
        { count: 1_000 },
        { count: 500 },
      ]);
    });

    test('end with their time for the oldest of more than 100,000 tokens', async () => {
      await using servers = await startServers();
      const { one } = servers;
      const [oldest, second, last] = [newDocumentId(), newDocumentId(), newDocumentId()];
      await one.put(oldest, document('0', 100));
      await one.put(second, document('1', 100));
      await one.put(last, document('100000', 100));
      for (let holder = 0; holder <= 100_000; holder += 1) one.endAll(String(holder));
      const found = [await one.find(oldest), await one.find(second), await one.find(last)];
      expect(found).toEqual([expect.objectContaining({ holder: '0' }), undefined, undefined]);
    });
  });
});
