import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { monotonicMs } from '../../base/monotonic-ms.ts';
import { withTimeout } from '../../concurrency/with-timeout.ts';
import {
  ClaimLostError,
  type ClaimResult,
  type KeyStore,
  StoreOpenError,
  StoreUnavailableError,
} from './key-store.ts';
import { isEnding, type Operation, type Result } from './key-table.ts';
import type { Report, Request, ThreadData } from './sqlite-thread.ts';

/** All times are in milliseconds. */
export interface SqliteStoreOptions {
  /** A path, or `memory` for a store that ends with this process. */
  file: string;
  /** How long an operation may take. By default 2,000, and 30,000 in memory, where only a busy machine delays it. */
  timeoutMs?: number;
  /** The maximum number of keys and locks of a merchant. By default 100,000. */
  maxKeysPerMerchant?: number;
  now?: () => number;
  /** The maximum size of the database in pages of 4 KB. For tests of a full disk. */
  maxPages?: number;
}

/** While the disk hangs, requests wait in memory until the thread answers. */
const maxUnanswered = 10_000;
/** How long a key is stored. */
const lifetimeMs = 24 * 60 * 60 * 1000;

/** How many times as long as an operation the opening may take. */
const openingFactor = 5;

/**
 * Opens a store in a SQLite file, and creates the file if it is missing. A thread of its own does all I/O. In memory,
 * the thread starts with the first operation. While another process uses the file, or the disk hangs, the store is not
 * open yet: its operations fail, and it opens by itself later.
 * @throws StoreOpenError if the file cannot be used.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<KeyStore> {
  const { file, now = Date.now } = options;
  const isInMemory = file === 'memory';
  const timeoutMs = options.timeoutMs ?? (isInMemory ? 30_000 : 2000);
  const noResponse = `The key store did not respond within ${timeoutMs} ms. Check ${isInMemory ? 'the load of the machine' : 'its disk'}.`;
  const data: ThreadData = {
    // A whole path: SQLite reads texts such as `:memory:` and `file:` in a way of its own.
    path: isInMemory ? ':memory:' : resolve(file),
    secret: randomBytes(32),
    owner: randomBytes(12).toString('base64url'),
    noResponse,
    maxKeysPerMerchant: options.maxKeysPerMerchant ?? 100_000,
    maxPages: options.maxPages,
  };

  const unanswered = new Map<number, PromiseWithResolvers<Result>>();
  let unsent: Request[] = [];
  let lastId = 0;
  let secret = isInMemory ? Buffer.from(data.secret) : undefined;
  let failure: string | undefined;
  let fileProblem: string | undefined;
  let onReport = () => {};
  // Why the store responds no more.
  let end: string | undefined;
  let thread: Worker | undefined;
  let started: Promise<unknown> | undefined;

  function start(): Worker {
    thread = new Worker(new URL('./sqlite-thread.ts', import.meta.url), { workerData: data });
    thread.on('message', receive);
    thread.on('error', (error) => stop(`The thread of the key store failed: ${error}. Restart the server.`));
    thread.on('exit', () => {
      thread = undefined;
    });
    // After the listeners, as a listener for messages keeps the process alive. The timers of operations do, too.
    thread.unref();
    return thread;
  }

  /** Without a disk, the start of the thread cannot hang. It takes seconds on a busy machine, which no operation loses. */
  function startedInMemory(): Promise<unknown> {
    if (started === undefined) {
      const starting = start();
      starting.ref();
      // An error of the thread is `end`.
      started = once(starting, 'message').catch(() => {});
      void started.then(() => starting.unref());
    }
    return started;
  }

  function stop(reason: string): void {
    end ??= reason;
    for (const { reject } of unanswered.values()) reject(new StoreUnavailableError(end));
    unanswered.clear();
    onReport();
  }

  function receive(report: Report): void {
    if (report.secret !== undefined) secret = Buffer.from(report.secret);
    failure = report.failure;
    fileProblem = report.fileProblem;
    onReport();
    for (const reply of report.replies) {
      const operation = unanswered.get(reply.id);
      unanswered.delete(reply.id);
      if ('problem' in reply) operation?.reject(new StoreUnavailableError(reply.problem));
      else operation?.resolve(reply.result);
    }
  }

  function post(operation: Operation): Promise<Result> {
    const request: Request = { id: lastId++, deadlineMs: monotonicMs() + timeoutMs, operation };
    const result = Promise.withResolvers<Result>();
    unanswered.set(request.id, result);
    if (unsent.length === 0) process.nextTick(send);
    unsent.push(request);
    return result.promise;
  }

  /**
   * Sends the requests of one moment together. They share a transaction, and their callers go on together: the reads
   * that follow become one batch.
   */
  function send(): void {
    const requests = unsent;
    unsent = [];
    if (requests.length > 0) (thread ?? start()).postMessage(requests);
  }

  function expectOpen(): Buffer {
    if (secret === undefined) throw new StoreUnavailableError(end ?? failure ?? noResponse);
    return secret;
  }

  async function run(operation: Operation): Promise<Result> {
    expectOpen();
    if (isInMemory) await startedInMemory();
    if (end !== undefined) throw new StoreUnavailableError(end);
    // The thread must get the end of a claim, which it tries until it succeeds.
    if (unanswered.size >= maxUnanswered && !isEnding(operation)) throw new StoreUnavailableError(noResponse);
    const pending = post(operation);
    // Keeps the process alive, which the thread does not.
    const result = await withTimeout(timeoutMs, pending);
    if (result !== undefined) return result;
    pending.then(undoClaim, () => {});
    failure ??= noResponse;
    onReport();
    throw new StoreUnavailableError(failure);
  }

  /** Without this, a claim that came too late would be held as long as this process lives. */
  function undoClaim(result: Result): void {
    if (result.state !== 'claimed' || end !== undefined) return;
    const { claim, isResumed } = result;
    post(isResumed ? { kind: 'abandon', claim, progress: undefined } : { kind: 'release', claim }).catch(
      () => {},
    );
  }

  async function change(operation: Operation): Promise<void> {
    const { state } = await run(operation);
    if (state === 'lost') throw new ClaimLostError();
  }

  if (!isInMemory) {
    const opening = start();
    opening.ref();
    try {
      // Rejects with the thread's error if the thread fails.
      const first = await withTimeout(openingFactor * timeoutMs, once(opening, 'message'));
      if (first === undefined) failure = noResponse;
    } catch (error) {
      throw new StoreOpenError(`${file} ${error instanceof Error ? error.message : error}`);
    }
    opening.unref();
  }

  return {
    secret: expectOpen,
    async claim(key, fingerprint) {
      const nowMs = now();
      const expiresAtMs = nowMs + lifetimeMs;
      // The table answers a claim with nothing else.
      return (await run({ kind: 'claim', key, fingerprint, nowMs, expiresAtMs })) as ClaimResult;
    },
    checkpoint: (claim, progress) =>
      change({ kind: 'checkpoint', claim, progress, expiresAtMs: now() + lifetimeMs }),
    finish: (claim, outcome) => change({ kind: 'finish', claim, outcome }),
    abandon: (claim, progress) => change({ kind: 'abandon', claim, progress }),
    release: (claim) => change({ kind: 'release', claim }),
    holds: ({ owner }) => end === undefined && owner === data.owner,
    noteOrganizationShown: (service) => change({ kind: 'noteService', service }),
    wasOrganizationShown: async (service) => (await run({ kind: 'hasService', service })).state === 'yes',
    failure: () => end ?? failure,
    fileProblem: () => fileProblem,
    failover: () => undefined,
    onReport(listener) {
      onReport = listener;
    },
    async close() {
      end ??= 'The key store is closed.';
      send();
      if (thread === undefined) return;
      const exit = once(thread, 'exit');
      thread.postMessage('close');
      await withTimeout(timeoutMs, exit);
    },
  };
}
