import { setImmediate as nextTurn } from 'node:timers/promises';
import { createDigest } from '../../writes/digest.ts';
import { StoreUnavailableError } from '../../writes/store/key-store.ts';
import { createConnections, type Row } from '../../writes/store/postgres-connection.ts';
import type { PostgresUrl } from '../../writes/store/postgres-url.ts';
import {
  createSeal,
  type DocumentStore,
  EndedDocumentError,
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
  const removal = (
    condition: string,
  ) => `gone AS (DELETE FROM ${schema}.documents WHERE ${condition} RETURNING name),
    parts AS (DELETE FROM ${schema}.document_parts p USING gone WHERE p.name = gone.name)`;
  let finding = 0;
  /** The holders whose documents PostgreSQL may still have, the oldest first. */
  const rejected = new Set<string>();
  let ending: Promise<void> | undefined;
  let endTimer: NodeJS.Timeout | undefined;

  const run = (text: string, ...values: unknown[]): Promise<Row[]> =>
    connections.run({ text, values }, () => {});

  /**
   * Before anything is read or stored: documents of a rejected token are gone, even after PostgreSQL was away. All callers
   * wait for one run, which ends once no holder is left.
   */
  function endRejected(): Promise<void> {
    if (rejected.size === 0) return Promise.resolve();
    ending ??= removeRejected().finally(() => {
      ending = undefined;
    });
    return ending;
  }

  async function removeRejected(): Promise<void> {
    while (rejected.size > 0) {
      const holders = rejected.values().take(holdersAtOnce).toArray();
      await run(`WITH ${removal('holder = ANY($1::text[])')} SELECT FROM gone`, holders);
      for (const holder of holders) rejected.delete(holder);
    }
  }

  function endSoon(): void {
    endTimer ??= setTimeout(() => {
      endTimer = undefined;
      // The next one to read a document meets the error.
      endRejected().catch(endSoon);
    }, endEveryMs).unref();
  }

  /** The holder with the most bytes loses its oldest document. @returns false if there was room */
  async function removeOne(holder: string, bytes: number): Promise<boolean> {
    const rows = await run(
      `WITH alive AS (SELECT * FROM ${schema}.documents WHERE expires_ms > ${nowMs}),
        held AS (SELECT holder, sum(bytes) + CASE WHEN holder = $1 THEN $2::bigint ELSE 0 END AS bytes FROM alive
          GROUP BY holder),
        victim AS (SELECT a.name FROM alive a JOIN held h ON h.holder = a.holder
          WHERE (SELECT sum(bytes) FROM alive) + $2::bigint > $3::bigint
          ORDER BY h.bytes DESC, a.holder, a.created_ms LIMIT 1),
        ${removal('name IN (SELECT name FROM victim)')}
        SELECT name FROM gone`,
      holder,
      bytes,
      maxBytes,
    );
    return rows.length > 0;
  }

  async function find(id: string): Promise<StoredDocument | undefined> {
    await endRejected();
    const text = `SELECT holder, bytes::int, parts, created_ms::float8 AS "createdAtMs" FROM ${schema}.documents
      WHERE name = $1 AND expires_ms > ${nowMs}`;
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
    async put(id, { holder, parts, lifetimeMs }) {
      const bytes = parts.reduce((sum, part) => sum + part.length, 0);
      if (bytes > maxBytes) return false;
      await endRejected();
      while (await removeOne(holder, bytes));
      const name = nameOf(id);
      const { seal } = createSeal(id);
      const rows = rowsOf(parts);
      for (const [part, row] of rows.entries()) {
        await nextTurn();
        await run(
          `INSERT INTO ${schema}.document_parts (name, part, sealed, expires_ms)
            SELECT $1, $2, $3, ${nowMs} + $4::bigint`,
          name,
          part,
          seal(part, row),
          lifetimeMs,
        );
      }
      // Last, so that a document has all of its parts once it can be found.
      await run(
        `INSERT INTO ${schema}.documents (name, holder, bytes, parts, created_ms, expires_ms)
          SELECT $1, $2, $3, $4, ${nowMs}, ${nowMs} + $5::bigint`,
        name,
        holder,
        bytes,
        rows.length,
        lifetimeMs,
      );
      return true;
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
      const [oldest = ''] = rejected;
      if (rejected.size > maxRejected) rejected.delete(oldest);
      endSoon();
    },
    async close() {
      clearTimeout(endTimer);
      await endRejected().catch(() => {});
      await connections.close();
    },
  };
}

/** The bytes in rows of equal size. */
function rowsOf(parts: readonly Uint8Array[]): Buffer[] {
  const bytes = Buffer.concat(parts);
  const count = Math.ceil(bytes.length / partBytes);
  return Array.from({ length: count }, (_row, index) =>
    bytes.subarray(index * partBytes, (index + 1) * partBytes),
  );
}
