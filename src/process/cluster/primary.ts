import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import { withTimeout } from '../../concurrency/with-timeout.ts';
import type { Config } from '../../config/config.ts';
import { reportEarlyErrors } from '../../server/http/http-error.ts';
import type { Listener } from '../../server/http/http-server.ts';
import { metricsListener } from '../../server/routes/metrics.ts';
import { createJsonLog, createStandardOutput } from '../../telemetry/json-log.ts';
import { banner } from '../banner.ts';
import { hasMetrics, listenOn, trustedDocumentsOf } from '../config-resources.ts';
import { openKeyStore, sharedStateFile } from '../key-store.ts';
import { closeTimeoutMs, drainWaitOf, type EndReason, endOnSignals, logFlushTimeoutMs } from '../signals.ts';
import { openUpstream } from '../upstream.ts';
import { createLogMultiplexer } from './log-multiplexer.ts';
import { createWorkerPool } from './worker-pool.ts';

/**
 * Runs the server as several worker processes that share its port, until a signal ends it. The primary process owns
 * the single instances: the sandbox, the metrics page, the log.
 * @throws ConfigError, and WorkerStartError if a worker cannot start.
 */
export async function runPrimary(config: Config): Promise<void> {
  const trustedDocuments = await trustedDocumentsOf(config);
  const stateFile = sharedStateFile(config.stateFile);
  process.once('exit', stateFile.remove);
  // Checked here, so that an unusable file ends the start with one message.
  await (await openKeyStore(stateFile.path)).close();
  const upstream = await openUpstream(config);
  const output = createStandardOutput();
  const logMultiplexer = createLogMultiplexer((text) => output.stream.write(text));
  const log = createJsonLog(config.logLevel, logMultiplexer);
  let metricsServer: Listener | undefined;
  let ending: Promise<void> | undefined;
  // Imported only if metrics are on.
  const metricsModule = hasMetrics(config)
    ? await import('../../telemetry/aggregated-metrics.ts')
    : undefined;
  cluster.setupPrimary({
    exec: fileURLToPath(new URL('./worker-main.ts', import.meta.url)),
    // Messages contain Maps and other values that JSON cannot represent.
    serialization: 'advanced',
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const workerPool = createWorkerPool({
    size: config.workers,
    startOptions: {
      upstreamUrl: upstream.url.href,
      bearer: upstream.bearer,
      trustedDocuments,
      stateFile: stateFile.path,
    },
    metrics: metricsModule?.createSummedMetrics(),
    log,
    onWorkerStarted: (worker) => logMultiplexer.add(worker.stdout),
    onFailure(error) {
      console.error(`WORKERS: no worker could start in the place of one that has ended.\n${error}`);
      process.exitCode = 1;
      void end('terminated').then(() => process.exit());
    },
  });
  const url = await workerPool.start();
  const { metricsPort } = config;
  if (metricsModule && metricsPort !== undefined) {
    const page = metricsListener({ page: workerPool.metricsPage });
    metricsServer = await listenOn(
      'METRICS_PORT',
      metricsPort,
      page,
      config,
      reportEarlyErrors(log, undefined),
    );
  }
  endOnSignals(end, () => {
    workerPool.kill();
    output.abandon();
  });
  // After the signal handlers: a script that waits for the banner may send a signal at once.
  console.log(await banner(url, upstream, config, metricsModule && (metricsServer?.url ?? url)));
  logMultiplexer.start();

  function end(reason: EndReason): Promise<void> {
    ending ??= endAll(reason);
    return ending;
  }

  async function endAll(reason: EndReason): Promise<void> {
    const acceptMs = drainWaitOf(reason, config.listener);
    const { drainGraceMs } = config.listener;
    const [endedWell] = await Promise.all([
      workerPool.end(reason, acceptMs + drainGraceMs + closeTimeoutMs + logFlushTimeoutMs),
      metricsServer?.close({ acceptMs }),
    ]);
    if (!endedWell) process.exitCode = 1;
    await withTimeout(logFlushTimeoutMs, Promise.all([logMultiplexer.ended(), upstream.close()]));
    await output.end(logFlushTimeoutMs);
  }
}
