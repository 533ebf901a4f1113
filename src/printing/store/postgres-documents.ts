import { setImmediate as nextTurn } from 'node:timers/promises';
import { createDigest } from '../../writes/digest.ts';
import { StoreUnavailableError } from '../../writes/store/key-store.ts';
import { createConnections, type Row } from '../../writes/store/postgres-connection.ts';
import type { PostgresUrl } from '../../writes/store/postgres-url.ts';
import {
  createSeal,
  type DocumentStore,
  EndedDocumentError,
  type NewDocument,
  nameOf,
  type StoredDocument,
} from './document-store.ts';

export interface PostgresDocumentsOptions {
  url: PostgresUrl;
  /** The secret of the key store, which all servers share. @throws StoreUnavailableError before it is known */
  secret: () => Buffer;
  /** Why the key store does not work, as a sentence: it uses the same server. */
  failure: () => string | undefined;
  /** How long a statement may take, in milliseconds. By default 5,000. */
  timeoutMs?: number;
  maxBytes?: number;
}

const defaultMaxBytes = 1_073_741_824;
/** A part of a document in a row: a statement then holds the event loop for a millisecond. */
const partBytes = 1_048_576;
/** Apart from the connections of the key store: documents never make a write wait. */
const maxConnections = 2;
/** Ids that are looked for at once, because anybody can guess. All other statements are of documents that exist. */
const maxFinding = 50;
/** In milliseconds. Many tokens may be rejected at once, and all but a few have no document. */
const endEveryMs = 200;
/** How long a removal of rejected tokens waits for the lock of another transaction, in milliseconds. */
const lockTimeoutMs = 1_000;
/** Rejected tokens in one statement. */
const holdersAtOnce = 1_000;
/** Rejected tokens that wait for PostgreSQL. With one more, the documents of the oldest end with their time only. */
const maxRejected = 100_000;

/**
 * Documents in the tables of the key store, for all servers that share it. The rows have the name of a document, which
 * does not lead to its id, and parts that are encrypted by a key made from the id.
 */
export function openPostgresDocuments(options: PostgresDocumentsOptions): DocumentStore {
  const { url, timeoutMs = 5_000, maxBytes = defaultMaxBytes } = options;
  const { schema } = url;
  const connections = createConnections(url, timeoutMs, maxConnections);
  const digest = createDigest(options.secret);
  const nowMs = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';
  /** The part of a WITH that removes the documents of a condition, with their parts. */
  const removal = (
    condition: string,
  ) => `gone AS (DELETE FROM ${schema}.documents WHERE ${condition} RETURNING name),
    parts AS (DELETE FROM ${schema}.document_parts p USING gone WHERE p.name = gone.name)`;
  /** The calls of `find` in progress. */
  let finding = 0;
  /** The holders whose documents no statement has removed yet, the oldest first. */
  const rejected = new Set<string>();
  /** Removes the documents of the holders that were there when it began. */
  let ending: Promise<void> | undefined;
  let nextEnding: Promise<void> | undefined;
  let endTimer: NodeJS.Timeout | undefined;

  const run = (text: string, ...values: unknown[]): Promise<Row[]> =>
    connections.run({ text, values }, () => {});

  /**
   * Before anything is read or stored: documents of a rejected token are gone, even after PostgreSQL was away. A caller waits
   * for the holders that were rejected before its call, in at most two runs that all callers share.
   */
  function endRejected(): Promise<void> {
    if (ending === undefined) return beginEnding();
    if (rejected.size === 0) return ending;
    nextEnding ??= ending
      .catch(() => {})
      .then(() => {
        nextEnding = undefined;
        return ending ?? beginEnding();
      });
    return nextEnding;
  }

  function beginEnding(): Promise<void> {
    if (rejected.size === 0) return Promise.resolve();
    ending = removeRejected().finally(() => {
      ending = undefined;
    });
    return ending;
  }

  async function removeRejected(): Promise<void> {
    const holders = [...rejected];
    rejected.clear();
    while (holders.length > 0) {
      const some = holders.slice(0, holdersAtOnce);
      try {
        // After its own timeout a client is gone, but its statement would still wait for the lock of a row.
        await run(
          `WITH setting AS MATERIALIZED (SELECT set_config('lock_timeout', '${lockTimeoutMs}ms', true) AS value),
            ${removal('(SELECT value FROM setting) IS NOT NULL AND holder = ANY($1::text[])')} SELECT FROM gone`,
          some,
        );
      } catch (error) {
        const later = [...rejected];
        rejected.clear();
        for (const holder of [...holders, ...later]) rejected.add(holder);
        dropOldest();
        throw error;
      }
      holders.splice(0, some.length);
    }
  }

  function dropOldest(): void {
    for (const oldest of rejected) {
      if (rejected.size <= maxRejected) return;
      rejected.delete(oldest);
    }
  }

  function endSoon(): void {
    endTimer ??= setTimeout(() => {
      endTimer = undefined;
      // Each try to commit would occupy a connection of the server for as long as its standby hangs.
      if (options.failure() !== undefined) endSoon();
      // The next one to read a document meets the error.
      else endRejected().catch(endSoon);
    }, endEveryMs).unref();
  }

  /**
   * Removes a document if all of them have more bytes than they may: one whose time has ended, or else the oldest of the
   * holder with the most. Documents that are still being stored (`parts = 0`) come last among those of a holder.
   * @param name the document that is stored. The bytes of others that are stored meanwhile count, too.
   * @returns false if there is room
   */
  async function removeOne(name: string): Promise<boolean> {
    const rows = await run(
      `WITH held AS (SELECT holder, sum(bytes) AS bytes FROM ${schema}.documents GROUP BY holder),
        victim AS (SELECT d.name FROM ${schema}.documents d JOIN held h ON h.holder = d.holder
          WHERE (SELECT sum(bytes) FROM held) > $2::bigint AND d.name <> $1
          ORDER BY d.expires_ms > ${nowMs}, h.bytes DESC, d.parts = 0, d.holder, d.created_ms LIMIT 1),
        ${removal('name IN (SELECT name FROM victim)')}
        SELECT FROM victim`,
      name,
      maxBytes,
    );
    return rows.length > 0;
  }

  /** Stores a document. @throws StoreUnavailableError also if others removed its row meanwhile */
  async function store(
    name: string,
    { seal }: ReturnType<typeof createSeal>,
    { holder, parts, lifetimeMs }: NewDocument,
  ): Promise<void> {
    // First, so that the bytes of a document count before they are there, and until they are gone.
    await run(
      `INSERT INTO ${schema}.documents (name, holder, bytes, parts, created_ms, expires_ms)
        SELECT $1, $2, $3, 0, ${nowMs}, ${nowMs} + $4::bigint`,
      name,
      holder,
      sizeOf(parts),
      lifetimeMs,
    );
    while (await removeOne(name));
    const rows = rowsOf(parts);
    for (const [part, row] of rows.entries()) {
      await nextTurn();
      await run(
        `INSERT INTO ${schema}.document_parts (name, part, sealed, expires_ms)
          SELECT name, $2, $3, expires_ms FROM ${schema}.documents WHERE name = $1`,
        name,
        part,
        seal(part, row),
      );
    }
    // Last, so that a document has all of its parts once it can be found.
    const kept = await run(
      `UPDATE ${schema}.documents SET parts = $2 WHERE name = $1 RETURNING name`,
      name,
      rows.length,
    );
    if (kept.length === 0)
      throw new StoreUnavailableError(
        'The store removed this document to make room for others. Send the request again.',
      );
  }

  async function find(id: string): Promise<StoredDocument | undefined> {
    await endRejected();
    const text = `SELECT holder, bytes::int, parts, created_ms::float8 AS "createdAtMs" FROM ${schema}.documents
      WHERE name = $1 AND parts > 0 AND expires_ms > ${nowMs}`;
    const [row] = await run(text, nameOf(id));
    if (row === undefined) return undefined;
    const count = Number(row.parts);
    return {
      holder: String(row.holder),
      bytes: Number(row.bytes),
      createdAtMs: Number(row.createdAtMs),
      read: () => readParts(id, count),
    };
  }

  async function* readParts(id: string, count: number): AsyncIterable<Uint8Array> {
    const { open } = createSeal(id);
    for (let part = 0; part < count; part += 1) {
      await endRejected();
      const text = `SELECT sealed FROM ${schema}.documents JOIN ${schema}.document_parts USING (name)
        WHERE name = $1 AND part = $2 AND documents.expires_ms > ${nowMs}`;
      const [row] = await run(text, nameOf(id), part);
      if (!Buffer.isBuffer(row?.sealed)) throw new EndedDocumentError();
      yield open(part, row.sealed);
    }
  }

  return {
    holderOf(bearer) {
      try {
        return digest({ holderOfDocuments: bearer });
      } catch (error) {
        if (error instanceof StoreUnavailableError) return undefined;
        throw error;
      }
    },
    failure: options.failure,
    async put(id, document) {
      if (sizeOf(document.parts) > maxBytes) return false;
      await endRejected();
      const name = nameOf(id);
      try {
        await store(name, createSeal(id), document);
        return true;
      } catch (error) {
        const text = `WITH gone AS (DELETE FROM ${schema}.documents WHERE name = $1)
          DELETE FROM ${schema}.document_parts WHERE name = $1`;
        // If this fails too, what is there counts until its time, or until others need the room.
        await run(text, name).catch(() => {});
        throw error;
      }
    },
    async find(id) {
      // PostgreSQL may also be away without an error, and then each statement takes all of its time.
      const failure = options.failure();
      if (failure !== undefined) throw new StoreUnavailableError(failure);
      if (finding >= maxFinding)
        throw new StoreUnavailableError('Too many links are opened at once. Send the request again.');
      finding += 1;
      try {
        return await find(id);
      } finally {
        finding -= 1;
      }
    },
    endAll(holder) {
      rejected.add(holder);
      dropOldest();
      endSoon();
    },
    async close() {
      clearTimeout(endTimer);
      await endRejected().catch(() => {});
      await connections.close();
    },
  };
}

const sizeOf = (parts: readonly Uint8Array[]) => parts.reduce((sum, part) => sum + part.length, 0);

/** The bytes in rows of equal size. */
function rowsOf(parts: readonly Uint8Array[]): Buffer[] {
  const bytes = Buffer.concat(parts);
  const count = Math.ceil(bytes.length / partBytes);
  return Array.from({ length: count }, (_row, index) =>
    bytes.subarray(index * partBytes, (index + 1) * partBytes),
  );
}
