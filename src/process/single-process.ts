import type { Config } from '../config/config.ts';
import { metricsListener } from '../server/routes/metrics.ts';
import { createJsonLog, createStandardOutput } from '../telemetry/json-log.ts';
import { banner } from './banner.ts';
import { listenOn, trustedDocumentsOf } from './config-resources.ts';
import { openKeyStore } from './key-store.ts';
import { drainWaitOf, endOnSignals, logFlushTimeoutMs } from './signals.ts';
import { startServer } from './start-server.ts';
import { openUpstream } from './upstream.ts';

/** Runs the server in one process until a signal ends it. @throws ConfigError and TrustedDocumentsError. */
export async function serve(config: Config): Promise<void> {
  const trustedDocuments = await trustedDocumentsOf(config);
  const keyStore = await openKeyStore(config.stateFile);
  const upstream = await openUpstream(config);
  const output = createStandardOutput();
  const log = createJsonLog(config.logLevel, output.stream);
  const server = await startServer(config, { upstream, trustedDocuments, keyStore, log });
  const { metrics, onHttpError } = server;
  const { metricsPort } = config;
  const metricsServer =
    metrics && metricsPort !== undefined
      ? await listenOn('METRICS_PORT', metricsPort, metricsListener(metrics), config, onHttpError)
      : undefined;

  endOnSignals(async (reason) => {
    const acceptMs = drainWaitOf(reason, config.listener);
    await Promise.all([server.end(reason), metricsServer?.close({ acceptMs })]);
    await output.end(logFlushTimeoutMs);
  }, output.abandon);
  // After the signal handlers: a script that waits for the banner may send a signal at once.
  console.log(await banner(server.url, upstream, config, metrics && (metricsServer ?? server).url));
}
