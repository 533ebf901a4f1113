import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../telemetry/log.ts';
import type { MetricsPage } from '../../telemetry/metrics.ts';
import type { SummedMetrics } from '../../telemetry/summed-metrics.ts';
import type { SharedStore } from '../../writes/shared-store.ts';
import { within } from '../signals.ts';
import { WorkerStartError } from '../startup-errors.ts';
import type { StartOptions } from './start-options.ts';
import { type End, startWorker, type WorkerHandle } from './worker-handle.ts';

/** The workers that serve at present. One that ends is replaced, until the crew ends. */
export interface WorkerPool {
  /** Starts all of them, and answers where they listen. @throws WorkerStartError where one can't start. */
  start(): Promise<URL>;
  /** Has all of them drain and end; what lasts longer than this is killed. Answers whether each has ended well. */
  end(withinMs: number): Promise<boolean>;
  /** Ends all of them at once. */
  kill(): void;
  /** What all of them have counted. */
  metricsPage(): Promise<MetricsPage>;
}

export interface WorkerPoolOptions {
  size: number;
  startOptions: StartOptions;
  store: SharedStore;
  metrics: SummedMetrics | undefined;
  log: Log;
  /** Told of each worker when its process is there. */
  onWorkerStarted(worker: WorkerHandle): void;
  /** Told when one after the other could not take the place of a worker; `fault` is what the last one said of that. */
  onFailure(error: string): void;
}

const firstPauseMs = 100;
const longestPauseMs = 10_000;
// Who has lived for longer has not made the pause any longer.
const rememberedMs = 60_000;
const maxFailedStarts = 5;
// A worker that has not said by then what it has counted is shown as it was.
const countsMs = 1_000;

export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const { startOptions, store, metrics, log } = options;
  const workers = new Set<WorkerHandle>();
  /** Those that serve and have nobody yet to take their place. */
  const serving = new Set<WorkerHandle>();
  let isEnding = false;
  let endedAt: number[] = [];
  let failedStarts = 0;

  /** Starts one worker, and answers where it listens. @throws WorkerStartError */
  async function startOne(): Promise<URL> {
    const { leave: forgetKeys, ...keys } = store.join();
    const worker = startWorker({
      ...keys,
      metricsPage,
      tokenRejected: async (tenantId) => notifyOthers(worker, tenantId),
      lastCounts: async (counts) => void metrics?.take(worker.id, counts),
      leave: () => succeed(worker),
    });
    workers.add(worker);
    options.onWorkerStarted(worker);
    void worker.ended.then((end) => {
      workers.delete(worker);
      forgetKeys();
      metrics?.left(worker.id);
      if (serving.delete(worker)) void replace(worker, end);
    });
    try {
      const url = new URL(await worker.calls.call('start', startOptions));
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
      // One that ends meanwhile keeps nothing.
      if (worker !== sender) worker.calls.call('refused', tenantId).catch(() => {});
    }
  }

  /** A worker has ended that nobody has told to. */
  async function replace({ id }: WorkerHandle, end: End): Promise<void> {
    if (isEnding) return;
    endedAt.push(performance.now());
    log.warn({ worker: id, ...end }, 'a worker has ended, and another one takes its place');
    await fill();
  }

  /** A worker was told to end from outside: it serves until another one does. */
  async function succeed(worker: WorkerHandle): Promise<void> {
    if (isEnding || !serving.delete(worker)) return;
    log.info({ worker: worker.id }, 'a worker is to end, and another one takes its place');
    await fill();
    // Otherwise it ends as all do.
    if (!isEnding) askToEnd(worker, true);
  }

  /** Starts one worker more, however often that takes. */
  async function fill(): Promise<void> {
    for (;;) {
      await sleep(pauseMs());
      if (isEnding) return;
      try {
        await startOne();
        failedStarts = 0;
        return;
      } catch (error) {
        if (isEnding) return;
        endedAt.push(performance.now());
        failedStarts += 1;
        log.error({ failedStarts }, 'a worker could not start');
        if (failedStarts >= maxFailedStarts)
          return options.onFailure(error instanceof Error ? error.message : String(error));
      }
    }
  }

  function pauseMs(): number {
    const now = performance.now();
    endedAt = endedAt.filter((at) => now - at < rememberedMs);
    return endedAt.length === 0 ? 0 : Math.min(firstPauseMs * 2 ** (endedAt.length - 1), longestPauseMs);
  }

  async function metricsPage(): Promise<MetricsPage> {
    if (metrics === undefined) throw new Error('Nothing is counted');
    const counted = [...workers].map(async (worker) => {
      // One that ends meanwhile has said what it has counted.
      const counts = await worker.calls.call('counts').catch(() => undefined);
      if (counts !== undefined && workers.has(worker)) metrics.take(worker.id, counts);
    });
    await within(countsMs, counted);
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
    async end(withinMs) {
      isEnding = true;
      for (const worker of workers) askToEnd(worker, false);
      const late = setTimeout(kill, withinMs);
      const ends = await Promise.all([...workers].map(({ ended }) => ended));
      clearTimeout(late);
      return ends.every(({ code }) => code === 0);
    },
    kill,
    metricsPage,
  };

  function kill(): void {
    for (const worker of workers) worker.kill();
  }
}

function askToEnd({ calls }: WorkerHandle, isReplaced: boolean): void {
  // It answers by its end.
  calls.call('end', isReplaced).catch(() => {});
}
