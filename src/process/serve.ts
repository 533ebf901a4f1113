import type { Config } from '../config/config.ts';
import { readTrustedDocuments, type TrustedDocuments } from '../server/documents/trusted-documents.ts';
import type { Listener } from '../server/http/http-server.ts';
import { metricsListener } from '../server/routes/metrics.ts';
import { createStandardOutput, type LogOutput } from '../telemetry/json-log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { banner } from './banner.ts';
import { listenOn } from './listen.ts';
import { drainWait, type EndReason, endOnSignals, handleSignals, logFlushTimeoutMs } from './signals.ts';
import type { RunningServer } from './start-server.ts';
import { unusableSetting } from './startup-errors.ts';
import { openUpstream, type Upstream } from './upstream.ts';

export interface ServeParts {
  upstream: Upstream;
  trustedDocuments: TrustedDocuments | undefined;
  output: LogOutput;
  /** Ends the server with exit code 1 after an error that no request causes. */
  onFailure(message: string): void;
}

export interface ServedProcesses extends Omit<RunningServer, 'metrics'> {
  metrics: Pick<Metrics, 'page'> | undefined;
}

/** Runs the server until a signal ends it. @throws ConfigError, TrustedDocumentsError and WorkerStartError. */
export async function serve(
  config: Config,
  start: (config: Config, parts: ServeParts) => Promise<ServedProcesses>,
): Promise<void> {
  let ending: Promise<void> | undefined;
  await handleSignals();
  const trustedDocuments = await loadTrustedDocuments(config.operationsFile);
  const upstream = await openUpstream(config);
  const output = createStandardOutput();
  await handleSignals();
  const server = await start(config, { upstream, trustedDocuments, output, onFailure });
  // Requests may run from here on. Workers exit with this process.
  endOnSignals(end, output.abandon);
  const { metrics, onHttpError } = server;
  const { metricsPort } = config;
  let metricsServer: Listener | undefined;
  if (metrics && metricsPort !== undefined)
    metricsServer = await listenOn(
      'METRICS_PORT',
      metricsPort,
      metricsListener(metrics),
      config,
      onHttpError,
    );
  // After the signal handlers: a script that waits for the banner may send a signal at once.
  const text = await banner(server.url, upstream, config, metrics && (metricsServer ?? server).url);
  if (ending === undefined) console.log(text);

  function end(reason: EndReason): Promise<void> {
    ending ??= endAll(reason);
    return ending;
  }

  async function endAll(reason: EndReason): Promise<void> {
    await Promise.all([server.end(reason), metricsServer?.close(drainWait(reason, config))]);
    await output.end(logFlushTimeoutMs);
  }

  function onFailure(message: string): void {
    console.error(message);
    process.exitCode = 1;
    void end('terminated').then(() => process.exit());
  }
}

/** Reads the documents of OPERATIONS_FILE. @throws ConfigError if the file cannot be read */
async function loadTrustedDocuments(file: string | undefined): Promise<TrustedDocuments | undefined> {
  if (file === undefined) return undefined;
  return readTrustedDocuments(file).catch((error: unknown) => {
    throw unusableSetting(
      `OPERATIONS_FILE: expected a JSON object that maps ids to documents, but got ${file}`,
      error,
    );
  });
}
