import { type Claim, type ClaimResult, type KeyName, StoreUnavailableError } from './key-store.ts';
import type { Row, Statement } from './postgres-connection.ts';
import { type ServerFacts, timelineNow } from './postgres-schema.ts';

/** How long a key is stored, in milliseconds. */
const keyLifetimeMs = 24 * 60 * 60 * 1000;
/** How long after a failover notes may be missing: as long as the lost ones would have been stored. */
const incompleteMs = keyLifetimeMs;
/** How long a statement waits for the lock of another transaction, in milliseconds. */
const lockTimeoutMs = 1_000;
/** How many keys one step of the clean-up removes. */
const maxRemoved = 500;
/** How many documents, and parts of 1 MiB, one step of the clean-up removes. */
const maxDocumentsRemoved = 100;

/** A change of a claimed key. `undo` is for a claim whose commit was not acknowledged. */
export interface Change {
  kind: 'checkpoint' | 'finish' | 'abandon' | 'release' | 'undo';
  claim: Claim;
  /**
   * The progress of `checkpoint` or `abandon`, or the outcome of `finish`, as JSON. Null removes the progress at
   * `checkpoint`, and keeps it at `abandon`. The other kinds ignore it.
   */
  value: string | null;
}

/** Whether a commit of this role has waited for a standby for some seconds. Needs no tables. */
export const hasWaitingCommit: Statement = {
  text: `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE usename = current_user AND wait_event = 'SyncRep'
    AND query_start < clock_timestamp() - interval '2 s') AS "isWaiting"`,
  values: [],
};

export interface TableOptions extends ServerFacts {
  schema: string;
  maxKeysPerMerchant: number;
  /** For tests: replaces the clock of the server. */
  now: (() => number) | undefined;
}

/**
 * The statements on the tables. Each is one transaction and one round trip. The row `setting` is read before anything is
 * written: the commit then waits for the synchronous standby whatever the default of the server is.
 */
export function createStatements({ schema, maxKeysPerMerchant, now, hasTimeline }: TableOptions) {
  const nowMs = now === undefined ? '(extract(epoch FROM clock_timestamp()) * 1000)::bigint' : '$1::bigint';
  // Each statement uses `$1`, because PostgreSQL must know the type of each parameter.
  const setting = `setting AS MATERIALIZED (SELECT set_config('synchronous_commit', 'on', true),
    set_config('lock_timeout', '${lockTimeoutMs}ms', true), ${nowMs} AS now_ms, $1::bigint)`;
  const timeline = hasTimeline ? timelineNow : 'NULL::text';
  // The owner of a key is the name of its server, a dot and the number of the claim.
  const isLive = (row: string) =>
    `EXISTS (SELECT FROM ${schema}.owners o WHERE o.owner = split_part(${row}.owner, '.', 1))`;
  const expiredOf = (
    table: string,
    key: string,
  ) => `${table} AS (DELETE FROM ${schema}.${table} WHERE (${key}) IN (
    SELECT ${key} FROM ${schema}.${table} t, setting WHERE t.expires_ms <= now_ms
    LIMIT ${maxDocumentsRemoved} FOR UPDATE OF t SKIP LOCKED))`;
  const statement = (text: string, ...values: unknown[]): Statement => ({
    text,
    values: [now?.() ?? null, ...values],
  });

  // What happens to a key, which `toClaimResult` reads from the row:
  // - It has no row, or an expired one without a live owner: claimed as new if the merchant has room, or else "full".
  // - It has a live owner: "held", or "conflict" for another fingerprint.
  // - It has an outcome: "done", or "conflict" for another fingerprint.
  // - It has neither: claimed as resumed, with its progress, or "conflict" for another fingerprint.
  // `hasRoom` is true where room does not matter. `lossAgeMs` is 0 while nobody has noted a changed timeline.
  // The parameters are the merchant ($2), the id, the fingerprint, the new owner, and the most keys of a merchant ($6).
  const claim = `WITH ${setting},
    found AS MATERIALIZED (
      SELECT k.fingerprint, k.outcome, k.owner, k.expires_ms, ${isLive('k')} AS is_live,
        k.expires_ms <= now_ms AS is_over
      FROM ${schema}.keys k, setting WHERE k.merchant = $2 AND k.id = $3),
    room AS MATERIALIZED (
      SELECT count(*) < $6::bigint AS is_free FROM (SELECT FROM ${schema}.keys k, setting
        WHERE k.merchant = $2 AND k.expires_ms > now_ms LIMIT $6::bigint) AS counted),
    added AS (
      INSERT INTO ${schema}.keys (merchant, id, fingerprint, owner, expires_ms)
      SELECT $2, $3, $4, $5, now_ms + ${keyLifetimeMs} FROM setting
      WHERE NOT EXISTS (SELECT FROM found) AND (SELECT is_free FROM room)
      ON CONFLICT DO NOTHING RETURNING NULL::text AS progress, false AS is_resumed),
    taken AS (
      UPDATE ${schema}.keys k SET fingerprint = $4, owner = $5, expires_ms = now_ms + ${keyLifetimeMs}, outcome = NULL,
        is_resumed = NOT f.is_over, progress = CASE WHEN f.is_over THEN NULL ELSE k.progress END
      FROM found f, setting
      WHERE k.merchant = $2 AND k.id = $3 AND NOT f.is_live
        AND CASE WHEN f.is_over THEN (SELECT is_free FROM room) ELSE f.outcome IS NULL AND f.fingerprint = $4 END
        -- Another transaction may have changed the row since it was found.
        AND k.owner IS NOT DISTINCT FROM f.owner AND k.expires_ms = f.expires_ms AND k.outcome IS NOT DISTINCT FROM f.outcome
      RETURNING k.progress, k.is_resumed),
    claimed AS (SELECT * FROM added UNION ALL SELECT * FROM taken)
    SELECT c.progress, c.is_resumed AS "isResumed",
      CASE WHEN f.is_over AND NOT f.is_live THEN NULL ELSE f.fingerprint END AS fingerprint,
      f.outcome, CASE WHEN f.is_live OR c.is_resumed IS NOT NULL THEN true
        WHEN f.fingerprint IS NULL OR f.is_over THEN (SELECT is_free FROM room) ELSE true END AS "hasRoom",
      CASE WHEN s.timeline <> ${timeline} THEN 0
        WHEN now_ms - s.failed_over_ms < ${incompleteMs} THEN greatest(0, now_ms - s.failed_over_ms) END AS "lossAgeMs"
    FROM ${schema}.state s CROSS JOIN setting LEFT JOIN claimed c ON true LEFT JOIN found f ON true`;

  const isClaimed = 'k.merchant = c.merchant AND k.id = c.id AND k.owner = c.owner';
  const change = `WITH ${setting},
    change AS MATERIALIZED (SELECT * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
      WITH ORDINALITY AS c (merchant, id, owner, kind, value, n)),
    removed AS (
      DELETE FROM ${schema}.keys k USING change c, setting
      WHERE ${isClaimed} AND (c.kind = 'release' OR (c.kind = 'undo' AND NOT k.is_resumed)) RETURNING c.n),
    changed AS (
      UPDATE ${schema}.keys k SET
        progress = CASE c.kind WHEN 'checkpoint' THEN c.value WHEN 'abandon' THEN coalesce(c.value, k.progress)
          WHEN 'undo' THEN k.progress END,
        outcome = CASE c.kind WHEN 'finish' THEN c.value END,
        owner = CASE c.kind WHEN 'checkpoint' THEN k.owner END,
        expires_ms = CASE c.kind WHEN 'checkpoint' THEN now_ms + ${keyLifetimeMs} ELSE k.expires_ms END
      FROM change c, setting
      WHERE ${isClaimed} AND (c.kind IN ('checkpoint', 'finish', 'abandon') OR (c.kind = 'undo' AND k.is_resumed))
      RETURNING c.n)
    SELECT n::int FROM removed UNION ALL SELECT n::int FROM changed`;

  const renew = `WITH ${setting},
    renewed AS (UPDATE ${schema}.owners SET renewals = renewals + 1 FROM setting WHERE owner = $2 RETURNING owner)
    SELECT EXISTS (SELECT FROM renewed) AS "isRenewed", ${timeline} AS timeline, s.timeline AS "storedTimeline",
      now_ms - s.failed_over_ms < ${incompleteMs} AS "mayHaveLostKeys",
      ARRAY(SELECT owner FROM ${schema}.owners ORDER BY owner) AS owners,
      ARRAY(SELECT renewals::text FROM ${schema}.owners ORDER BY owner) AS renewals
    FROM ${schema}.state s, setting`;

  return {
    /** Claims a key. The row has `isResumed` if the key is claimed now. */
    claim: ({ merchant, id }: KeyName, fingerprint: string, owner: string) =>
      statement(claim, merchant, id, fingerprint, owner, maxKeysPerMerchant),
    /** Changes claimed keys, each at most once. The rows have the numbers, from 1 on, of the changes that were done. */
    change(changes: readonly Change[]): Statement {
      const column = (read: (one: Change) => string | null) => changes.map(read);
      return statement(
        change,
        column(({ claim }) => claim.key.merchant),
        column(({ claim }) => claim.key.id),
        column(({ claim }) => claim.owner),
        column(({ kind }) => kind),
        column(({ value }) => value),
      );
    },
    /** Adds an owner. It may work until other servers remove it with `bury`, because it has not renewed. */
    addOwner: (owner: string) =>
      statement(`WITH ${setting} INSERT INTO ${schema}.owners SELECT $2, 0 FROM setting`, owner),
    /** Shows that the owner lives, and how often each owner has shown this. */
    renew: (owner: string) => statement(renew, owner),
    /** Frees the work of owners that have not renewed since. */
    bury: (owners: readonly string[], renewals: readonly string[]) =>
      statement(
        `WITH ${setting} DELETE FROM ${schema}.owners o USING setting,
          unnest($2::text[], $3::bigint[]) AS dead (owner, renewals)
          WHERE o.owner = dead.owner AND o.renewals = dead.renewals`,
        owners,
        renewals,
      ),
    /** Frees the work of this owner. */
    removeOwner: (owner: string) =>
      statement(`WITH ${setting} DELETE FROM ${schema}.owners USING setting WHERE owner = $2`, owner),
    /** Stores that a failover has changed the timeline. */
    noteTimeline: () =>
      statement(`WITH ${setting} UPDATE ${schema}.state SET timeline = ${timeline},
        failed_over_ms = CASE WHEN timeline IS NULL THEN NULL ELSE now_ms END
        FROM setting WHERE timeline IS DISTINCT FROM ${timeline}`),
    /** Removes some keys and documents whose lifetime has ended. Other servers do so at the same time. */
    removeExpired: () =>
      statement(`WITH ${setting},
        ${expiredOf('documents', 'name')}, ${expiredOf('document_parts', 'name, part')}
        DELETE FROM ${schema}.keys WHERE (merchant, id) IN (
        SELECT merchant, id FROM ${schema}.keys k, setting WHERE k.expires_ms <= now_ms AND NOT ${isLive('k')}
        ORDER BY k.expires_ms LIMIT ${maxRemoved} FOR UPDATE OF k SKIP LOCKED)`),
    noteService: (service: string) =>
      statement(
        `WITH ${setting} INSERT INTO ${schema}.services SELECT $2 FROM setting ON CONFLICT DO NOTHING`,
        service,
      ),
    hasService: (service: string) =>
      statement(
        `SELECT $1::bigint, EXISTS (SELECT FROM ${schema}.services WHERE service = $2) AS "isKnown"`,
        service,
      ),
  };
}

/** Reads the row of `claim`. */
export function toClaimResult(row: Row | undefined, claim: Claim, fingerprint: string): ClaimResult {
  if (row === undefined) throw new StoreUnavailableError('The tables of the key store are incomplete.');
  if (typeof row.isResumed === 'boolean') {
    const progress = typeof row.progress === 'string' ? JSON.parse(row.progress) : undefined;
    const lossAgeMs = row.lossAgeMs === null ? undefined : Number(row.lossAgeMs);
    return { state: 'claimed', claim, progress, isResumed: row.isResumed, lossAgeMs };
  }
  if (row.fingerprint !== null && row.fingerprint !== fingerprint) return { state: 'conflict' };
  if (row.fingerprint !== null && typeof row.outcome === 'string')
    return { state: 'done', outcome: JSON.parse(row.outcome) };
  return { state: row.hasRoom === false ? 'full' : 'held' };
}
