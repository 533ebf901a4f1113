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
  test('look-ups of guessed ids do not hinder the storing of a document', async () => {
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

  test('a look-up fails at once while PostgreSQL is known to be unreachable', async () => {
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

  test('a look-up does not wait for tokens that are rejected after its call', async () => {
    await using servers = await startServers();
    const { one: store } = servers;
    const id = newDocumentId();
    await store.put(id, document('ana', 100));
    let rejected = 0;
    const rejecting = setInterval(() => store.endAll(`token ${rejected++}`), 1);
    try {
      for (let round = 0; round < 20; round += 1) expect(await store.find(id)).toBeDefined();
      store.endAll('ana');
      expect(await store.find(id)).toBeUndefined();
    } finally {
      clearInterval(rejecting);
    }
  });

  test('a look-up that fails during the shutdown causes no other failure', async () => {
    const servers = await startServers();
    const { one, sql, table } = servers;
    await one.find(newDocumentId());
    const release = await servers.hold();
    const pending = one.find(newDocumentId());
    pending.catch(() => {});
    const lookUps = `FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%"createdAtMs" FROM ${table}%'`;
    await expect.poll(() => sql(`SELECT ${lookUps}`)).toHaveLength(1);
    const closed = servers[Symbol.asyncDispose]();
    await sql(`SELECT pg_terminate_backend(pid) ${lookUps}`);
    await expect(pending).rejects.toThrow(StoreUnavailableError);
    await release();
    await closed;
  });

  describe('the limit of bytes', () => {
    const mebibyte = 1_048_576;
    /** The bytes that the database has, without the tags of their encryption. */
    async function storedBytes({ sql, table }: Awaited<ReturnType<typeof startServers>>): Promise<number> {
      const parts = table.replace(/documents$/, 'document_parts');
      const [row] = await sql(
        `SELECT coalesce(sum(octet_length(sealed) - 16), 0)::int AS bytes FROM ${parts}`,
      );
      return row?.bytes;
    }

    test('holds while two servers need the same room at the same time', async () => {
      await using servers = await startServers({ maxBytes: 10 * mebibyte });
      const { one, other, table } = servers;
      for (const holder of ['ana', 'eva', 'ida', 'lia', 'mia'])
        await one.put(newDocumentId(), document(holder, 2 * mebibyte));
      // Both wait to remove the same document.
      const release = await servers.hold(`SELECT FROM ${table} WHERE holder = 'ana' FOR UPDATE`);
      const stored = [one.put(newDocumentId(), document('una', 2 * mebibyte))];
      stored.push(other.put(newDocumentId(), document('zoe', 2 * mebibyte)));
      const waiting = () =>
        servers.sql(
          `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%victim%${table}%'`,
        );
      await expect.poll(waiting).toHaveLength(2);
      await release();
      expect(await Promise.all(stored)).toEqual([true, true]);
      expect(await storedBytes(servers)).toBe(10 * mebibyte);
    });

    test('holds at each moment while two servers store many documents', async () => {
      await using servers = await startServers({ maxBytes: 5 * mebibyte });
      const ids: string[] = [];
      let isDone = false;
      const storing = Promise.all(
        [servers.one, servers.other].map(async (server, index) => {
          for (let round = 0; round < 15; round += 1) {
            const id = newDocumentId();
            ids.push(id);
            await server.put(id, document(`holder ${index}.${round % 3}`, 1.5 * mebibyte));
          }
        }),
      ).finally(() => {
        isDone = true;
      });
      while (!isDone) expect(await storedBytes(servers)).toBeLessThanOrEqual(5 * mebibyte);
      await storing;
      const found = await Promise.all(ids.map((id) => servers.one.find(id)));
      expect(found.filter((one) => one !== undefined)).toHaveLength(3);
      expect(await storedBytes(servers)).toBe(4.5 * mebibyte);
    });

    test('counts a document that was stored only in part', async () => {
      await using servers = await startServers({ maxBytes: 4 * mebibyte });
      const { one, other, sql, table } = servers;
      const parts = `${table.replace(/documents$/, 'document_parts')}`;
      await sql(`CREATE FUNCTION ${table}_fail() RETURNS trigger LANGUAGE plpgsql
        AS 'BEGIN RAISE EXCEPTION ''broken''; END'`);
      await sql(`CREATE TRIGGER fail BEFORE INSERT ON ${parts} FOR EACH ROW WHEN (NEW.part = 2)
        EXECUTE FUNCTION ${table}_fail()`);
      await expect(one.put(newDocumentId(), document('ana', 3 * mebibyte))).rejects.toThrow(
        StoreUnavailableError,
      );
      expect(await storedBytes(servers)).toBe(0);
      await sql(
        `CREATE TRIGGER fail BEFORE DELETE ON ${table} FOR EACH ROW EXECUTE FUNCTION ${table}_fail()`,
      );
      const cut = newDocumentId();
      await expect(one.put(cut, document('ana', 3 * mebibyte))).rejects.toThrow(StoreUnavailableError);
      expect(await storedBytes(servers)).toBe(2 * mebibyte);
      expect(await one.find(cut)).toBeUndefined();
      await sql(`DROP TRIGGER fail ON ${table}`);
      expect(await other.put(newDocumentId(), document('eva', 2 * mebibyte))).toBe(true);
      expect(await storedBytes(servers)).toBe(2 * mebibyte);
    });

    test('fails a document if others take its room before it is fully stored', async () => {
      await using servers = await startServers({ maxBytes: 4 * mebibyte });
      const { one, other, table } = servers;
      const parts = table.replace(/documents$/, 'document_parts');
      await servers.sql(`CREATE FUNCTION ${table}_wait() RETURNS trigger LANGUAGE plpgsql
        AS 'BEGIN PERFORM pg_advisory_xact_lock(570057); RETURN NEW; END'`);
      await servers.sql(`CREATE TRIGGER wait BEFORE INSERT ON ${parts} FOR EACH ROW
        EXECUTE FUNCTION ${table}_wait()`);
      const release = await servers.hold('SELECT pg_advisory_lock(570057)');
      const stored = one.put(newDocumentId(), document('ana', 3 * mebibyte));
      stored.catch(() => {});
      const waiting = () =>
        servers.sql(
          `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%INSERT INTO ${parts}%'`,
        );
      await expect.poll(waiting).toHaveLength(1);
      await servers.sql(`DELETE FROM ${table}`);
      await release();
      await expect(stored).rejects.toThrow('The store removed this document');
      expect(await storedBytes(servers)).toBe(0);
      expect(await other.put(newDocumentId(), document('eva', 4 * mebibyte))).toBe(true);
    });
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

    test('are removed later while PostgreSQL is known to be unreachable', async () => {
      let failure: string | undefined;
      let asked = 0;
      await using servers = await startServers({
        failure() {
          asked += 1;
          return failure;
        },
      });
      const { one: store, sql, table } = servers;
      await store.put(newDocumentId(), document('ana', 100));
      const rows = () => sql(`SELECT holder FROM ${table}`);
      failure = 'The standby of PostgreSQL does not confirm commits.';
      asked = 0;
      store.endAll('ana');
      await expect.poll(() => asked).toBeGreaterThan(3);
      expect(await rows()).toEqual([{ holder: 'ana' }]);
      failure = undefined;
      await expect.poll(rows).toEqual([]);
    });

    test('leave no statement that waits for the lock of another transaction', async () => {
      await using servers = await startServers();
      const { one: store, table } = servers;
      const id = newDocumentId();
      await store.put(id, document('ana', 100));
      const release = await servers.hold(`SELECT FROM ${table} WHERE holder = 'ana' FOR UPDATE`);
      store.endAll('ana');
      await expect(store.find(id)).rejects.toThrow('Another transaction in PostgreSQL holds a lock.');
      await release();
      await expect.poll(() => store.find(id).catch(() => 'locked')).toBeUndefined();
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
      expect(await sql(`SELECT * FROM ${table}_removed WHERE count > 0 ORDER BY count DESC`)).toEqual([
        { count: 1_000 },
        { count: 1_000 },
        { count: 500 },
      ]);
    });

    test('are still found for the oldest of more than 100,000 tokens', async () => {
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
