import { randomBytes } from 'node:crypto';
import { monotonicMs } from '../../base/monotonic-ms.ts';
import { withTimeout } from '../../concurrency/with-timeout.ts';
import {
  type Claim,
  type ClaimResult,
  type KeyName,
  type KeyStore,
  StoreOpenError,
  StoreUnavailableError,
} from './key-store.ts';
import { createOwnerWatch } from './owner-watch.ts';
import { createChanges } from './postgres-changes.ts';
import { createConnections, type Row, type Statement, UnsentError } from './postgres-connection.ts';
import { problemOf, toOpenError } from './postgres-problem.ts';
import { openSchema } from './postgres-schema.ts';
import { type Change, createStatements, hasWaitingCommit, toClaimResult } from './postgres-table.ts';
import type { PostgresUrl } from './postgres-url.ts';

/** All times are in milliseconds. */
export interface PostgresStoreOptions {
  url: PostgresUrl;
  /** How long an operation may take. By default 2,000. */
  timeoutMs?: number;
  /** How long a server that no longer renews its lease keeps its claims. By default 4,000, the same for all servers. */
  leaseMs?: number;
  /** How often the lease is renewed, and tried again what has failed. By default 500. */
  renewEveryMs?: number;
  /** The maximum number of keys and locks of a merchant. By default 100,000. */
  maxKeysPerMerchant?: number;
  /** For tests: replaces the clock of the PostgreSQL server. */
  now?: () => number;
}

/** How many operations may wait, also while the server hangs. */
const maxUnanswered = 10_000;
/** How long Waybill repeats the undo of a claim without an acknowledgement: a network may deliver its statement late. */
const undoForMs = 600_000;

const failedOver =
  'PostgreSQL has failed over, and keys may be lost. For 24 hours, Waybill looks for an earlier shipment at REST ' +
  'before Waybill creates a new shipment.';

/**
 * Opens a store in PostgreSQL, and makes its tables if they are missing. Several servers share the store. Each is the
 * owner of its claims for as long as it renews its lease. The others bury an owner that is silent for a whole lease:
 * its unfinished work is free then. While PostgreSQL cannot be reached, the store is not open yet: its operations fail,
 * and it opens by itself later.
 * @throws StoreOpenError if the address, the user, a right or the version does not fit.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<KeyStore> {
  const { url, timeoutMs = 2000, leaseMs = 4000, renewEveryMs = 500 } = options;
  const connections = connect(url, timeoutMs);
  const watch = createOwnerWatch(leaseMs);
  const newSecret = randomBytes(32);

  let table: ReturnType<typeof createStatements> | undefined;
  let secret: Buffer | undefined;
  let owner = '';
  let leaseEndsMs = Number.NEGATIVE_INFINITY;
  let claimCount = 0;
  let running = 0;
  let failure: string | undefined;
  let hasFailedOver = false;
  let onReport = () => {};
  // Why the store responds no more.
  let end: string | undefined;
  const changes = createChanges(changeAll, () => void expectOpen());
  /** Claims without an acknowledgement, by the `owner` of each claim, and the time until which they are undone. */
  const unconfirmed = new Map<string, { claim: Claim; untilMs: number }>();

  function fail(problem: string): void {
    failure = problem;
    onReport();
  }

  const isLeased = () => monotonicMs() < leaseEndsMs;

  /** The statements on the tables. @throws StoreUnavailableError while the store is not open, fails or has ended */
  function expectOpen() {
    const reason = end ?? failure;
    if (table === undefined || reason !== undefined)
      throw new StoreUnavailableError(reason ?? 'The key store is not open yet.');
    return table;
  }

  async function run(statement: Statement): Promise<Row[]> {
    if (running >= maxUnanswered)
      throw new UnsentError('Too many requests wait for PostgreSQL. Send the request again later.');
    running += 1;
    try {
      return await connections.run(statement, fail);
    } finally {
      running -= 1;
    }
  }

  async function claim(key: KeyName, fingerprint: string): Promise<ClaimResult> {
    // After a pause of this process, others may have buried its owner.
    if (table !== undefined && failure === undefined && !isLeased()) await tickOnce();
    const sql = expectOpen();
    if (unconfirmed.values().some((earlier) => isSameKey(earlier.claim.key, key))) await undo();
    const claimed: Claim = { key, owner: `${owner}.${claimCount++}` };
    const rows = await run(sql.claim(key, fingerprint, claimed.owner)).catch((error: unknown) => {
      if (!(error instanceof UnsentError))
        unconfirmed.set(claimed.owner, { claim: claimed, untilMs: monotonicMs() + undoForMs });
      throw error;
    });
    return toClaimResult(rows[0], claimed, fingerprint);
  }

  /** Undoes claims that were not acknowledged. Such a claim may also appear later. */
  async function undo(): Promise<void> {
    const claims = [...unconfirmed.values()].map(({ claim }) => claim);
    const done = await changeAll(claims.map((claim) => ({ kind: 'undo', claim, value: null })));
    const nowMs = monotonicMs();
    for (const [index, { owner }] of claims.entries()) {
      const untilMs = unconfirmed.get(owner)?.untilMs ?? 0;
      if (done.has(index) || nowMs >= untilMs) unconfirmed.delete(owner);
    }
  }

  /** @returns the indexes of the changes that were done. The claims of the others are lost. */
  async function changeAll(all: readonly Change[]): Promise<Set<number>> {
    if (table === undefined || all.length === 0) return new Set();
    const rows = await run(table.change(all));
    return new Set(rows.map(({ n }) => Number(n) - 1));
  }

  /** @throws StoreOpenError and the errors of `pg` */
  async function open(): Promise<void> {
    const { secret: stored, ...facts } = await connections.use((client) =>
      openSchema(client, url.schema, newSecret),
    );
    const { maxKeysPerMerchant = 100_000, now } = options;
    table = createStatements({ schema: url.schema, maxKeysPerMerchant, now, ...facts });
    secret = stored;
    await renew(table);
  }

  /** Renews the lease, or starts a new one if others have buried this owner. Tries again what has failed. */
  async function renew(sql: ReturnType<typeof createStatements>): Promise<void> {
    const sentAtMs = monotonicMs();
    const [row] = owner === '' ? [] : await run(sql.renew(owner));
    const readAtMs = monotonicMs();
    if (row?.isRenewed === true) leaseEndsMs = sentAtMs + leaseMs;
    else await startLease(sql);
    failure = undefined;
    if (row !== undefined) await noteOtherServers(sql, row, sentAtMs, readAtMs);
    onReport();
    if (unconfirmed.size > 0) await undo();
    await changes.retry();
    await run(sql.removeExpired());
  }

  async function startLease(sql: ReturnType<typeof createStatements>): Promise<void> {
    const name = randomBytes(12).toString('base64url');
    const startedAtMs = monotonicMs();
    await run(sql.addOwner(name));
    owner = name;
    leaseEndsMs = startedAtMs + leaseMs;
  }

  /** Notes what the row of a renewal shows: a failover of PostgreSQL, and owners to bury. */
  async function noteOtherServers(
    sql: ReturnType<typeof createStatements>,
    { timeline, storedTimeline, mayHaveLostKeys, owners, renewals }: Row,
    sentAtMs: number,
    readAtMs: number,
  ): Promise<void> {
    const isChanged = timeline !== storedTimeline;
    if (isChanged) {
      await run(sql.noteTimeline());
      watch.forget();
    }
    hasFailedOver = (isChanged && storedTimeline !== null) || mayHaveLostKeys === true;
    if (!Array.isArray(owners) || !Array.isArray(renewals)) return;
    const seen = owners.map((name, index): [string, string] => [String(name), String(renewals[index])]);
    const silent = watch.see(new Map(seen), sentAtMs, readAtMs).filter((other) => other.owner !== owner);
    const names = silent.map((other) => other.owner);
    const lastRenewals = silent.map((other) => other.renewals);
    if (silent.length > 0) await run(sql.bury(names, lastRenewals));
  }

  /** Each try to commit would occupy a connection of the server for as long as its standby hangs. */
  async function expectNoWaitingCommit(): Promise<void> {
    const [row] = await run(hasWaitingCommit);
    if (row?.isWaiting !== true) return;
    const problem = 'The standby of PostgreSQL does not confirm commits. Check the standby.';
    fail(problem);
    throw new StoreUnavailableError(problem);
  }

  /**
   * Opens the store or renews its lease, once in `renewEveryMs`. Does not throw: an error becomes `failure`. With a
   * StoreUnavailableError, `run` has set `failure` before, unless only this statement failed.
   */
  async function tick(): Promise<void> {
    try {
      if (failure !== undefined) await expectNoWaitingCommit();
      if (table === undefined) await open();
      else await renew(table);
    } catch (error) {
      if (error instanceof StoreOpenError) fail(`PostgreSQL: ${error.message}`);
      else if (!(error instanceof StoreUnavailableError)) fail(problemOf(error, url, timeoutMs).text);
      else onReport();
    }
  }

  let ticking: Promise<void> | undefined;
  function tickOnce(): Promise<void> {
    ticking ??= tick().finally(() => {
      ticking = undefined;
    });
    return ticking;
  }

  let timer: NodeJS.Timeout | undefined;
  function schedule(): void {
    timer = setTimeout(async () => {
      await tickOnce();
      if (end === undefined) schedule();
    }, renewEveryMs).unref();
  }

  try {
    await open();
  } catch (error) {
    const problem = problemOf(error, url, timeoutMs);
    const isUnavailable = error instanceof StoreUnavailableError;
    if (!isUnavailable && !problem.isPassing) {
      await connections.close();
      throw error instanceof StoreOpenError ? error : toOpenError(error, problem, url);
    }
    failure = isUnavailable ? error.message : problem.text;
  }
  schedule();

  return {
    secret() {
      if (secret === undefined)
        throw new StoreUnavailableError(end ?? failure ?? 'The key store is not open yet.');
      return secret;
    },
    claim,
    checkpoint: (claim, progress) => changes.add('checkpoint', claim, progress),
    finish: (claim, outcome) => changes.add('finish', claim, outcome),
    abandon: (claim, progress) => changes.add('abandon', claim, progress),
    release: (claim) => changes.add('release', claim),
    holds: (claim) => end === undefined && claim.owner.startsWith(`${owner}.`) && isLeased(),
    noteOrganizationShown: async (service) => void (await run(expectOpen().noteService(service))),
    wasOrganizationShown: async (service) =>
      (await run(expectOpen().hasService(service)))[0]?.isKnown === true,
    failure: () => end ?? failure,
    fileProblem: () => undefined,
    failover: () => (hasFailedOver ? failedOver : undefined),
    onReport(listener) {
      onReport = listener;
    },
    async close() {
      if (end !== undefined) return;
      await withTimeout(timeoutMs, Promise.all([changes.settled(), ticking]));
      end = 'The key store is closed.';
      clearTimeout(timer);
      await withTimeout(timeoutMs, endAll());
    },
  };

  /** Ends what is open, as far as PostgreSQL allows. After the last statement, others may go on with the work. */
  async function endAll(): Promise<void> {
    try {
      if (table !== undefined && failure === undefined) {
        if (unconfirmed.size > 0) await undo();
        await changes.retry();
        await run(table.removeOwner(owner));
      }
    } catch (error) {
      // The others notice the end of this server as that of a killed one.
      if (!(error instanceof StoreUnavailableError)) throw error;
    }
    await connections.close();
  }
}

/** @throws StoreOpenError */
function connect(url: PostgresUrl, timeoutMs: number) {
  try {
    return createConnections(url, timeoutMs);
  } catch (error) {
    throw new StoreOpenError(
      `sslrootcert cannot be read: ${error instanceof Error ? error.message : error}.`,
    );
  }
}

function isSameKey(one: KeyName, other: KeyName): boolean {
  return one.merchant === other.merchant && one.id === other.id;
}
