import { randomBytes } from 'node:crypto';
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { monotonicMs } from '../../base/monotonic-ms.ts';
import type { KeyName } from './key-store.ts';
import { createKeyTable, isLive, type Operation, type Result } from './key-table.ts';
import {
  isBusy,
  isSqliteError,
  type OpenOptions,
  openDatabase,
  openProblem,
  operationProblem,
} from './sqlite-file.ts';
import { createFileCheck } from './state-file.ts';

export interface ThreadData extends OpenOptions {
  /** How long the lease is valid after a renewal, in milliseconds. */
  leaseMs: number;
  maxKeysPerMerchant: number;
}

/** An operation. After `deadlineMs`, a time of `monotonicMs`, its caller has stopped waiting. */
export interface Request {
  id: number;
  deadlineMs: number;
  operation: Operation;
}

/** The result of an operation, or why it failed. */
export type Reply = { id: number; result: Result } | { id: number; problem: string };

/** The lease of the claims of a store. After an expired lease the owner has another name, and the claims are lost. */
export interface Lease {
  owner: string;
  /** A time of `monotonicMs`. */
  validUntilMs: number;
}

/** A message after each transaction, and before the first one. */
export interface Report {
  replies: Reply[];
  /** Committed. */
  lease: Lease;
  /** Why the last transaction failed. */
  failure: string | undefined;
  /** What has happened to the file of the database since it was opened. */
  fileProblem: string | undefined;
  /** The secret in the database. Only in the first report. */
  secret?: Uint8Array;
}

/** Runs the operations of a store. All waiting requests share a transaction, and so one write to the disk. */
function serve(port: MessagePort, data: ThreadData): void {
  const { leaseMs } = data;
  const { database, secret } = openDatabase(data);
  const table = createKeyTable(database, data.maxKeysPerMerchant);
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const writeLease = database.prepare(`INSERT INTO owners VALUES (:owner, :monotonicMs, :leaseMs)
    ON CONFLICT DO UPDATE SET renewed_ms = :monotonicMs`);
  const removeDeadOwners = database.prepare(`DELETE FROM owners WHERE owner = :ended OR NOT (${isLive})`);

  let lease: Lease = { owner: '', validUntilMs: Number.NEGATIVE_INFINITY };
  // The keys that the current owner works on.
  const openKeys = new Set<string>();
  // Failed operations that end a claim. They are tried again, because the key stays held until one succeeds.
  let endings: Request[] = [];
  let failure: string | undefined;
  let fileProblem: string | undefined;
  const checkFile = data.path === ':memory:' ? () => undefined : createFileCheck(data.path);

  /** Runs requests in one transaction, which renews the lease if necessary. @returns the replies after COMMIT. */
  function commitAll(requests: Request[]): Reply[] {
    begin.run();
    // Read after the wait for other processes: they could take over expired claims until here.
    const nowMs = monotonicMs();
    const isExpired = nowMs >= lease.validUntilMs;
    const owner = isExpired ? randomBytes(12).toString('base64url') : lease.owner;
    const claim = requests.map(({ operation }) => operation).find((operation) => operation.kind === 'claim');
    const isDue = nowMs >= lease.validUntilMs - 0.8 * leaseMs;
    const isNeeded = claim !== undefined || (openKeys.size > 0 && !isExpired);
    // After a failure, the lease shows whether the store can write again.
    const renews = (isNeeded && isDue) || failure !== undefined;
    if (renews) {
      if (isExpired) removeDeadOwners.run({ ended: lease.owner, monotonicMs: nowMs });
      writeLease.run({ owner, monotonicMs: nowMs, leaseMs });
    }
    if (claim !== undefined) table.removeExpired(claim.nowMs, nowMs);
    const replies = requests.map(({ id, deadlineMs, operation }): Reply => {
      if (nowMs >= deadlineMs && !isEnding(operation))
        return { id, problem: 'The caller no longer waits for the result.' };
      return { id, result: table.execute(operation, owner, nowMs) };
    });
    commit.run();
    if (isExpired) openKeys.clear();
    if (renews) lease = { owner, validUntilMs: nowMs + leaseMs };
    return replies;
  }

  /** Runs requests in one transaction. If the transaction fails, each request gets a transaction of its own. */
  function commitOrFail(requests: Request[]): Reply[] {
    try {
      const replies = commitAll(requests);
      failure = undefined;
      return replies;
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      if (!isSqliteError(error)) throw error;
      const problem = operationProblem(error);
      failure = problem;
      if (requests.length > 1 && !isBusy(error))
        return requests.flatMap((request) => commitOrFail([request]));
      return requests.map(({ id }) => ({ id, problem }));
    }
  }

  function run(newRequests: Request[]): void {
    const requestById = new Map([...endings, ...newRequests].map((request) => [request.id, request]));
    const replies = commitOrFail([...requestById.values()]);
    endings = [];
    for (const reply of replies) {
      const request = requestById.get(reply.id);
      if (request === undefined) continue;
      if ('result' in reply) trackOpenKeys(request.operation, reply.result);
      else if (isEnding(request.operation)) endings.push(request);
    }
    report({ replies });
  }

  function trackOpenKeys(operation: Operation, result: Result): void {
    if (result.state === 'claimed') openKeys.add(nameOf(result.claim));
    else if ('claim' in operation && (result.state === 'lost' || isEnding(operation)))
      openKeys.delete(nameOf(operation.claim));
  }

  function report(content: Pick<Report, 'replies' | 'secret'>): void {
    port.postMessage({ ...content, lease, failure, fileProblem } satisfies Report);
  }

  const timer = setInterval(() => {
    const problemBefore = fileProblem;
    fileProblem = checkFile();
    if (openKeys.size > 0 || endings.length > 0 || failure !== undefined) run([]);
    else if (fileProblem !== problemBefore) report({ replies: [] });
  }, leaseMs / 5);

  port.on('message', (first: Request[] | 'close') => {
    const messages = [first];
    for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port))
      messages.push(next.message);
    const requests = messages.filter((message) => message !== 'close').flat();
    if (requests.length > 0) run(requests);
    if (!messages.includes('close')) return;
    clearInterval(timer);
    database.close();
    port.close();
  });
  report({ replies: [], secret });
}

function isEnding({ kind }: Operation): boolean {
  return kind === 'finish' || kind === 'abandon' || kind === 'release';
}

function nameOf({ key }: { key: KeyName }): string {
  return `${key.merchant} ${key.id}`;
}

if (parentPort !== null) {
  try {
    serve(parentPort, workerData);
  } catch (error) {
    throw new Error(openProblem(error));
  }
}
