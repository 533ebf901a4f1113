import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { withTimeout } from '../../concurrency/with-timeout.ts';
import type { SummedMetrics } from '../../telemetry/aggregated-metrics.ts';
import type { Log } from '../../telemetry/log.ts';
import type { MetricsPage } from '../../telemetry/metrics.ts';
import type { EndReason } from '../signals.ts';
import { WorkerStartError } from '../startup-errors.ts';
import type { StartOptions, ToPrimary, ToWorker } from './messages.ts';

interface WorkerPoolOptions {
  startOptions: StartOptions;
  metrics: SummedMetrics | undefined;
  log: Log;
  /** Gets the standard output of each new worker, which is its log. */
  onStdout(stdout: Readable): void;
  /** Called when 5 replacements in a row could not start, with the error text of the last one. */
  onFailure(error: string): void;
}

// The delay before the next attempt doubles with each failed start.
const initialDelayMs = 200;
const maxFailedStarts = 5;
// A worker that has not reported its metrics by then is shown with its previous ones.
const snapshotTimeoutMs = 1_000;

/** The running workers. A worker that exits is replaced, until the pool ends. */
export function createWorkerPool({ startOptions, metrics, log, onStdout, onFailure }: WorkerPoolOptions) {
  /** The promise of each running worker is that of its URL. */
  const workers = new Map<Worker, PromiseWithResolvers<URL>>();
  /** The listening workers for which no replacement was requested. */
  const serving = new Set<Worker>();
  let isEnding = false;

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
      listening.reject(new WorkerStartError(`A worker could not start: ${message}`));
      workers.delete(worker);
    });
    if (worker.process.stdout !== null) onStdout(worker.process.stdout);
    send(worker, { type: 'start', options: startOptions });
    try {
      const url = await listening.promise;
      serving.add(worker);
      log.info({ worker: worker.id, pid: worker.process.pid }, 'a worker accepts requests');
      return url;
    } catch (error) {
      worker.process.kill('SIGKILL');
      throw error;
    }
  }

  function onMessage(worker: Worker, message: ToPrimary): void {
    if (message.type === 'listening') workers.get(worker)?.resolve(new URL(message.url));
    if (message.type === 'failed') workers.get(worker)?.reject(new WorkerStartError(message.error));
    if (message.type === 'snapshot') {
      metrics?.take(worker.id, message.snapshot);
      worker.emit('snapshot');
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
    const how = `A worker exited with ${signal ?? `code ${code}`} while it started.`;
    workers.get(worker)?.reject(new WorkerStartError(how));
    workers.delete(worker);
    if (!serving.delete(worker) || isEnding) return;
    log.warn({ worker: worker.id, code, signal }, 'a worker exited, and its replacement starts');
    void startReplacement();
  }

  async function replace(worker: Worker): Promise<void> {
    if (isEnding || !serving.delete(worker)) return;
    log.info({ worker: worker.id }, 'a worker is being replaced');
    await startReplacement();
    // If the pool ends meanwhile, `end` has sent the message already.
    if (!isEnding) send(worker, { type: 'end', reason: 'replaced' });
  }

  async function startReplacement(): Promise<void> {
    for (let failedStarts = 1; !isEnding; failedStarts += 1) {
      try {
        await startOne();
        return;
      } catch (error) {
        if (isEnding) return;
        log.error({ failedStarts }, 'a worker could not start');
        if (failedStarts === maxFailedStarts) {
          return onFailure(error instanceof Error ? error.message : String(error));
        }
        await sleep(initialDelayMs * 2 ** (failedStarts - 1));
      }
    }
  }

  /** The metrics of all workers as one page. */
  async function metricsPage(): Promise<MetricsPage> {
    if (metrics === undefined) throw new Error('Metrics are disabled');
    const arrived = [...workers.keys()].map((worker) => {
      send(worker, { type: 'snapshot wanted' });
      return once(worker, 'snapshot');
    });
    await withTimeout(snapshotTimeoutMs, Promise.all(arrived));
    return metrics.page();
  }

  return {
    metricsPage,
    /** Starts all workers, and returns their common URL. @throws WorkerStartError if a worker cannot start. */
    async start(size: number): Promise<URL> {
      const [url] = await Promise.all([startOne(), ...Array.from({ length: size - 1 }, startOne)]);
      return url;
    },
    /** Drains all workers, and kills those still running after `timeoutMs`. Returns whether all exited with code 0. */
    async end(reason: EndReason, timeoutMs: number): Promise<boolean> {
      isEnding = true;
      const exits = [...workers.keys()].map((worker) => {
        send(worker, { type: 'end', reason });
        return once(worker, 'exit');
      });
      const killTimer = setTimeout(() => {
        for (const worker of workers.keys()) worker.process.kill('SIGKILL');
      }, timeoutMs);
      const ends = await Promise.all(exits);
      clearTimeout(killTimer);
      return ends.every(([code]) => code === 0);
    },
  };
}

/** An error is ignored: if the worker has exited, `exit` reports that. */
function send({ process }: Worker, message: ToWorker): void {
  if (process.connected) process.send(message, () => {});
}
