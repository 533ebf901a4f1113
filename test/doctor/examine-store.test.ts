import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Report } from '../../src/doctor/examine.ts';
import { examineStore } from '../../src/doctor/examine-store.ts';
import { freePort } from '../fixtures/free-port.ts';
import {
  isPostgresMissing,
  newSchema,
  openStore,
  type Postgres,
  parsed,
  parsedUrl,
  sharedPostgres,
  startPostgres,
} from '../fixtures/postgres.ts';
import { startRelay } from '../fixtures/tcp-relay.ts';

/** The finding of a check, as one text. */
function found({ findings }: Report, check: string): string | undefined {
  const finding = findings.find((each) => each.check === `store: ${check}`);
  return finding && [finding.mark, finding.cause, finding.remedy].filter(Boolean).join(' | ');
}

test('an unreachable server is a failure, and the report hides the password', async () => {
  const port = await freePort();
  const report = await examineStore(parsed(`postgres://shop:s3cret@127.0.0.1:${port}/shop`));
  expect(report).toEqual({
    isUsable: false,
    calls: 0,
    medianMs: 0,
    settings: {},
    findings: [
      {
        check: 'store: connection',
        mark: 'failure',
        cause: `The doctor cannot use schema waybill of postgres://127.0.0.1:${port}/shop as shop.`,
        remedy: 'PostgreSQL cannot be reached (ECONNREFUSED). Check the server and its network.',
      },
    ],
  });
});

describe.skipIf(isPostgresMissing)('with a PostgreSQL server', () => {
  let server: Postgres;
  beforeAll(async () => {
    server = await sharedPostgres();
  });

  test('each check has an answer, and nothing is stored', async () => {
    const url = parsedUrl(server);
    const report = await examineStore(url);
    expect(report.findings.map(({ check, mark }) => [check, mark])).toEqual([
      ['store: connection', 'ok'],
      ['store: version', 'ok'],
      ['store: rights', 'ok'],
      ['store: synchronous_commit', 'ok'],
      ['store: standbys', 'open'],
      ['store: fsync', 'warning'],
      ['store: failover', 'ok'],
      ['store: latency', expect.stringMatching(/^(ok|warning)$/)],
    ]);
    expect(report.isUsable).toBe(true);
    expect(found(report, 'version')).toMatch(/^ok \| The server is PostgreSQL \d+[.\d]*\.$/);
    expect(found(report, 'rights')).toBe(
      `ok | There is no schema ${url.schema} yet. The role postgres may create it.`,
    );
    expect(found(report, 'standbys')).toMatch(/^open \| Not proven: The server shows no standby\. /);
    expect(found(report, 'fsync')).toMatch(/^warning \| fsync is off\. \| .* Set fsync = on\.$/);
    expect(found(report, 'failover')).toContain(' which is 00000001.');
    expect(found(report, 'latency')).toMatch(
      /The median of 20 commits is [\d.]+ ms, the longest [\d.]+ ms\./,
    );
    expect(await server.sql('SELECT FROM pg_namespace WHERE nspname = $1', [url.schema])).toEqual([]);
  });

  test('the version of the tables is shown, and a newer version is a failure', async () => {
    const url = parsedUrl(server);
    await (await openStore(url)).close();
    expect(found(await examineStore(url), 'rights')).toMatch(
      /^ok \| The role postgres may change the tables of schema \w+, which have version \d+\.$/,
    );
    await server.sql(`UPDATE ${url.schema}.version SET version = 99`);
    const newer = await examineStore(url);
    expect(found(newer, 'rights')).toMatch(
      /^failure \| The tables have version 99, .* Start a newer Waybill/,
    );
    expect(newer.isUsable).toBe(false);
  });

  test('a missing right is a failure that says what to grant', async () => {
    const role = newSchema();
    await server.sql(`CREATE ROLE ${role} LOGIN`);
    const examineAs = async (schema: string) =>
      found(await examineStore(parsed(server.url(`?schema=${schema}`, role))), 'rights');
    const schema = newSchema();
    expect(await examineAs(schema)).toBe(
      `failure | There is no schema ${schema}, and the role ${role} may not create it. | Run GRANT CREATE ON DATABASE "postgres" TO "${role}", or CREATE SCHEMA ${schema} AUTHORIZATION "${role}".`,
    );
    await server.sql(`CREATE SCHEMA ${schema}`);
    expect(await examineAs(schema)).toContain(` | Run GRANT USAGE ON SCHEMA ${schema} TO "${role}".`);
    await server.sql(`GRANT USAGE ON SCHEMA ${schema} TO ${role}`);
    expect(await examineAs(schema)).toContain(` | Run GRANT CREATE ON SCHEMA ${schema} TO "${role}".`);
    await server.sql(`GRANT CREATE ON SCHEMA ${schema} TO ${role}`);
    expect(await examineAs(schema)).toBe(`ok | The role ${role} may create the tables in schema ${schema}.`);
    await (await openStore(parsedUrl(server, schema))).close();
    await server.sql(`GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${role}`);
    expect(await examineAs(schema)).toMatch(
      /^failure \| The role \w+ may not change the tables of schema \w+\. \| Run GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES /,
    );
  });

  test('the report shows the default of synchronous_commit, and accepts "off"', async () => {
    const role = newSchema();
    await server.sql(`CREATE ROLE ${role} LOGIN`);
    await server.sql(`ALTER ROLE ${role} SET synchronous_commit = off`);
    const report = await examineStore(parsed(server.url('', role)));
    expect(found(report, 'synchronous_commit')).toBe(
      'ok | Waybill asks for synchronous_commit = on in each transaction. The default is off.',
    );
  });

  test('the check of failovers is not proven if the server does not tell its timeline', async () => {
    const role = newSchema();
    await server.sql(`CREATE ROLE ${role} LOGIN`);
    await server.sql('REVOKE EXECUTE ON FUNCTION pg_walfile_name FROM PUBLIC');
    try {
      const report = await examineStore(parsed(server.url('', role)));
      expect(found(report, 'failover')).toMatch(
        /^open \| Not proven: The server does not tell its timeline, so Waybill does not notice a failover\./,
      );
    } finally {
      await server.sql('GRANT EXECUTE ON FUNCTION pg_walfile_name TO PUBLIC');
    }
  });

  test('a database that is read-only is a failure', async () => {
    await server.sql('CREATE DATABASE readonly');
    await server.sql('ALTER DATABASE readonly SET default_transaction_read_only = on');
    const report = await examineStore(parsed(server.url().replace(/\/postgres$/, '/readonly')));
    expect(report.isUsable).toBe(false);
    expect(found(report, 'connection')).toContain(
      ' | PostgreSQL is read-only, or a standby. STATE_URL must lead to the primary.',
    );
  });
});

describe.skipIf(isPostgresMissing)('with a primary and a standby', () => {
  let primary: Postgres;
  let standby: Postgres;
  beforeAll(async () => {
    primary = await startPostgres();
    standby = await primary.startStandby();
  });
  afterAll(() => primary.close());

  async function setStandbys(names: string): Promise<void> {
    await primary.sql(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
    await primary.sql('SELECT pg_reload_conf()');
    const isSet = () => primary.sql<{ names: string }>('SHOW synchronous_standby_names').then(([row]) => row);
    await expect.poll(isSet).toEqual({ synchronous_standby_names: names });
  }

  test('a synchronous standby passes, and an asynchronous standby is a warning', async () => {
    const url = parsedUrl(primary);
    expect(found(await examineStore(url), 'standbys')).toBe(
      'ok | Commits wait for a synchronous standby (connected: 1).',
    );
    await setStandbys('');
    expect(found(await examineStore(url), 'standbys')).toMatch(
      /^warning \| All standbys are asynchronous \(connected: 1\)\. \| /,
    );
    await setStandbys('*');
  });

  test('the check of standbys is not proven if the role may not see them', async () => {
    await primary.sql('CREATE ROLE shop LOGIN');
    expect(found(await examineStore(parsed(primary.url('', 'shop'))), 'standbys')).toBe(
      'open | Not proven: The role may not see the state of the standbys. | Run GRANT pg_monitor TO "shop", and run the doctor again.',
    );
    await primary.sql('GRANT pg_monitor TO shop');
    expect(found(await examineStore(parsed(primary.url('', 'shop'))), 'standbys')).toMatch(/^ok /);
  });

  test('a URL that leads to the standby is a failure', async () => {
    const report = await examineStore(parsedUrl(standby));
    expect(found(report, 'connection')).toContain(' | PostgreSQL is read-only, or a standby.');
  });

  test('a standby that confirms nothing is a failure', async () => {
    standby.signal('SIGSTOP');
    try {
      const report = await examineStore(parsedUrl(primary));
      expect(report.isUsable).toBe(false);
      expect(found(report, 'latency')).toBe(
        'failure | A commit failed. | PostgreSQL did not respond within 2000 ms. Check the server, its network and its standbys.',
      );
    } finally {
      standby.signal('SIGCONT');
    }
  });

  test('a named standby that is not connected is a failure', async () => {
    await setStandbys('nosuch');
    const report = await examineStore(parsedUrl(primary));
    expect(found(report, 'standbys')).toMatch(
      /^failure \| synchronous_standby_names names a standby, but none is connected\. \| Connect the standby\./,
    );
    await setStandbys('*');
  });

  test('a network that drops all packets is a failure', async () => {
    const relay = await startRelay(primary.port);
    relay.stop();
    const report = await examineStore(parsed(`postgres://postgres@127.0.0.1:${relay.port}/postgres`));
    expect(found(report, 'connection')).toContain(' | PostgreSQL did not respond within 2000 ms.');
    await relay.close();
  });
});
