import type { Config } from '../config/config.ts';
import { readTrustedDocuments, type TrustedDocuments } from '../server/documents/trusted-documents.ts';
import type { Listener } from '../server/http/http-server.ts';
import { metricsListener } from '../server/routes/metrics.ts';
import { createJsonLog, createStandardOutput } from '../telemetry/json-log.ts';
import { banner } from './banner.ts';
import { listenOn } from './listen.ts';
import { openKeyStore } from './open-key-store.ts';
import { drainWait, type EndReason, endOnSignals, logFlushTimeoutMs, yieldToSignals } from './signals.ts';
import { startServer } from './start-server.ts';
import { unusableSetting } from './startup-errors.ts';
import { openUpstream } from './upstream.ts';

/** Runs the server until a signal ends it. @throws ConfigError and TrustedDocumentsError. */
export async function serve(config: Config): Promise<void> {
  let ending: Promise<void> | undefined;
  // Until `endOnSignals` below, the listeners of src/start.cjs end the process at once at a signal. Loading takes long,
  // so the event loop gets a turn after each part.
  await yieldToSignals();
  const trustedDocuments = await loadTrustedDocuments(config.operationsFile);
  const upstream = await openUpstream(config);
  const output = createStandardOutput();
  await yieldToSignals();
  const keyStore = await openKeyStore(config);
  const log = createJsonLog(config.logLevel, output.stream);
  const server = await startServer(config, { upstream, trustedDocuments, keyStore, log });
  // Requests may run from here on, so a signal now ends them in order, and a second one drops the log.
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
  const text = await banner(server.url, upstream, config, keyStore, metrics && (metricsServer ?? server).url);
  if (ending === undefined) console.log(text);

  function end(reason: EndReason): Promise<void> {
    ending ??= endAll(reason);
    return ending;
  }

  async function endAll(reason: EndReason): Promise<void> {
    await Promise.all([server.end(reason), metricsServer?.close(drainWait(reason, config))]);
    await output.end(logFlushTimeoutMs);
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
