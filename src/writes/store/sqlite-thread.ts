import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { createKeyTable, isLive, type Operation, type Result } from './key-table.ts';
import { leaseOwner, monotonicMs, SharedLease } from './lease.ts';
import {
  isBusy,
  isSqliteError,
  type OpenOptions,
  openDatabase,
  openProblem,
  operationProblem,
} from './sqlite-file.ts';

export interface ThreadData extends OpenOptions {
  /** A random name of the store. */
  storeId: string;
  /** How long the lease is valid after a renewal, in milliseconds. */
  leaseMs: number;
  maxKeysPerMerchant: number;
  /** The memory of the SharedLease. */
  leaseMemory: SharedArrayBuffer;
}

/** An operation. After `deadlineMs`, a time of `monotonicMs`, the main thread ignores the result. */
export interface Request {
  id: number;
  deadlineMs: number;
  operation: Operation;
}

/** The result of an operation, or why it failed. */
export type Reply = { id: number; result: Result } | { id: number; problem: string };

/** A message of this thread. The first one says whether the database is open. */
export type Message =
  | { kind: 'opened'; secret: Uint8Array }
  | { kind: 'notOpened'; problem: string }
  /** `lastId`: the thread has seen all requests up to this one. `failure`: why the last transaction failed. */
  | { kind: 'transaction'; replies: Reply[]; lastId: number; failure: string | undefined };

/** Runs the operations of a store. All waiting requests share a transaction, and so one write to the disk. */
function serve(port: MessagePort, data: ThreadData): void {
  const { storeId, leaseMs } = data;
  const { database, secret } = openDatabase(data);
  const table = createKeyTable(database, data.maxKeysPerMerchant);
  const shared = new SharedLease(data.leaseMemory);
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const writeLease = database.prepare(`INSERT INTO owners VALUES (:owner, :monotonicMs, :leaseMs)
    ON CONFLICT DO UPDATE SET renewed_ms = :monotonicMs`);
  const removeDeadOwners = database.prepare(`DELETE FROM owners WHERE owner = :ended OR NOT (${isLive})`);

  // The committed lease. An epoch is a time in which the lease never expired.
  let lease = { epoch: 0, renewedMs: Number.NEGATIVE_INFINITY };
  // The keys that the current epoch works on.
  const openKeys = new Set<string>();
  // Failed operations that end a claim. They are tried again, because the key stays held until one succeeds.
  let endings: Request[] = [];
  let failure: string | undefined;

  /** Runs requests in one transaction, which renews the lease if necessary. @returns the replies after COMMIT. */
  function commitAll(requests: Request[]): Reply[] {
    begin.run();
    // Read after the wait for other processes: they could take over expired claims until here.
    const nowMs = monotonicMs();
    const isExpired = nowMs >= lease.renewedMs + leaseMs;
    // An expired lease is never revived: the next claim starts an epoch.
    const epoch = isExpired ? lease.epoch + 1 : lease.epoch;
    const owner = leaseOwner(storeId, epoch);
    const claim = requests.map(({ operation }) => operation).find((operation) => operation.kind === 'claim');
    const isDue = nowMs >= lease.renewedMs + leaseMs / 5;
    const isNeeded = claim !== undefined || (openKeys.size > 0 && !isExpired);
    // After a failure, the lease shows whether the store can write again.
    const renews = (isNeeded && isDue) || failure !== undefined;
    if (renews) {
      if (isExpired) removeDeadOwners.run({ ended: leaseOwner(storeId, lease.epoch), monotonicMs: nowMs });
      writeLease.run({ owner, monotonicMs: nowMs, leaseMs });
    }
    if (claim !== undefined) table.removeExpired(claim.nowMs, nowMs);
    const replies = requests
      .filter(({ deadlineMs, operation }) => nowMs < deadlineMs || isEnding(operation))
      .map(({ id, operation }) => ({ id, result: table.execute(operation, { owner, monotonicMs: nowMs }) }));
    commit.run();
    if (isExpired) openKeys.clear();
    if (renews) {
      lease = { epoch, renewedMs: nowMs };
      shared.publish(epoch, nowMs + leaseMs);
    }
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
    const lastId = newRequests.at(-1)?.id ?? 0;
    const message: Message = { kind: 'transaction', replies, lastId, failure };
    port.postMessage(message);
  }

  function trackOpenKeys(operation: Operation, result: Result): void {
    if (result.state === 'claimed') openKeys.add(nameOf(result.claim));
    else if ('claim' in operation && (result.state === 'lost' || isEnding(operation)))
      openKeys.delete(nameOf(operation.claim));
  }

  const timer = setInterval(() => {
    if (openKeys.size > 0 || endings.length > 0 || failure !== undefined) run([]);
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
  const message: Message = { kind: 'opened', secret };
  port.postMessage(message);
}

function isEnding({ kind }: Operation): boolean {
  return kind === 'finish' || kind === 'abandon' || kind === 'release';
}

function nameOf({ key }: { key: { merchant: string; id: string } }): string {
  return `${key.merchant} ${key.id}`;
}

if (parentPort !== null) {
  try {
    serve(parentPort, workerData);
  } catch (error) {
    const message: Message = { kind: 'notOpened', problem: openProblem(error) };
    parentPort.postMessage(message);
  }
}
