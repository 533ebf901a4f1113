import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openPostgresDocuments } from '../../../src/printing/store/postgres-documents.ts';
import { type KeyStore, StoreUnavailableError } from '../../../src/writes/store/key-store.ts';
import { openPostgresStore, type PostgresStoreOptions } from '../../../src/writes/store/postgres-store.ts';
import type { PostgresUrl } from '../../../src/writes/store/postgres-url.ts';
import { isPostgresMissing, type Postgres, parsedUrl, startPostgres } from '../../fixtures/postgres.ts';
import { startRelay } from '../../fixtures/tcp-relay.ts';
import { mustClaim } from './contract.ts';

const key = { merchant: 'merchant', id: 'key' };

describe.skipIf(isPostgresMissing)('with a PostgreSQL primary and a synchronous standby', () => {
  let primary: Postgres;
  let standby: Postgres;
  beforeAll(async () => {
    primary = await startPostgres();
    standby = await primary.startStandby();
    // The store asks for safe commits itself.
    await primary.sql('ALTER SYSTEM SET synchronous_commit = off');
    await primary.sql('SELECT pg_reload_conf()');
  });
  afterAll(() => primary.close());
  const opened: KeyStore[] = [];
  afterEach(async () => {
    standby.signal('SIGCONT');
    await Promise.all(opened.splice(0).map((store) => store.close()));
  });
  async function open(url: PostgresUrl, options: Partial<PostgresStoreOptions> = {}): Promise<KeyStore> {
    const store = await openPostgresStore({ url, timeoutMs: 1_000, renewEveryMs: 100, ...options });
    opened.push(store);
    return store;
  }
  const untilItWorks = (store: KeyStore) => expect.poll(() => store.failure()).toBeUndefined();

  /** The backends that wait for the standby with a claim. */
  const waiting = () =>
    primary.sql<{ pid: number }>(
      "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%added AS%'",
    );
  const rowsOf = (server: Postgres, { schema }: PostgresUrl) =>
    server.sql(`SELECT id, is_resumed FROM ${schema}.keys WHERE owner IS NOT NULL`);

  test('a claim fails while its standby is suspended, even if synchronous_commit is off', async () => {
    const url = parsedUrl(primary);
    const store = await open(url);
    standby.signal('SIGSTOP');
    await expect(store.claim(key, 'input')).rejects.toThrow(StoreUnavailableError);
    const problem = 'The standby of PostgreSQL does not confirm commits. Check the standby.';
    await expect.poll(() => store.failure()).toBe(problem);
    await expect(store.claim(key, 'input')).rejects.toThrow(problem);
    // A server that tries again and again must not use up the connections.
    const stuck = "SELECT count(*)::int FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    const [before] = await primary.sql(stuck);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(await primary.sql(stuck)).toEqual([before]);
    standby.signal('SIGCONT');
    await untilItWorks(store);
    // The row of the first claim is there now. Nothing was sent under this claim.
    expect(await store.claim(key, 'input')).toMatchObject({ state: 'claimed', isResumed: false });
    expect(await rowsOf(primary, url)).toEqual([{ id: 'key', is_resumed: false }]);
  });

  test('documents of a rejected token occupy no connection while the standby is suspended', async () => {
    const url = parsedUrl(primary);
    const store = await open(url);
    let asked = 0;
    const failure = () => {
      asked += 1;
      return store.failure();
    };
    // Most servers have this default. A removal of documents waits for the standby then.
    await primary.sql('ALTER SYSTEM RESET synchronous_commit');
    await primary.sql('SELECT pg_reload_conf()');
    const documents = openPostgresDocuments({ url, secret: store.secret, failure, timeoutMs: 1_000 });
    try {
      await documents.put('id', { holder: 'ana', parts: [Buffer.from('label')], lifetimeMs: 600_000 });
      standby.signal('SIGSTOP');
      await expect.poll(() => store.failure()).toMatch(/^The standby of PostgreSQL does not confirm commits/);
      documents.endAll('ana');
      await expect.poll(() => asked).toBeGreaterThan(5);
      const removals = `SELECT wait_event FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%gone AS%'
        AND pid <> pg_backend_pid()`;
      expect(await primary.sql(removals)).toEqual([]);
      standby.signal('SIGCONT');
      await expect.poll(() => primary.sql(`SELECT FROM ${url.schema}.documents`)).toEqual([]);
    } finally {
      standby.signal('SIGCONT');
      await documents.close();
      await primary.sql('ALTER SYSTEM SET synchronous_commit = off');
      await primary.sql('SELECT pg_reload_conf()');
    }
  });

  test.each([
    ['pg_cancel_backend', 'PostgreSQL did not confirm a commit. Check its standbys.'],
    ['pg_terminate_backend', /^(The connection to PostgreSQL broke|PostgreSQL is starting, stopping)/],
  ])('a claim does not count if %s ends its wait for the standby', async (end, problem) => {
    const url = parsedUrl(primary);
    const store = await open(url, { timeoutMs: 20_000 });
    standby.signal('SIGSTOP');
    const claim = expect(store.claim(key, 'input')).rejects.toThrow(problem);
    await expect.poll(waiting).toHaveLength(1);
    await primary.sql(`SELECT ${end}(pid) FROM pg_stat_activity WHERE pid = $1`, [(await waiting())[0]?.pid]);
    await claim;
    // The primary has the row, and the standby perhaps not.
    expect(await rowsOf(primary, url)).toEqual([{ id: 'key', is_resumed: false }]);
    standby.signal('SIGCONT');
    await untilItWorks(store);
    expect(await store.claim(key, 'input')).toMatchObject({ state: 'claimed', isResumed: false });
  });

  test('a promotion loses no acknowledged claim, and makes new claims look at REST', async () => {
    const relay = await startRelay(primary.port);
    const url = { ...parsedUrl(primary), port: relay.port };
    const [store, other] = await Promise.all([open(url), open(url)]);
    const secret = store.secret();
    const done = { ...key, id: 'done' };
    await store.finish(await mustClaim(store, done), 'outcome');
    const claim = await mustClaim(store, key);
    await store.checkpoint(claim, 'sent');
    expect(store.failover()).toBeUndefined();

    await primary.kill();
    await expect(other.claim(done, 'input')).rejects.toThrow(StoreUnavailableError);
    await expect(store.checkpoint(claim, 'late')).rejects.toThrow(StoreUnavailableError);
    await standby.promote();
    relay.leadTo(standby.port);
    await Promise.all([untilItWorks(store), untilItWorks(other)]);

    expect(other.secret()).toEqual(secret);
    expect(await other.claim(done, 'input')).toEqual({ state: 'done', outcome: 'outcome' });
    expect(await other.claim(key, 'input')).toEqual({ state: 'held' });
    await store.checkpoint(claim, 'sent again');
    expect(store.holds(claim)).toBe(true);
    await store.abandon(claim);
    expect(await other.claim(key, 'input')).toMatchObject({
      progress: 'sent again',
      isResumed: true,
      lossAgeMs: expect.any(Number),
    });
    await expect.poll(() => store.failover()).toMatch(/^PostgreSQL has failed over, and keys may be lost\./);
    const restarted = await open(url);
    await expect
      .poll(() => restarted.failover())
      .toMatch(/^PostgreSQL has failed over, and keys may be lost\./);
    expect(await restarted.claim({ ...key, id: 'new' }, 'input')).toMatchObject({
      isResumed: false,
      lossAgeMs: expect.any(Number),
    });
    // A day later all keys of that time have expired.
    await standby.sql(`UPDATE ${url.schema}.state SET failed_over_ms = failed_over_ms - 86400000`);
    expect(await restarted.claim({ ...key, id: 'later' }, 'input')).toMatchObject({ lossAgeMs: undefined });
    await expect.poll(() => restarted.failover()).toBeUndefined();
    await Promise.all(opened.splice(0).map((one) => one.close()));
    await relay.close();
  });
});
