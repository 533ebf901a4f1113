import cluster from 'node:cluster';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Config } from '../../config/config.ts';
import { reportEarlyErrors } from '../../server/http/early-errors.ts';
import type { Listener } from '../../server/http/http-server.ts';
import { metricsListener } from '../../server/routes/metrics.ts';
import { createJsonLog, createStandardOutput } from '../../telemetry/json-log.ts';
import { createMemoryStore } from '../../writes/idempotency-store.ts';
import { createSharedStore } from '../../writes/shared-store.ts';
import { banner } from '../banner.ts';
import { hasMetrics, listenOn, trustedDocumentsOf } from '../config-resources.ts';
import { closingMs, endOnSignals, lastLinesMs, within } from '../signals.ts';
import { openUpstream } from '../upstream.ts';
import { createLogMultiplexer } from './log-multiplexer.ts';
import { createWorkerPool } from './worker-pool.ts';

/**
 * The server as several processes that share its port, until a signal ends it. This one has what there is once: the keys
 * of writes, the sandbox, the page of metrics, the log.
 * @throws ConfigError, and WorkerStartError where a worker can't start.
 */
export async function runPrimary(config: Config): Promise<void> {
  const trustedDocuments = await trustedDocumentsOf(config);
  const upstream = await openUpstream(config);
  const output = createStandardOutput();
  const logMultiplexer = createLogMultiplexer((text) => output.stream.write(text));
  const log = createJsonLog(config.logLevel, logMultiplexer);
  let metricsAt: Listener | undefined;
  let ending: Promise<void> | undefined;
  // Loaded only where it is used.
  const summed = hasMetrics(config) ? await import('../../telemetry/summed-metrics.ts') : undefined;
  cluster.setupPrimary({
    exec: fileURLToPath(new URL('./main.ts', import.meta.url)),
    // What passes between them holds maps, and values that JSON has no word for.
    serialization: 'advanced',
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const workerPool = createWorkerPool({
    size: config.workers,
    startOptions: {
      upstreamUrl: upstream.url.href,
      bearer: upstream.bearer,
      trustedDocuments,
      secret: randomBytes(32).toString('base64'),
    },
    store: createSharedStore(createMemoryStore({ maxKeys: config.app.idempotencyKeys })),
    metrics: summed?.createSummedMetrics(),
    log,
    onWorkerStarted: (worker) => logMultiplexer.add(worker.lines),
    onFailure(error) {
      console.error(`WORKERS: no worker could start in the place of one that has ended.\n${error}`);
      process.exitCode = 1;
      void end().then(() => process.exit());
    },
  });
  const url = await workerPool.start();
  const { metricsPort } = config;
  if (summed && metricsPort !== undefined) {
    const page = metricsListener({ page: workerPool.metricsPage });
    metricsAt = await listenOn('METRICS_PORT', metricsPort, page, config, reportEarlyErrors(log, undefined));
  }
  endOnSignals(end, () => {
    workerPool.kill();
    output.abandon();
  });
  // Whoever waits for it may end the server at once.
  console.log(banner(url, upstream, config, summed && (metricsAt?.url ?? url)));
  logMultiplexer.flow();

  function end(): Promise<void> {
    ending ??= endAll();
    return ending;
  }

  async function endAll(): Promise<void> {
    const { drainWaitMs, drainGraceMs } = config.listener;
    const [endedWell] = await Promise.all([
      workerPool.end(drainWaitMs + drainGraceMs + closingMs + lastLinesMs),
      metricsAt?.close(),
    ]);
    if (!endedWell) process.exitCode = 1;
    await within(lastLinesMs, [logMultiplexer.ended(), upstream.close()]);
    await output.end(lastLinesMs);
  }
}
