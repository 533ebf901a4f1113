import type { DatabaseSync } from 'node:sqlite';
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { monotonicMs } from '../../base/monotonic-ms.ts';
import { createKeyTable, isEnding, type Operation, type Result } from './key-table.ts';
import {
  isBusy,
  isSqliteError,
  type OpenOptions,
  openDatabase,
  openProblem,
  operationProblem,
} from './sqlite-file.ts';
import { createFileCheck, schemaVersion } from './state-file.ts';

export interface ThreadData extends OpenOptions {
  /** The owner of all claims of this store. */
  owner: string;
  /** What is told to a caller that has waited too long. */
  noResponse: string;
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

/** A message after each transaction, and after each attempt to open the database. */
export interface Report {
  replies: Reply[];
  /** Why an operation failed, or why the database is not open. */
  failure: string | undefined;
  /** What has happened to the file of the database since it was opened. */
  fileProblem: string | undefined;
  /** The secret in the database. Only in the first report after the database was opened. */
  secret?: Uint8Array;
}

/** How often the thread looks at its file, and tries again what has failed. In milliseconds. */
const checkEveryMs = 1_000;

const inUse =
  'Another process uses the file of the key store. Until that process ends, this server creates no shipments, and ' +
  'refuses mutations with an idempotencyKey.';

/** Runs the operations of a store. All waiting requests share a transaction, and so one write to the disk. */
function createRunner(data: ThreadData, database: DatabaseSync, send: (report: Report) => void) {
  const table = createKeyTable(database, data.owner, data.maxKeysPerMerchant);
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const rewriteVersion = database.prepare(`PRAGMA user_version = ${schemaVersion}`);
  const checkFile = data.path === ':memory:' ? () => undefined : createFileCheck(data.path);
  // Failed operations that end a claim. They are tried again, because the key stays held until one succeeds.
  let endings: Request[] = [];
  let failure: string | undefined;
  let fileProblem: string | undefined;

  /** Runs requests in one transaction. @returns the replies after COMMIT. */
  function commitAll(requests: Request[]): Reply[] {
    begin.run();
    // After a failure, this shows whether the store can write again.
    if (failure !== undefined) rewriteVersion.run();
    const claim = requests.map(({ operation }) => operation).find((operation) => operation.kind === 'claim');
    if (claim !== undefined) table.removeExpired(claim.nowMs);
    const nowMs = monotonicMs();
    const replies = requests.map(({ id, deadlineMs, operation }): Reply => {
      if (nowMs >= deadlineMs && !isEnding(operation)) return { id, problem: data.noResponse };
      return { id, result: table.execute(operation) };
    });
    commit.run();
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
      if (requests.length > 1) return requests.flatMap((request) => commitOrFail([request]));
      return requests.map(({ id }) => ({ id, problem }));
    }
  }

  function run(newRequests: Request[]): void {
    const requestById = new Map([...endings, ...newRequests].map((request) => [request.id, request]));
    const replies = commitOrFail([...requestById.values()]);
    endings = [];
    for (const reply of replies) {
      if (!('problem' in reply)) continue;
      // Even if a later request succeeded: the next check finds out whether the problem is gone.
      failure = reply.problem;
      const request = requestById.get(reply.id);
      if (request !== undefined && isEnding(request.operation)) endings.push(request);
    }
    send({ replies, failure, fileProblem });
  }

  return {
    run,
    check(): void {
      const problemBefore = fileProblem;
      fileProblem = checkFile();
      if (endings.length > 0 || failure !== undefined) run([]);
      else if (fileProblem !== problemBefore) send({ replies: [], failure, fileProblem });
    },
  };
}

/** Opens the database, as soon as no other process uses it, and serves it. @throws the errors of `openDatabase` */
function serve(port: MessagePort, data: ThreadData): void {
  const send = (report: Report) => port.postMessage(report);
  let database: DatabaseSync | undefined;
  let runner: ReturnType<typeof createRunner> | undefined;

  function open(): void {
    const opened = openDatabase(data);
    database = opened.database;
    runner = createRunner(data, database, send);
    send({ replies: [], failure: undefined, fileProblem: undefined, secret: opened.secret });
  }

  /** @param isFinal whether an error ends the thread, unless another process uses the file. */
  function tryToOpen(isFinal: boolean): void {
    try {
      open();
    } catch (error) {
      database?.close();
      database = undefined;
      if (isFinal && !isBusy(error)) throw error;
      const failure = isBusy(error) ? inUse : `The file of the key store ${openProblem(error)}`;
      send({ replies: [], failure, fileProblem: undefined });
    }
  }

  tryToOpen(true);
  const timer = setInterval(() => (runner === undefined ? tryToOpen(false) : runner.check()), checkEveryMs);

  port.on('message', (first: Request[] | 'close') => {
    const messages = [first];
    for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port))
      messages.push(next.message);
    const requests = messages.filter((message) => message !== 'close').flat();
    // The store sends requests only after the report of an open database.
    if (requests.length > 0) runner?.run(requests);
    if (!messages.includes('close')) return;
    clearInterval(timer);
    database?.close();
    port.close();
  });
}

if (parentPort !== null) {
  try {
    serve(parentPort, workerData);
  } catch (error) {
    throw new Error(openProblem(error));
  }
}
