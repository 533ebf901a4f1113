import type { ClientBase } from 'pg';
import { StoreOpenError } from './key-store.ts';

/** The tables of a schema. Each step makes the next version, and keeps the servers of the version before it working. */
const steps: readonly ((schema: string) => string)[] = [
  (schema) => `
    CREATE TABLE ${schema}.state (
      id integer PRIMARY KEY CHECK (id = 1), -- one row
      secret bytea NOT NULL,
      timeline text, -- of the server's log; unknown where the server does not tell
      failed_over_ms bigint -- when the timeline was found changed, by the clock of the server
    );
    CREATE TABLE ${schema}.services (service text PRIMARY KEY); -- with tokens that have shown an organization
    CREATE TABLE ${schema}.owners (owner text PRIMARY KEY, renewals bigint NOT NULL); -- the servers that may work
    CREATE TABLE ${schema}.keys (
      merchant text NOT NULL, id text NOT NULL, fingerprint text NOT NULL,
      progress text, outcome text, -- JSON
      owner text, -- of the unfinished work: the owner's name, a dot, and the number of the claim
      is_resumed boolean NOT NULL DEFAULT false,
      expires_ms bigint NOT NULL, -- by the clock of the server
      PRIMARY KEY (merchant, id)
    );
    CREATE INDEX keys_by_expiry ON ${schema}.keys (expires_ms);
    CREATE INDEX keys_of_merchant_by_expiry ON ${schema}.keys (merchant, expires_ms);`,
  (schema) => `
    CREATE TABLE ${schema}.documents (
      name text PRIMARY KEY, -- derived from the id, which is not stored
      holder text NOT NULL, -- a digest of the access token
      bytes bigint NOT NULL, parts integer NOT NULL, created_ms bigint NOT NULL, expires_ms bigint NOT NULL
    );
    CREATE INDEX documents_by_expiry ON ${schema}.documents (expires_ms);
    CREATE INDEX documents_by_holder ON ${schema}.documents (holder);
    CREATE TABLE ${schema}.document_parts (
      name text NOT NULL, part integer NOT NULL,
      sealed bytea NOT NULL, -- encrypted by a key that is made from the id
      expires_ms bigint NOT NULL, -- also of a document that was not stored as a whole
      PRIMARY KEY (name, part)
    );
    CREATE INDEX document_parts_by_expiry ON ${schema}.document_parts (expires_ms);`,
];

/**
 * Another server has made the same objects at the same time: unique_violation, duplicate_table, duplicate_schema,
 * serialization_failure, deadlock_detected and, for a row of the catalog that both have changed, internal_error.
 */
const raceCodes = ['23505', '42P07', '42P06', '40001', '40P01', 'XX000'];
const maxTries = 20;
/** The oldest server that works, as its `server_version_num`. */
export const minServerVersion = 130_000;
/** The version of the tables that this code makes. */
export const newestVersion = steps.length;

/** What the server says of itself. */
export interface ServerFacts {
  /** Whether the server tells the timeline of its log. CockroachDB has none, and a role may lack the right. */
  hasTimeline: boolean;
}

/** The timeline of the log, which a promotion changes at once. For a server that has timelines. */
export const timelineNow = 'substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)';

/**
 * Makes the tables, or brings them to this version. Several servers may do this at the same time.
 * @param secret the secret of a schema that has none yet.
 * @returns the facts of the server, and the secret.
 * @throws StoreOpenError if the role lacks a right or the version is newer, and the errors of `pg`.
 */
export async function openSchema(
  client: ClientBase,
  schema: string,
  secret: Buffer,
): Promise<ServerFacts & { secret: Buffer }> {
  const hasTimeline = await client.query(`SELECT ${timelineNow}`).then(
    () => true,
    () => false,
  );
  const { rows: servers } = await client.query(
    "SELECT current_setting('server_version_num')::int AS version",
  );
  if (Number(servers[0]?.version) < minServerVersion)
    throw new StoreOpenError('the PostgreSQL server is older than version 13. Upgrade PostgreSQL.');
  let version = await readVersion(client, schema);
  for (let tries = 1; version < steps.length; tries += 1) {
    await migrate(client, schema, secret, hasTimeline).catch((error: unknown) => {
      if (tries === maxTries || !raceCodes.includes(String(Object(error).code))) throw error;
    });
    version = await readVersion(client, schema);
  }
  if (version > steps.length)
    throw new StoreOpenError(
      `the tables of schema ${schema} have version ${version}, but this Waybill knows version ${steps.length}. Start a newer Waybill, or name another schema in STATE_URL.`,
    );
  const missing = await findMissingRights(client, schema);
  if (missing !== undefined) throw new StoreOpenError(`the ${missing.problem} ${missing.remedy}`);
  const { rows } = await client.query(`SELECT secret FROM ${schema}.state`);
  const stored: unknown = rows[0]?.secret;
  if (!Buffer.isBuffer(stored))
    throw new StoreOpenError(
      `the table ${schema}.state has lost the secret of the keys. Name another schema in STATE_URL.`,
    );
  return { hasTimeline, secret: stored };
}

/** The version of the tables; 0 if there are none. */
export async function readVersion(client: ClientBase, schema: string): Promise<number> {
  const { rows } = await client.query(`SELECT to_regclass('${schema}.version') IS NOT NULL AS exists`);
  if (rows[0]?.exists !== true) return 0;
  const versions = await client.query(`SELECT version FROM ${schema}.version`);
  return Number(versions.rows[0]?.version ?? 0);
}

async function migrate(
  client: ClientBase,
  schema: string,
  secret: Buffer,
  hasTimeline: boolean,
): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query('SET LOCAL synchronous_commit = on');
    const { rows } = await client.query(`SELECT 1 FROM pg_namespace WHERE nspname = '${schema}'`);
    // Even IF NOT EXISTS needs the right to create schemas.
    if (rows.length === 0) await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
    await client.query(`CREATE TABLE IF NOT EXISTS ${schema}.version (
      id integer PRIMARY KEY CHECK (id = 1), version integer NOT NULL)`);
    await client.query(`INSERT INTO ${schema}.version VALUES (1, 0) ON CONFLICT DO NOTHING`);
    // This lock makes the other servers wait. The advisory locks of PostgreSQL are not known to its relatives.
    const found = await client.query(`SELECT version FROM ${schema}.version FOR UPDATE`);
    for (const step of steps.slice(Number(found.rows[0]?.version))) await client.query(step(schema));
    await client.query(
      `INSERT INTO ${schema}.state VALUES (1, $1, ${hasTimeline ? timelineNow : 'NULL'}) ON CONFLICT DO NOTHING`,
      [secret],
    );
    await client.query(
      `UPDATE ${schema}.version SET version = ${steps.length} WHERE version < ${steps.length}`,
    );
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

/** What to do if another role has made the tables without rights for this role. `problem` begins with "role". */
export async function findMissingRights(
  client: ClientBase,
  schema: string,
): Promise<{ problem: string; remedy: string } | undefined> {
  const { rows } = await client.query(`SELECT current_user AS role, bool_and(
      has_table_privilege('${schema}.' || name, 'SELECT') AND has_table_privilege('${schema}.' || name, 'INSERT')
      AND has_table_privilege('${schema}.' || name, 'UPDATE') AND has_table_privilege('${schema}.' || name, 'DELETE')
    ) AS may FROM unnest(ARRAY['state', 'services', 'owners', 'keys', 'documents', 'document_parts']) AS name`);
  if (rows[0]?.may === true) return undefined;
  const role = String(rows[0]?.role);
  return {
    problem: `role ${role} may not change the tables of schema ${schema}.`,
    remedy: `Run GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO "${role}".`,
  };
}
