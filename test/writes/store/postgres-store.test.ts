import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { KeyStore } from '../../../src/writes/store/key-store.ts';
import { StoreOpenError, StoreUnavailableError } from '../../../src/writes/store/key-store.ts';
import { openPostgresStore, type PostgresStoreOptions } from '../../../src/writes/store/postgres-store.ts';
import type { PostgresUrl } from '../../../src/writes/store/postgres-url.ts';
import { freePort } from '../../fixtures/free-port.ts';
import {
  isPostgresMissing,
  newSchema,
  openStore,
  type Postgres,
  parsed,
  parsedUrl,
  sharedPostgres,
} from '../../fixtures/postgres.ts';
import { selfSigned } from '../../fixtures/self-signed.ts';
import { startRelay } from '../../fixtures/tcp-relay.ts';
import { describeKeyStore, mustClaim } from './contract.ts';
import { ask, claimIn, kill, useStoreFolder } from './store-process.ts';

const key = { merchant: 'merchant', id: 'key' };
const hourMs = 3_600_000;

describe.skipIf(isPostgresMissing)('with a PostgreSQL server', () => {
  const { startChild } = useStoreFolder();
  let server: Postgres;
  beforeAll(async () => {
    server = await sharedPostgres();
  });
  const opened: KeyStore[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
  });
  async function open(url: PostgresUrl, options: Partial<PostgresStoreOptions> = {}): Promise<KeyStore> {
    const store = await openStore(url, options);
    opened.push(store);
    return store;
  }
  /** Opens a store that waits only a short time. */
  async function openImpatient(url: PostgresUrl): Promise<KeyStore> {
    const store = await openPostgresStore({ url, timeoutMs: 1_000, renewEveryMs: 100 });
    opened.push(store);
    return store;
  }
  const untilItFails = (store: KeyStore) => expect.poll(() => store.failure()).toBeDefined();
  const untilItWorks = (store: KeyStore) => expect.poll(() => store.failure()).toBeUndefined();

  let schema = '';
  describeKeyStore('PostgreSQL', {
    open: (options) => {
      schema = newSchema();
      return openStore(parsedUrl(server, schema), options);
    },
    reopen: (options) => openStore(parsedUrl(server, schema), options),
  });

  describe('two stores', () => {
    test('have one secret, and grant each of 100 keys to one of them', async () => {
      const url = parsedUrl(server);
      const stores = await Promise.all([open(url), open(url)]);
      expect(stores[0].secret()).toEqual(stores[1].secret());
      for (let round = 0; round < 100; round += 1) {
        const name = { ...key, id: `key ${round}` };
        const results = await Promise.all(stores.map((store) => store.claim(name, 'input')));
        expect(results.map(({ state }) => state).sort()).toEqual(['claimed', 'held']);
        for (const [index, result] of results.entries())
          if (result.state === 'claimed') await stores[index]?.finish(result.claim, round);
        const later = await Promise.all(stores.map((store) => store.claim(name, 'input')));
        expect(later).toEqual(Array(2).fill({ state: 'done', outcome: round }));
      }
    });

    test('resume abandoned work in only one of the two stores', async () => {
      const url = parsedUrl(server);
      const stores = await Promise.all([open(url), open(url)]);
      for (let round = 0; round < 20; round += 1) {
        const name = { ...key, id: `key ${round}` };
        await stores[0].abandon(await mustClaim(stores[0], name), round);
        const results = await Promise.all(stores.map((store) => store.claim(name, 'input')));
        expect(results.map(({ state }) => state).sort()).toEqual(['claimed', 'held']);
        expect(results.find(({ state }) => state === 'claimed')).toMatchObject({
          progress: round,
          isResumed: true,
        });
      }
    });

    test('remove expired keys, but not those of running work', async () => {
      const url = parsedUrl(server);
      let nowMs = 0;
      const options = { now: () => nowMs, renewEveryMs: 50 };
      const stores = await Promise.all([open(url, options), open(url, options)]);
      for (let index = 0; index < 20; index += 1)
        await stores[0].finish(await mustClaim(stores[0], { ...key, id: `key ${index}` }), index);
      const claim = await mustClaim(stores[0], key);
      nowMs = 25 * hourMs;
      const ids = async () => (await server.sql(`SELECT id FROM ${url.schema}.keys`)).map(({ id }) => id);
      await expect.poll(ids).toEqual(['key']);
      await stores[0].finish(claim, 'outcome');
      await expect.poll(ids).toEqual([]);
    });
  });

  test('a store of an older version gets the tables that it lacks, and keeps its keys', async () => {
    const url = parsedUrl(server);
    const first = await openStore(url);
    await first.noteOrganizationShown('a service');
    await server.sql(`DROP TABLE ${url.schema}.documents, ${url.schema}.document_parts`);
    await server.sql(`UPDATE ${url.schema}.version SET version = 1`);
    const second = await openStore(url);
    expect(await second.wasOrganizationShown('a service')).toBe(true);
    expect(second.secret()).toEqual(first.secret());
    expect(await server.sql(`SELECT FROM ${url.schema}.documents`)).toEqual([]);
    await Promise.all([first.close(), second.close()]);
  });

  test('ten stores that open at the same time make the tables once', async () => {
    const url = parsedUrl(server);
    const stores = await Promise.all(Array.from({ length: 10 }, () => open(url)));
    expect(stores.map((store) => store.failure())).toEqual(Array(10).fill(undefined));
    expect(new Set(stores.map((store) => store.secret().toString('hex'))).size).toBe(1);
    expect(await server.sql(`SELECT version FROM ${url.schema}.version`)).toEqual([{ version: 2 }]);
  });

  describe('a store in another process', () => {
    const options = { timeoutMs: 20_000, leaseMs: 2_000, renewEveryMs: 100 };
    async function openChild(url: PostgresUrl) {
      const child = startChild();
      expect(await ask(child, { run: 'open', options: { url, ...options } })).toEqual({ value: 'opened' });
      return child;
    }
    /** Claims the key as soon as the other process has lost it. */
    async function takeOver(store: KeyStore) {
      await expect.poll(async () => (await store.claim(key, 'input')).state).toBe('claimed');
    }

    test('keeps its claim until one lease after the process was killed', async () => {
      const url = parsedUrl(server);
      const store = await open(url, options);
      const child = await openChild(url);
      const claim = await claimIn(child, key);
      await ask(child, { run: 'checkpoint', claim, value: 'sent' });
      await new Promise((resolve) => setTimeout(resolve, 2 * options.leaseMs));
      expect(await store.claim(key, 'input')).toEqual({ state: 'held' });
      expect(await store.claim(key, 'other input')).toEqual({ state: 'conflict' });
      const killedAtMs = performance.now();
      await kill(child);
      let result = await store.claim(key, 'input');
      while (result.state !== 'claimed') result = await store.claim(key, 'input');
      expect(performance.now() - killedAtMs).toBeGreaterThan(options.leaseMs - 2 * options.renewEveryMs);
      expect(result).toMatchObject({ progress: 'sent', isResumed: true });
    });

    test('loses a claim that was taken over while the process was suspended', async () => {
      const url = parsedUrl(server);
      const store = await open(url, options);
      const child = await openChild(url);
      const claim = await claimIn(child, key);
      expect(await ask(child, { run: 'holds', claim })).toEqual({ value: true });
      child.kill('SIGSTOP');
      await takeOver(store);
      child.kill('SIGCONT');
      expect(await ask(child, { run: 'holds', claim })).toEqual({ value: false });
      expect(await ask(child, { run: 'checkpoint', claim, value: 1 })).toEqual({ error: 'ClaimLostError' });
      expect(await ask(child, { run: 'finish', claim, value: 1 })).toEqual({ error: 'ClaimLostError' });
      // It goes on with a new lease.
      const next = await claimIn(child, { ...key, id: 'next' });
      await expect.poll(() => ask(child, { run: 'holds', claim: next })).toEqual({ value: true });
    });
  });

  describe('a store whose server', () => {
    test('drops all packets refuses writes until the packets arrive again', async () => {
      const relay = await startRelay(server.port);
      const url = { ...parsedUrl(server), port: relay.port };
      const store = await openImpatient(url);
      const kept = await mustClaim(store, { ...key, id: 'kept' });
      relay.stop();
      await expect(store.claim(key, 'input')).rejects.toThrow(StoreUnavailableError);
      expect(store.failure()).toBe(
        'PostgreSQL did not respond within 1000 ms. Check the server, its network and its standbys.',
      );
      await expect(store.finish(kept, 'outcome')).rejects.toThrow(StoreUnavailableError);
      relay.resume();
      await untilItWorks(store);
      // The claim was not acknowledged, so nothing was sent under it.
      expect(await store.claim(key, 'input')).toMatchObject({ state: 'claimed', isResumed: false });
      await expect
        .poll(() => store.claim({ ...key, id: 'kept' }, 'input'))
        .toEqual({ state: 'done', outcome: 'outcome' });
      await relay.close();
    });

    test('ends all connections goes on with new connections and the same claims', async () => {
      const url = parsedUrl(server);
      const store = await openImpatient(url);
      const claim = await mustClaim(store, key);
      await server.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'waybill'",
      );
      await expect.poll(() => store.claim(key, 'input').catch(String)).toEqual({ state: 'held' });
      await expect.poll(() => store.holds(claim)).toBe(true);
      await store.finish(claim, 'outcome');
      expect(await store.claim(key, 'input')).toEqual({ state: 'done', outcome: 'outcome' });
    });

    test('becomes read-only refuses writes until the server is writable', async () => {
      const url = parsedUrl(server);
      await server.sql('CREATE DATABASE frozen');
      const store = await openImpatient({ ...url, database: 'frozen' });
      const claim = await mustClaim(store, key);
      await server.sql('ALTER DATABASE frozen SET default_transaction_read_only = on');
      await server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'frozen'");
      const readOnly = 'PostgreSQL is read-only, or a standby. STATE_URL must lead to the primary.';
      await expect.poll(() => store.failure()).toBe(readOnly);
      await expect(store.claim({ ...key, id: 'new' }, 'input')).rejects.toThrow(readOnly);
      await expect(openStore({ ...url, database: 'frozen' })).rejects.toThrow(StoreOpenError);
      await server.sql('ALTER DATABASE frozen RESET default_transaction_read_only');
      await untilItWorks(store);
      expect(store.holds(claim)).toBe(true);
      await mustClaim(store, { ...key, id: 'new' });
    });

    test('cannot be reached at the start opens when the server can be reached', async () => {
      const relay = await startRelay(server.port);
      relay.leadTo(undefined);
      const store = await openImpatient({ ...parsedUrl(server), port: relay.port });
      expect(store.failure()).toMatch(/^(PostgreSQL cannot be reached|The connection to PostgreSQL broke)/);
      expect(() => store.secret()).toThrow(StoreUnavailableError);
      await expect(store.claim(key, 'input')).rejects.toThrow(StoreUnavailableError);
      await expect(store.wasOrganizationShown('service')).rejects.toThrow(StoreUnavailableError);
      relay.leadTo(server.port);
      await untilItWorks(store);
      expect(store.secret()).toHaveLength(32);
      await mustClaim(store, key);
      await relay.close();
    });

    test('does not listen at the start stays closed', async () => {
      const url = { ...parsedUrl(server), port: await freePort() };
      const store = await openImpatient(url);
      expect(store.failure()).toBe(
        'PostgreSQL cannot be reached (ECONNREFUSED). Check the server and its network.',
      );
      await untilItFails(store);
    });

    test('holds the row of a key in another transaction refuses only this key', async () => {
      const url = parsedUrl(server);
      const store = await openStore(url, { timeoutMs: 20_000 });
      opened.push(store);
      await store.abandon(await mustClaim(store, key));
      const blocking = server.sql(
        `BEGIN; SELECT 1 FROM ${url.schema}.keys WHERE id = 'key' FOR UPDATE; SELECT pg_sleep(4); COMMIT`,
      );
      const sleeping = "SELECT count(*)::int FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
      await expect.poll(() => server.sql(sleeping)).toEqual([{ count: 1 }]);
      await expect(store.claim(key, 'input')).rejects.toThrow(
        'Another transaction in PostgreSQL holds a lock. Send the request again.',
      );
      expect(store.failure()).toBeUndefined();
      await mustClaim(store, { ...key, id: 'other' });
      await blocking;
      expect(await store.claim(key, 'input')).toMatchObject({ state: 'claimed', isResumed: true });
    });
  });

  test('an unacknowledged claim is undone, and another store can claim the key', async () => {
    const relay = await startRelay(server.port);
    const url = { ...parsedUrl(server), port: relay.port };
    const store = await openImpatient(url);
    const other = await openImpatient(url);
    await mustClaim(other, { ...key, id: 'of the other' });
    relay.stop();
    await expect(store.claim(key, 'input')).rejects.toThrow(StoreUnavailableError);
    relay.resume();
    await untilItWorks(store);
    await untilItWorks(other);
    await expect.poll(async () => (await other.claim(key, 'input')).state).toBe('claimed');
    expect(await server.sql(`SELECT is_resumed FROM ${url.schema}.keys WHERE id = 'key'`)).toEqual([
      { is_resumed: false },
    ]);
    await relay.close();
  });

  describe('a start is refused', () => {
    const refusal = async (url: PostgresUrl) => {
      const error = await openStore(url).then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(error).toBeInstanceOf(StoreOpenError);
      const message = String(error);
      expect(message).not.toContain('s3cret');
      return message;
    };

    test('for a wrong password, with a message that says what was tried', async () => {
      await server.sql("CREATE ROLE with_password LOGIN PASSWORD 'right'");
      const url = parsed(`postgres://with_password:s3cret@127.0.0.1:${server.port}/postgres`);
      expect(await refusal(url)).toMatch(
        /rejects the user, the password or the encryption\. .*Waybill tried to use schema waybill of postgres:\/\/127\.0\.0\.1:\d+\/postgres as with_password/,
      );
    });

    test.each([
      [
        'an unknown database',
        (port: number) => `postgres://postgres:s3cret@127.0.0.1:${port}/nosuch`,
        'no such database',
      ],
      [
        'an unknown host',
        (port: number) => `postgres://postgres:s3cret@nosuch.invalid:${port}/postgres`,
        'The host or the socket directory of STATE_URL does not exist',
      ],
      [
        'an unknown socket directory',
        () => 'postgres://postgres:s3cret@/postgres?host=/nosuch',
        'socket directory of STATE_URL does not exist',
      ],
      [
        'TLS that the server lacks',
        (port: number) => `postgres://postgres:s3cret@127.0.0.1:${port}/postgres?sslmode=require`,
        'does not offer the encryption that STATE_URL asks for',
      ],
      [
        'a certificate that cannot be read',
        (port: number) =>
          `postgres://postgres:s3cret@127.0.0.1:${port}/postgres?sslmode=verify-full&sslrootcert=/nosuch`,
        'sslrootcert cannot be read',
      ],
    ])('for %s', async (_what, url, expected) => {
      expect(await refusal(parsed(url(server.port)))).toContain(expected);
    });

    test('for a role that may not create a schema, with the right to grant', async () => {
      await server.sql('CREATE ROLE guest LOGIN');
      const name = newSchema();
      const url = parsed(server.url(`?schema=${name}`, 'guest'));
      const message = await refusal(url);
      expect(message).toContain('GRANT CREATE ON DATABASE "postgres"');
      expect(message).toContain(`CREATE SCHEMA ${name} AUTHORIZATION`);
      // What the message says is enough.
      await server.sql(`CREATE SCHEMA ${name} AUTHORIZATION guest`);
      await mustClaim(await open(url), key);
    });

    test('for tables that the role may not change, with the rights to grant', async () => {
      await server.sql('CREATE ROLE reader LOGIN');
      const url = parsedUrl(server);
      await (await open(url)).close();
      await server.sql(`GRANT USAGE ON SCHEMA ${url.schema} TO reader`);
      await server.sql(`GRANT SELECT ON ALL TABLES IN SCHEMA ${url.schema} TO reader`);
      const message = await refusal({ ...url, user: 'reader' });
      const [grant = ''] = /GRANT SELECT, INSERT.* TO "reader"/.exec(message) ?? [];
      await server.sql(grant);
      await mustClaim(await open({ ...url, user: 'reader' }), key);
    });

    test('for tables of a newer version', async () => {
      const url = parsedUrl(server);
      await (await open(url)).close();
      await server.sql(`UPDATE ${url.schema}.version SET version = 7`);
      expect(await refusal(url)).toMatch(
        /have version 7, but this Waybill knows version 2\. Start a newer Waybill/,
      );
    });
  });

  test('a store checks the certificate of its server as sslmode says, without a warning', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => void warnings.push(warning);
    process.on('warning', onWarning);
    // The certificate is that of localhost, and no authority has signed it.
    const certificate = await server.offerTls(selfSigned);
    const name = newSchema();
    const urlOf = (host: string, mode: string, root = '') =>
      parsed(`postgres://postgres@${host}:${server.port}/postgres?schema=${name}&sslmode=${mode}${root}`);
    const root = `&sslrootcert=${certificate}`;
    const isEncrypted = `SELECT bool_and(ssl) AS ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
      WHERE application_name = 'waybill'`;
    // The reload of the settings takes a moment.
    await expect.poll(() => open(urlOf('127.0.0.1', 'require')).then(() => 'opened', String)).toBe('opened');
    for (const url of [urlOf('127.0.0.1', 'verify-ca', root), urlOf('localhost', 'verify-full', root)]) {
      const store = await open(url);
      await mustClaim(store, { ...key, id: url.sslMode });
      expect(await server.sql(isEncrypted)).toEqual([{ ssl: true }]);
      await store.close();
    }
    const wrong =
      'PostgreSQL does not offer the encryption that STATE_URL asks for, or Waybill does not trust the certificate of PostgreSQL.';
    await expect(openStore(urlOf('localhost', 'verify-full'))).rejects.toThrow(wrong);
    await expect(openStore(urlOf('localhost', 'verify-ca'))).rejects.toThrow(wrong);
    await expect(openStore(urlOf('127.0.0.1', 'verify-full', root))).rejects.toThrow(wrong);
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });

  test('a store uses the socket of a server', async () => {
    const store = await open(
      parsed(
        `postgres://postgres@/postgres?host=${server.folder}&schema=${newSchema()}`.replace(
          '@/',
          `@:${server.port}/`,
        ),
      ),
    );
    await mustClaim(store, key);
  });
});
