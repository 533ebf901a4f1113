import { readFileSync } from 'node:fs';
import { Pool, type PoolClient, type PoolConfig } from 'pg';
import { StoreUnavailableError } from './key-store.ts';
import { isOfOneKey, NotPrimaryError, problemOf } from './postgres-problem.ts';
import type { PostgresUrl } from './postgres-url.ts';

/** A statement with its parameters. It has no name, so a pooler between may change the session at each transaction. */
export interface Statement {
  text: string;
  values: readonly unknown[];
}

/** The statement did not reach the server, so it needs no undoing. */
export class UnsentError extends StoreUnavailableError {}

export type Row = Readonly<Record<string, unknown>>;

const defaultConnections = 10;

/** The settings of a connection. @throws the error of a root certificate that cannot be read */
export function connectionSettings(url: PostgresUrl, timeoutMs: number): PoolConfig {
  const { host, port, user, password, database, sslMode, rootCertificateFile } = url;
  const ca = rootCertificateFile === undefined ? undefined : readFileSync(rootCertificateFile, 'utf8');
  // As in libpq, a root certificate makes `require` the same as `verify-ca`.
  const isChecked = sslMode.startsWith('verify') || ca !== undefined;
  const ssl = {
    rejectUnauthorized: isChecked,
    ...(ca !== undefined && { ca }),
    ...(sslMode !== 'verify-full' && { checkServerIdentity: () => undefined }),
  };
  return {
    host,
    port,
    database,
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password }),
    ssl: sslMode === 'disable' ? false : ssl,
    application_name: 'waybill',
    keepAlive: true,
    connectionTimeoutMillis: timeoutMs,
    // Never a cancel request: the server would report an unconfirmed commit as done.
    query_timeout: timeoutMs,
  };
}

/**
 * The connections to the primary. After an error of the server or the network, and after a timeout, all connections are
 * replaced: the others lead to the same server.
 * @param timeoutMs how long a statement may take, with the wait for a connection.
 */
export function createConnections(url: PostgresUrl, timeoutMs: number, maxConnections = defaultConnections) {
  const settings = connectionSettings(url, timeoutMs);
  let pool = createPool();

  function createPool(): Pool {
    const created = new Pool({ ...settings, max: maxConnections, onConnect: expectPrimary });
    // Without listeners, an error of a connection would end the process. The next statement meets the error too.
    created.on('error', () => {});
    created.on('connect', (client) => client.on('error', () => {}));
    return created;
  }

  function replace(failed: Pool): void {
    if (failed !== pool || failed.ending) return;
    pool = createPool();
    void failed.end();
  }

  async function runOn(client: PoolClient, { text, values }: Statement, leftMs: number): Promise<Row[]> {
    let warning: string | undefined;
    const onNotice = ({ code, message }: { code?: string | undefined; message?: string | undefined }) => {
      if (code !== '00000') warning = message;
    };
    client.on('notice', onNotice);
    try {
      const config = { text, values: [...values], query_timeout: Math.max(1, leftMs) };
      const { rows } = await client.query(config);
      if (warning === undefined) return rows;
    } finally {
      client.off('notice', onNotice);
    }
    // The commit is on the primary, but perhaps not on its standby. The text has the language of the server.
    throw new StoreUnavailableError('PostgreSQL did not confirm a commit. Check its standbys.');
  }

  return {
    /**
     * Runs a statement in a transaction of its own, in one round trip.
     * @returns the rows, after a commit without a warning.
     * @throws StoreUnavailableError. `onFailure` is called before if other operations would fail too.
     */
    async run(statement: Statement, onFailure: (problem: string) => void): Promise<Row[]> {
      const startedAtMs = performance.now();
      const used = pool;
      let client: PoolClient | undefined;
      try {
        client = await used.connect();
        const rows = await runOn(client, statement, timeoutMs - (performance.now() - startedAtMs));
        client.release();
        return rows;
      } catch (error) {
        const isConnectionSound = error instanceof StoreUnavailableError || isOfOneKey(error);
        // An argument of true closes the connection.
        client?.release(!isConnectionSound);
        if (error instanceof StoreUnavailableError) throw error;
        if (isConnectionSound)
          throw new StoreUnavailableError(
            'Another transaction in PostgreSQL holds a lock. Send the request again.',
          );
        const { text } = problemOf(error, url, timeoutMs);
        // A connection of an earlier pool says nothing about the present server.
        if (used === pool) onFailure(text);
        replace(used);
        throw client === undefined ? new UnsentError(text) : new StoreUnavailableError(text);
      }
    },
    /** Lets `work` use a connection for several statements. @throws the errors of `work` and of `pg`. */
    async use<Result>(work: (client: PoolClient) => Promise<Result>): Promise<Result> {
      const used = pool;
      let client: PoolClient | undefined;
      try {
        client = await used.connect();
        const result = await work(client);
        client.release();
        return result;
      } catch (error) {
        client?.release(true);
        replace(used);
        throw error;
      }
    },
    close: () => pool.end(),
  };
}

/** Refuses a connection to a standby, such as a primary that was demoted. @throws NotPrimaryError */
async function expectPrimary(client: Pick<PoolClient, 'query'>): Promise<void> {
  const { rows } = await client.query(
    `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS "isReadOnly"`,
  );
  if (rows[0]?.isReadOnly === true) throw new NotPrimaryError();
}
