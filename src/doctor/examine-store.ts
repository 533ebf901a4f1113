import { StoreUnavailableError } from '../writes/store/key-store.ts';
import { createConnections, type Statement } from '../writes/store/postgres-connection.ts';
import { problemOf } from '../writes/store/postgres-problem.ts';
import {
  findMissingRights,
  minServerVersion,
  newestVersion,
  readVersion,
  timelineNow,
} from '../writes/store/postgres-schema.ts';
import { describePostgres, type PostgresUrl } from '../writes/store/postgres-url.ts';
import { failure, type Outcome, ok, open, warning } from './examination.ts';
import type { Finding, Report } from './examine.ts';

type Connections = ReturnType<typeof createConnections>;
type PoolClient = Parameters<Parameters<Connections['use']>[0]>[0];
type StoreCheck = (client: PoolClient, url: PostgresUrl) => Promise<Outcome>;

/** The time limit of Waybill's server for an operation of the store, in milliseconds. */
const timeoutMs = 2000;
/** A write with a key waits for two to five commits. So much for each is felt. */
const slowCommitMs = 100;
const commitCount = 20;

const checks: Record<string, StoreCheck> = {
  version,
  rights,
  synchronous_commit: synchronousCommit,
  standbys,
  fsync,
  failover,
};

/**
 * Examines the PostgreSQL server of the keys, over connections as those of the store. It stores nothing: the commits that
 * are measured have an empty message in the log of PostgreSQL.
 */
export async function examineStore(url: PostgresUrl): Promise<Report> {
  const connections = createConnections(url, timeoutMs);
  const findings: Finding[] = [];
  const toOutcome = (error: unknown) => notProven(problemOf(error, url, timeoutMs).text);
  const add = (check: string, outcome: Outcome) => findings.push({ check: `store: ${check}`, ...outcome });
  try {
    const connected = await connect(connections, url);
    add('connection', connected);
    if (connected.mark === 'ok') {
      for (const [name, check] of Object.entries(checks)) {
        add(name, await connections.use((client) => check(client, url)).catch(toOutcome));
      }
      add('latency', await latency(connections).catch(toOutcome));
    }
  } finally {
    await connections.close();
  }
  const isUsable = findings.every(({ mark }) => mark !== 'failure');
  return { isUsable, calls: 0, medianMs: 0, settings: {}, findings };
}

const notProven = (cause: string, remedy?: string) => open(`Not proven: ${cause}`, remedy);

async function connect(connections: Connections, url: PostgresUrl): Promise<Outcome> {
  try {
    await connections.use((client) => client.query('SELECT 1'));
  } catch (error) {
    const who = url.user === undefined ? '' : ` as ${url.user}`;
    return failure(
      `The doctor cannot use ${describePostgres(url)}${who}.`,
      problemOf(error, url, timeoutMs).text,
    );
  }
  const encryption = url.sslMode === 'disable' ? 'without TLS' : `with TLS (sslmode ${url.sslMode})`;
  return ok(`The primary responds, ${encryption}.`);
}

async function version(client: PoolClient): Promise<Outcome> {
  const { number, name } = await readRow(
    client,
    "SELECT current_setting('server_version_num')::int AS number, version() AS name",
  );
  const [shown = ''] = /^\S+(?: [\w.]+)?/.exec(String(name)) ?? [];
  if (Number(number) < minServerVersion)
    return failure(`The server is ${shown}.`, 'Upgrade the server to PostgreSQL 13 or later.');
  if (shown.startsWith('PostgreSQL ')) return ok(`The server is ${shown}.`);
  return notProven(`The server is ${shown}, but Waybill is tested only with PostgreSQL.`);
}

async function rights(client: PoolClient, { schema, database }: PostgresUrl): Promise<Outcome> {
  const { role, hasSchema } = await readRow(
    client,
    'SELECT current_user AS role, EXISTS (SELECT FROM pg_namespace WHERE nspname = $1) AS "hasSchema"',
    [schema],
  );
  if (hasSchema !== true) {
    const { may } = await readRow(
      client,
      "SELECT has_database_privilege(current_database(), 'CREATE') AS may",
    );
    if (may === true) return ok(`There is no schema ${schema} yet. The role ${role} may create it.`);
    const grant = `Run GRANT CREATE ON DATABASE "${database}" TO "${role}", or CREATE SCHEMA ${schema} AUTHORIZATION "${role}".`;
    return failure(`There is no schema ${schema}, and the role ${role} may not create it.`, grant);
  }
  const { mayUse, mayCreate } = await readRow(
    client,
    `SELECT has_schema_privilege($1, 'USAGE') AS "mayUse", has_schema_privilege($1, 'CREATE') AS "mayCreate"`,
    [schema],
  );
  if (mayUse !== true)
    return failure(
      `The role ${role} may not use schema ${schema}.`,
      `Run GRANT USAGE ON SCHEMA ${schema} TO "${role}".`,
    );
  const stored = await readVersion(client, schema);
  if (stored > newestVersion)
    return failure(
      `The tables have version ${stored}, but this Waybill knows version ${newestVersion}.`,
      'Start a newer Waybill, or name another schema in the URL.',
    );
  if (stored < newestVersion && mayCreate !== true)
    return failure(
      `The role ${role} may not create tables in schema ${schema}.`,
      `Run GRANT CREATE ON SCHEMA ${schema} TO "${role}".`,
    );
  if (stored === 0) return ok(`The role ${role} may create the tables in schema ${schema}.`);
  const missing = await findMissingRights(client, schema);
  if (missing !== undefined) return failure(`The ${missing.problem}`, missing.remedy);
  return ok(`The role ${role} may change the tables of schema ${schema}, which have version ${stored}.`);
}

/** Whether the store can ask for safe commits, whatever the default is. */
async function synchronousCommit(client: PoolClient): Promise<Outcome> {
  const { before, asked } = await readRow(
    client,
    `SELECT current_setting('synchronous_commit') AS before, set_config('synchronous_commit', 'on', true) AS asked`,
  );
  if (asked !== 'on') return notProven('The server does not let Waybill ask for synchronous_commit.');
  return ok(`Waybill asks for synchronous_commit = on in each transaction. The default is ${before}.`);
}

async function standbys(client: PoolClient): Promise<Outcome> {
  const row = await readRow(
    client,
    `SELECT current_setting('synchronous_standby_names') AS names, current_user AS role, count(*)::int AS all,
      count(*) FILTER (WHERE sync_state IN ('sync', 'quorum'))::int AS synchronous,
      count(*) FILTER (WHERE sync_state IS NULL)::int AS hidden FROM pg_stat_replication`,
  );
  const [all, synchronous, hidden] = [Number(row.all), Number(row.synchronous), Number(row.hidden)];
  if (row.names !== '' && synchronous > 0)
    return ok(`Commits wait for a synchronous standby (connected: ${synchronous}).`);
  if (row.names !== '' && hidden > 0)
    return notProven(
      'The role may not see the state of the standbys.',
      `Run GRANT pg_monitor TO "${row.role}", and run the doctor again.`,
    );
  if (row.names !== '')
    return failure(
      'synchronous_standby_names names a standby, but none is connected.',
      'Connect the standby. Until then, each write with a key fails with OVERLOADED.',
    );
  const remedy =
    'If a failover promotes such a standby, acknowledged keys can be lost. Set synchronous_standby_names.';
  if (all > 0) return warning(`All standbys are asynchronous (connected: ${all}).`, remedy);
  return notProven(
    'The server shows no standby. A managed service may replicate the disk of the server instead.',
    'Ask the operator whether a commit survives the loss of the machine.',
  );
}

async function fsync(client: PoolClient): Promise<Outcome> {
  const { fsync: state } = await readRow(client, "SELECT current_setting('fsync') AS fsync");
  if (state === 'on') return ok('fsync is on.');
  return warning(
    `fsync is ${state}.`,
    'A crash of the machine can lose acknowledged keys, and a retry can then ship twice. Set fsync = on.',
  );
}

/** Whether the store notices a failover, after which it looks at REST before it creates a shipment. */
async function failover(client: PoolClient, url: PostgresUrl): Promise<Outcome> {
  try {
    const { timeline } = await readRow(client, `SELECT ${timelineNow} AS timeline`);
    return ok(`Waybill notices a failover by the timeline, which is ${timeline}.`);
  } catch (error) {
    // A broken connection says nothing about the timeline.
    if (problemOf(error, url, timeoutMs).isPassing) throw error;
    return notProven(
      'The server does not tell its timeline, so Waybill does not notice a failover.',
      'Promote no standby that may lack acknowledged commits.',
    );
  }
}

/** A commit as those of the store, which waits for the disk and the synchronous standby. */
const commit: Statement = {
  text: `WITH setting AS MATERIALIZED (SELECT set_config('synchronous_commit', 'on', true))
    SELECT pg_logical_emit_message(true, 'waybill', ''::text) FROM setting`,
  values: [],
};
const mayCommit = `SELECT bool_or(has_function_privilege(oid, 'EXECUTE')) AS may
  FROM pg_proc WHERE proname = 'pg_logical_emit_message'`;

async function latency(connections: Connections): Promise<Outcome> {
  const { may } = await connections.use((client) => readRow(client, mayCommit));
  if (may !== true)
    return notProven('The role cannot run pg_logical_emit_message, which the doctor needs to time commits.');
  const durations: number[] = [];
  try {
    // The first one opens the connection.
    for (let count = 0; count <= commitCount; count += 1) {
      const startedAtMs = performance.now();
      await connections.run(commit, () => {});
      if (count > 0) durations.push(performance.now() - startedAtMs);
    }
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    return failure('A commit failed.', error.message);
  }
  durations.sort((one, other) => one - other);
  const medianMs = durations[durations.length >> 1] ?? 0;
  const shown = (ms = 0) => `${ms.toFixed(1)} ms`;
  const cause = `The median of ${commitCount} commits is ${shown(medianMs)}, the longest ${shown(durations.at(-1))}.`;
  if (medianMs < slowCommitMs) return ok(cause);
  return warning(
    cause,
    'A write with a key waits for two to five commits. Move Waybill, PostgreSQL and the standby nearer to each other.',
  );
}

async function readRow(
  client: PoolClient,
  text: string,
  values: unknown[] = [],
): Promise<Readonly<Record<string, unknown>>> {
  const { rows } = await client.query(text, values);
  return rows[0] ?? {};
}
