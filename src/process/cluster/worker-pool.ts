import { setTimeout as sleep } from 'node:timers/promises';
import { withTimeout } from '../../concurrency/with-timeout.ts';
import type { SummedMetrics } from '../../telemetry/aggregated-metrics.ts';
import type { Log } from '../../telemetry/log.ts';
import type { MetricsPage } from '../../telemetry/metrics.ts';
import type { EndReason } from '../signals.ts';
import { WorkerStartError } from '../startup-errors.ts';
import { type ExitStatus, startWorker, type WorkerHandle } from './worker-handle.ts';
import type { StartOptions } from './worker-protocol.ts';

/** The running workers. A worker that exits is replaced, until the pool ends. */
export interface WorkerPool {
  /** Starts all workers, and returns their common URL. @throws WorkerStartError if a worker cannot start. */
  start(): Promise<URL>;
  /** Drains all workers, and kills those still running after `timeoutMs`. Returns whether all exited with code 0. */
  end(reason: EndReason, timeoutMs: number): Promise<boolean>;
  /** Kills all workers at once. */
  kill(): void;
  /** Returns the metrics of all workers as one page. */
  metricsPage(): Promise<MetricsPage>;
}

/** Options of `createWorkerPool`. */
export interface WorkerPoolOptions {
  /** The number of workers. */
  size: number;
  startOptions: StartOptions;
  /** Undefined when metrics are off. */
  metrics: SummedMetrics | undefined;
  log: Log;
  /** Called for each worker once its process exists. */
  onWorkerStarted(worker: WorkerHandle): void;
  /** Called when 5 replacements in a row could not start, with the error text of the last one. */
  onFailure(error: string): void;
}

// The delay before a replacement starts doubles with each recent failure.
const initialDelayMs = 100;
const maxDelayMs = 10_000;
// Only failures within this time count.
const failureWindowMs = 60_000;
const maxFailedStarts = 5;
// A worker that has not reported its metrics by then is shown with its previous ones.
const snapshotTimeoutMs = 1_000;

/** Creates a pool without workers; `start` starts them. */
export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const { startOptions, metrics, log } = options;
  const workers = new Set<WorkerHandle>();
  /** The listening workers for which no replacement was requested. */
  const serving = new Set<WorkerHandle>();
  let isEnding = false;
  let failureTimes: number[] = [];
  let failedStarts = 0;

  /** Starts one worker, and returns its URL. @throws WorkerStartError */
  async function startOne(): Promise<URL> {
    const worker = startWorker({
      metricsPage,
      tokenRejected: async (tenantId) => notifyOthers(worker, tenantId),
      lastSnapshot: async (snapshot) => void metrics?.take(worker.id, snapshot),
      requestReplacement: () => replaceBeforeExit(worker),
    });
    workers.add(worker);
    options.onWorkerStarted(worker);
    void worker.exited.then((exitStatus) => {
      workers.delete(worker);
      metrics?.left(worker.id);
      if (serving.delete(worker)) void replaceExited(worker, exitStatus);
    });
    try {
      const url = new URL(await worker.rpc.call('start', startOptions));
      serving.add(worker);
      log.info({ worker: worker.id, pid: worker.pid }, 'a worker serves');
      return url;
    } catch (error) {
      worker.kill();
      throw new WorkerStartError(error instanceof Error ? error.message : String(error));
    }
  }

  function notifyOthers(sender: WorkerHandle, tenantId: string): void {
    for (const worker of workers) {
      // A worker that exits meanwhile has no cached data to clear.
      if (worker !== sender) worker.rpc.call('tokenRejected', tenantId).catch(() => {});
    }
  }

  /** Replaces a worker that has exited without being asked to. */
  async function replaceExited({ id }: WorkerHandle, exitStatus: ExitStatus): Promise<void> {
    if (isEnding) return;
    failureTimes.push(performance.now());
    log.warn({ worker: id, ...exitStatus }, 'a worker has ended, and another one takes its place');
    await startReplacement();
  }

  /** Replaces a worker that got SIGTERM. It serves until its replacement listens. */
  async function replaceBeforeExit(worker: WorkerHandle): Promise<void> {
    if (isEnding || !serving.delete(worker)) return;
    log.info({ worker: worker.id }, 'a worker is to end, and another one takes its place');
    await startReplacement();
    // If the pool ends meanwhile, `end` has sent the request already.
    if (!isEnding) requestEnd(worker, 'replaced');
  }

  /** Starts one worker, with as many attempts as needed, up to `maxFailedStarts` in a row. */
  async function startReplacement(): Promise<void> {
    for (;;) {
      await sleep(restartDelayMs());
      if (isEnding) return;
      try {
        await startOne();
        failedStarts = 0;
        return;
      } catch (error) {
        if (isEnding) return;
        failureTimes.push(performance.now());
        failedStarts += 1;
        log.error({ failedStarts }, 'a worker could not start');
        if (failedStarts >= maxFailedStarts)
          return options.onFailure(error instanceof Error ? error.message : String(error));
      }
    }
  }

  function restartDelayMs(): number {
    const now = performance.now();
    failureTimes = failureTimes.filter((time) => now - time < failureWindowMs);
    return failureTimes.length === 0
      ? 0
      : Math.min(initialDelayMs * 2 ** (failureTimes.length - 1), maxDelayMs);
  }

  async function metricsPage(): Promise<MetricsPage> {
    if (metrics === undefined) throw new Error('Nothing is counted');
    const snapshotsTaken = [...workers].map(async (worker) => {
      // A worker that exits meanwhile has reported its last metrics.
      const snapshot = await worker.rpc.call('snapshot').catch(() => undefined);
      if (snapshot !== undefined && workers.has(worker)) metrics.take(worker.id, snapshot);
    });
    await withTimeout(snapshotTimeoutMs, Promise.all(snapshotsTaken));
    return metrics.page();
  }

  return {
    async start() {
      try {
        const [url] = await Promise.all([startOne(), ...Array.from({ length: options.size - 1 }, startOne)]);
        return url;
      } catch (error) {
        kill();
        throw error;
      }
    },
    async end(reason, timeoutMs) {
      isEnding = true;
      for (const worker of workers) requestEnd(worker, reason);
      const killTimer = setTimeout(kill, timeoutMs);
      const exits = await Promise.all([...workers].map(({ exited }) => exited));
      clearTimeout(killTimer);
      return exits.every(({ code }) => code === 0);
    },
    kill,
    metricsPage,
  };

  function kill(): void {
    for (const worker of workers) worker.kill();
  }
}

function requestEnd({ rpc }: WorkerHandle, reason: EndReason): void {
  // The worker exits instead of responding, which rejects the call.
  rpc.call('end', reason).catch(() => {});
}
