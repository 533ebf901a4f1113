import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Claim, ClaimResult, KeyName } from './key-store.ts';

/** An operation of the store. Times are of the wall clock, in milliseconds. */
export type Operation =
  | { kind: 'claim'; key: KeyName; fingerprint: string; nowMs: number; expiresAtMs: number }
  | { kind: 'checkpoint'; claim: Claim; progress: unknown; expiresAtMs: number }
  | { kind: 'finish'; claim: Claim; outcome: unknown }
  | { kind: 'abandon'; claim: Claim; progress: unknown }
  | { kind: 'release'; claim: Claim }
  | { kind: 'noteService' | 'hasService'; service: string };

/** Whether an operation ends a claim. The claim stays held until such an operation succeeds. */
export function isEnding({ kind }: Operation): boolean {
  return kind === 'finish' || kind === 'abandon' || kind === 'release';
}

/** The result of an operation: of a claim, of a change, or of a question. */
export type Result = ClaimResult | { state: 'stored' | 'lost' } | { state: 'yes' | 'no' };

/**
 * Prepares the operations on the tables of the SQLite store. They run in the transaction of the caller and throw what
 * SQLite throws.
 * @param owner the owner of new claims. Nobody works any more on the unfinished work of other owners.
 */
export function createKeyTable(database: DatabaseSync, owner: string, maxKeysPerMerchant: number) {
  const find = database.prepare(`SELECT rowid, fingerprint, progress, outcome, expires_at_ms AS expiresAtMs,
    owner IS :owner AS isHeld FROM keys WHERE merchant = :merchant AND id = :id`);
  const removeRow = database.prepare('DELETE FROM keys WHERE rowid = ?');
  const prepareRemoval = (condition: string) =>
    database.prepare(`DELETE FROM keys WHERE rowid IN (SELECT rowid FROM keys
      WHERE ${condition} expires_at_ms <= :nowMs AND owner IS NOT :owner LIMIT 100)`);
  const removeExpired = prepareRemoval('');
  const removeExpiredOf = prepareRemoval('merchant = :merchant AND');
  const countKeys = database.prepare('SELECT key_count AS keyCount FROM merchants WHERE merchant = ?');
  const add = database.prepare(
    'INSERT INTO keys (merchant, id, fingerprint, owner, expires_at_ms) VALUES (?, ?, ?, ?, ?)',
  );
  const resume = database.prepare('UPDATE keys SET owner = ?, expires_at_ms = ? WHERE rowid = ?');
  const ifClaimed = 'WHERE merchant = ? AND id = ? AND owner = ?';
  const checkpoint = database.prepare(`UPDATE keys SET progress = ?, expires_at_ms = ? ${ifClaimed}`);
  const finish = database.prepare(`UPDATE keys SET outcome = ?, progress = NULL, owner = NULL ${ifClaimed}`);
  const abandon = database.prepare(
    `UPDATE keys SET progress = coalesce(?, progress), owner = NULL ${ifClaimed}`,
  );
  const release = database.prepare(`DELETE FROM keys ${ifClaimed}`);
  // A service is a REST service, by its URL, whose tokens have shown an organization: see merchant.ts.
  const noteService = database.prepare('INSERT OR IGNORE INTO services VALUES (?)');
  const hasService = database.prepare('SELECT 1 FROM services WHERE service = ?');

  function claim({ key, fingerprint, nowMs, expiresAtMs }: Extract<Operation, { kind: 'claim' }>): Result {
    const { merchant, id } = key;
    const row = find.get({ merchant, id, owner });
    if (row !== undefined && (row.isHeld === 1 || Number(row.expiresAtMs) > nowMs)) {
      if (row.fingerprint !== fingerprint) return { state: 'conflict' };
      if (row.outcome !== null) return { state: 'done', outcome: JSON.parse(String(row.outcome)) };
      if (row.isHeld === 1) return { state: 'held' };
      resume.run(owner, expiresAtMs, Number(row.rowid));
      const progress = row.progress === null ? undefined : JSON.parse(String(row.progress));
      return { state: 'claimed', claim: { key, owner }, progress, isResumed: true };
    }
    if (row !== undefined) removeRow.run(Number(row.rowid));
    const isFull = () => Number(countKeys.get(merchant)?.keyCount ?? 0) >= maxKeysPerMerchant;
    if (isFull()) removeExpiredOf.run({ merchant, nowMs, owner });
    if (isFull()) return { state: 'full' };
    add.run(merchant, id, fingerprint, owner, expiresAtMs);
    return { state: 'claimed', claim: { key, owner }, progress: undefined, isResumed: false };
  }

  /** Runs a statement on a claimed row. The claim is lost if nobody has the row, or the claim is of another store. */
  function change(
    statement: StatementSync,
    { key, owner: claimer }: Claim,
    ...values: (string | number | null)[]
  ): Result {
    const { changes } = statement.run(...values, key.merchant, key.id, claimer);
    return { state: changes === 0 ? 'lost' : 'stored' };
  }

  return {
    /** Removes at most 100 keys whose lifetime has ended. `nowMs` is of the wall clock. */
    removeExpired(nowMs: number): void {
      removeExpired.run({ nowMs, owner });
    },
    execute(operation: Operation): Result {
      switch (operation.kind) {
        case 'claim':
          return claim(operation);
        case 'checkpoint':
          return change(checkpoint, operation.claim, toJson(operation.progress), operation.expiresAtMs);
        case 'finish':
          return change(finish, operation.claim, toJson(operation.outcome) ?? 'null');
        case 'abandon':
          return change(abandon, operation.claim, toJson(operation.progress));
        case 'release':
          return change(release, operation.claim);
        case 'noteService':
          noteService.run(operation.service);
          return { state: 'stored' };
        case 'hasService':
          return { state: hasService.get(operation.service) === undefined ? 'no' : 'yes' };
      }
    },
  };
}

function toJson(value: unknown): string | null {
  return JSON.stringify(value) ?? null;
}
