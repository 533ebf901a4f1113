import cluster, { type Worker } from 'node:cluster';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { withTimeout } from '../../concurrency/with-timeout.ts';
import type { SummedMetrics } from '../../telemetry/aggregated-metrics.ts';
import type { Log } from '../../telemetry/log.ts';
import type { MetricsPage } from '../../telemetry/metrics.ts';
import type { EndReason } from '../signals.ts';
import { WorkerStartError } from '../startup-errors.ts';
import type { StartOptions, ToPrimary, ToWorker } from './messages.ts';

export interface WorkerPoolOptions {
  startOptions: StartOptions;
  /** Undefined when metrics are off. */
  metrics: SummedMetrics | undefined;
  log: Log;
  /** Called with the standard output of each new worker, which is its log. */
  onStdout(stdout: Readable): void;
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

/** Creates the running workers. A worker that exits is replaced, until the pool ends. */
export function createWorkerPool({ startOptions, metrics, log, onStdout, onFailure }: WorkerPoolOptions) {
  /** The promise of each running worker is that of its URL. */
  const workers = new Map<Worker, PromiseWithResolvers<URL>>();
  /** The listening workers for which no replacement was requested. */
  const serving = new Set<Worker>();
  const snapshots = new Map<Worker, PromiseWithResolvers<void>>();
  const allEnded = Promise.withResolvers<void>();
  let isEnding = false;
  let hasEndedWell = true;
  let failureTimes: number[] = [];

  /** @throws WorkerStartError */
  async function startOne(): Promise<URL> {
    const worker = cluster.fork();
    const listening = Promise.withResolvers<URL>();
    workers.set(worker, listening);
    worker.on('message', (message: ToPrimary) => onMessage(worker, message));
    worker.once('exit', (code: number | null, signal: string | null) => onExit(worker, code, signal));
    // The last message arrives before the disconnect, and maybe after the exit.
    worker.once('disconnect', () => metrics?.left(worker.id));
    // The process could not be created.
    worker.once('error', ({ message }) => {
      listening.reject(new Error(`A worker could not start: ${message}`));
      workers.delete(worker);
    });
    if (worker.process.stdout !== null) onStdout(worker.process.stdout);
    send(worker, { type: 'start', options: startOptions });
    try {
      const url = await listening.promise;
      serving.add(worker);
      log.info({ worker: worker.id, pid: worker.process.pid }, 'a worker serves');
      return url;
    } catch (error) {
      worker.process.kill('SIGKILL');
      throw new WorkerStartError(error instanceof Error ? error.message : String(error));
    }
  }

  function onMessage(worker: Worker, message: ToPrimary): void {
    if (message.type === 'listening') workers.get(worker)?.resolve(new URL(message.url));
    if (message.type === 'failed') workers.get(worker)?.reject(new Error(message.error));
    if (message.type === 'snapshot') {
      metrics?.take(worker.id, message.snapshot);
      snapshots.get(worker)?.resolve();
      snapshots.delete(worker);
    }
    if (message.type === 'metrics page wanted') {
      void metricsPage().then((page) => send(worker, { type: 'metrics page', page }));
    }
    if (message.type === 'replacement wanted') void replace(worker);
    if (message.type === 'token rejected') {
      for (const other of workers.keys()) if (other !== worker) send(other, message);
    }
  }

  function onExit(worker: Worker, code: number | null, signal: string | null): void {
    const error = new Error(`A worker ended by ${signal ?? `itself, with ${code}`}, while it started.`);
    workers.get(worker)?.reject(error);
    workers.delete(worker);
    snapshots.get(worker)?.resolve();
    snapshots.delete(worker);
    const wasServing = serving.delete(worker);
    if (isEnding) {
      hasEndedWell &&= code === 0;
      if (workers.size === 0) allEnded.resolve();
      return;
    }
    if (!wasServing) return;
    failureTimes.push(performance.now());
    log.warn({ worker: worker.id, code, signal }, 'a worker has ended, and its replacement starts');
    void startReplacement();
  }

  async function replace(worker: Worker): Promise<void> {
    if (isEnding || !serving.delete(worker)) return;
    log.info({ worker: worker.id }, 'a worker must end, and its replacement starts');
    await startReplacement();
    // If the pool ends meanwhile, `end` has sent the message already.
    if (!isEnding) send(worker, { type: 'end', reason: 'replaced' });
  }

  async function startReplacement(): Promise<void> {
    for (let failedStarts = 1; ; failedStarts += 1) {
      const now = performance.now();
      failureTimes = failureTimes.filter((time) => now - time < failureWindowMs);
      const { length } = failureTimes;
      if (length > 0) await sleep(Math.min(initialDelayMs * 2 ** (length - 1), maxDelayMs));
      if (isEnding) return;
      try {
        await startOne();
        return;
      } catch (error) {
        if (isEnding) return;
        failureTimes.push(performance.now());
        log.error({ failedStarts }, 'a worker could not start');
        if (failedStarts === maxFailedStarts) {
          return onFailure(error instanceof Error ? error.message : String(error));
        }
      }
    }
  }

  /** Returns the metrics of all workers as one page. */
  async function metricsPage(): Promise<MetricsPage> {
    if (metrics === undefined) throw new Error('Nothing is counted');
    const arrived = [...workers.keys()].map((worker) => {
      const snapshot = snapshots.get(worker) ?? Promise.withResolvers<void>();
      snapshots.set(worker, snapshot);
      send(worker, { type: 'snapshot wanted' });
      return snapshot.promise;
    });
    await withTimeout(snapshotTimeoutMs, Promise.all(arrived));
    return metrics.page();
  }

  function kill(): void {
    for (const worker of workers.keys()) worker.process.kill('SIGKILL');
  }

  return {
    metricsPage,
    kill,
    /** Starts all workers, and returns their common URL. @throws WorkerStartError if a worker cannot start. */
    async start(size: number): Promise<URL> {
      try {
        const [url] = await Promise.all([startOne(), ...Array.from({ length: size - 1 }, startOne)]);
        return url;
      } catch (error) {
        kill();
        throw error;
      }
    },
    /** Drains all workers, and kills those still running after `timeoutMs`. Returns whether all exited with code 0. */
    async end(reason: EndReason, timeoutMs: number): Promise<boolean> {
      isEnding = true;
      if (workers.size === 0) allEnded.resolve();
      for (const worker of workers.keys()) send(worker, { type: 'end', reason });
      const killTimer = setTimeout(kill, timeoutMs);
      await allEnded.promise;
      clearTimeout(killTimer);
      return hasEndedWell;
    },
  };
}

/** An error is ignored: if the worker has exited, `exit` reports that. */
function send({ process }: Worker, message: ToWorker): void {
  if (process.connected) process.send(message, () => {});
}
