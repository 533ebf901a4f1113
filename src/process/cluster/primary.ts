import cluster from 'node:cluster';
import { withTimeout } from '../../concurrency/with-timeout.ts';
import type { Config } from '../../config/config.ts';
import { reportEarlyErrors } from '../../server/http/http-error.ts';
import { createJsonLog } from '../../telemetry/json-log.ts';
import { openKeyStore, sharedStateFile } from '../key-store.ts';
import type { ServedProcesses, ServeParts } from '../serve.ts';
import { closeTimeoutMs, drainWait, logFlushTimeoutMs } from '../signals.ts';
import { forwardLines } from './forward-lines.ts';
import { createWorkerPool } from './worker-pool.ts';

/**
 * Starts the server as several workers that share its port. This process owns the sandbox, the metrics page and the log.
 * @throws ConfigError, and WorkerStartError if a worker cannot start.
 */
export async function startWorkers(config: Config, parts: ServeParts): Promise<ServedProcesses> {
  const { upstream, trustedDocuments, output, onFailure } = parts;
  const stateFile = sharedStateFile(config.stateFile);
  // Checked here, so that an unusable file ends the start with one message.
  await (await openKeyStore(stateFile)).close();
  const workerLogs: Promise<unknown>[] = [];
  const log = createJsonLog(config.logLevel, output.stream);
  // Imported only if metrics are on.
  const metrics = config.metrics
    ? new (await import('../../telemetry/aggregated-metrics.ts')).SummedMetrics()
    : undefined;
  // Messages contain Maps and other values that JSON cannot represent.
  cluster.setupPrimary({ serialization: 'advanced', stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const pool = createWorkerPool({
    startOptions: { upstreamUrl: upstream.url.href, bearer: upstream.bearer, trustedDocuments, stateFile },
    metrics,
    log,
    onStdout: (stdout) => workerLogs.push(forwardLines(stdout, (lines) => output.stream.write(lines))),
    onFailure: (error) =>
      onFailure(`WORKERS: a worker exited, and its replacement could not start.\n${error}`),
  });

  return {
    url: await pool.start(config.workers),
    metrics: metrics && { page: pool.metricsPage },
    onHttpError: reportEarlyErrors(log, undefined),
    async end(reason) {
      const drainMs = drainWait(reason, config) + config.drainGraceMs;
      if (!(await pool.end(reason, drainMs + closeTimeoutMs + logFlushTimeoutMs))) process.exitCode = 1;
      await withTimeout(logFlushTimeoutMs, Promise.all([...workerLogs, upstream.close()]));
    },
  };
}
