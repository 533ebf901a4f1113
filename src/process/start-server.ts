import type { RequestListener } from 'node:http';
import { LoopTurns } from '../concurrency/loop-turns.ts';
import { RunningMutations } from '../concurrency/running-mutations.ts';
import { withTimeout } from '../concurrency/with-timeout.ts';
import type { Config } from '../config/config.ts';
import { createRestApi } from '../rest/api.ts';
import { createRestClient } from '../rest/client/client.ts';
import { createProbe } from '../rest/health-probe.ts';
import { createApp, type TestOptions } from '../server/create-app.ts';
import type { TrustedDocuments } from '../server/documents/trusted-documents.ts';
import { defaultResponseTimeoutMs, type ListenerOptions } from '../server/http/http-server.ts';
import { OpenStreams } from '../server/live/open-streams.ts';
import { reportEarlyErrors } from '../server/operations/access-log.ts';
import { createHealth } from '../server/routes/health.ts';
import { defaultLabelRequestsAtOnce } from '../server/routes/label-queue.ts';
import { createErrorReporter, type ReportError } from '../telemetry/error-report.ts';
import type { Log } from '../telemetry/log.ts';
import { startTelemetry, type Telemetry } from '../telemetry/telemetry.ts';
import type { KeyStore } from '../writes/store/key-store.ts';
import { listenOn } from './listen.ts';
import { openDocumentStore } from './open-document-store.ts';
import { closeTimeoutMs, drainWait, type EndReason } from './signals.ts';
import type { Upstream } from './upstream.ts';

interface ServerParts {
  upstream: Pick<Upstream, 'url' | 'bearer' | 'close'>;
  trustedDocuments: TrustedDocuments | undefined;
  /** The store of idempotency keys. `end` closes it. */
  keyStore: KeyStore;
  log: Log;
  /** By default the parts of the settings. */
  telemetry?: Telemetry | undefined;
  /** By default an error becomes a line of the log. */
  report?: ReportError | undefined;
  forTests?: ServerTestOptions | undefined;
}

export interface ServerTestOptions extends TestOptions {
  listener?: Partial<ListenerOptions>;
  /** Stands between the listener and the application. */
  intercept?: (app: RequestListener) => RequestListener;
}

export type RunningServer = Awaited<ReturnType<typeof startServer>>;

/**
 * Makes the parts of a server from its settings, connects them, and listens on PORT. The process starts its server so,
 * and each test too, with some parts of its own.
 * @throws ConfigError and TrustedDocumentsError.
 */
export async function startServer(config: Config, parts: ServerParts) {
  const { upstream, log, forTests } = parts;
  const telemetry = parts.telemetry ?? (await startTelemetry(config, log));
  const { metrics, tracing, observers } = telemetry;
  const client = createRestClient({
    baseUrl: upstream.url,
    connections: config.upstreamConnections,
    streamConnections: defaultLabelRequestsAtOnce,
    callTimeoutMs: config.upstreamTimeoutMs,
    // A label has the same time limit at REST and at its client.
    streamTimeoutMs: forTests?.responseTimeoutMs ?? defaultResponseTimeoutMs,
    retries: config.upstreamRetries,
    compression: config.upstreamCompression,
    proxy: config.proxy,
    observers,
  });
  metrics?.showOpenCircuits(client.openCircuits);
  const probe = createProbe({ baseUrl: upstream.url, proxy: config.proxy });
  telemetry.watchKeyStore(parts.keyStore);
  const health = createHealth(probe, [parts.keyStore.failure, parts.keyStore.fileProblem]);
  const mutations = new RunningMutations();
  const turns = new LoopTurns();
  const streams = new OpenStreams(config.maxConnections);
  const app = createApp({
    config,
    api: createRestApi(client, config.parameterNames, {
      drift: telemetry.drift,
      ...telemetry.listNames,
      onRowsOutside: metrics?.rowsOutside,
    }),
    keyStore: parts.keyStore,
    documentStore: await openDocumentStore(config, parts.keyStore),
    // Idempotency keys belong to a REST service, so its name must be the same at each start.
    service: config.upstreamUrl?.href.replace(/\/$/, '') ?? 'sandbox',
    trustedDocuments: parts.trustedDocuments,
    publicUrl: () => config.publicUrl ?? listener.url,
    graphiqlBearer: upstream.bearer,
    // A published page does not name the host of REST, which can be internal.
    graphiqlLiveHost: config.upstreamUrl && (config.publicUrl ?? config.upstreamUrl).host,
    health,
    mutations,
    turns,
    streams,
    metrics,
    tracing,
    log,
    report: parts.report ?? createErrorReporter(log),
    forTests,
  });
  const onHttpError = reportEarlyErrors(log, metrics);
  const requestListener = forTests?.intercept?.(app.listener) ?? app.listener;
  const listener = await listenOn('PORT', config.port, requestListener, config, onHttpError, {
    responseTimeoutMs: forTests?.responseTimeoutMs,
    onConnection: () => turns.onConnection(),
    ...forTests?.listener,
  });

  return {
    url: listener.url,
    metrics,
    /** For requests that reach no route. */
    onHttpError,
    /**
     * Ends the server. New requests have DRAIN_WAIT_MS, then running ones DRAIN_GRACE_MS, then all but the log 3
     * seconds. `interrupted` skips the first wait.
     */
    async end(reason: EndReason): Promise<void> {
      const startedAtMs = performance.now();
      log.info({ reason }, 'the server is shutting down');
      health.markNotReady();
      const waitMs = drainWait(reason, config);
      const graceEndsAtMs = performance.now() + waitMs + config.drainGraceMs;
      streams.shutDown(waitMs);
      await listener.close(waitMs);
      // A mutation continues after its client has disconnected, so it may still run after all connections are closed.
      await mutations.whenIdle(graceEndsAtMs - performance.now());
      // The close of the client breaks calls, and they are no outage.
      telemetry.endOutages();
      await client.close();
      await withTimeout(
        closeTimeoutMs,
        Promise.all([app.close(), parts.keyStore.close(), telemetry.close(), upstream.close()]),
      );
      const seconds = Math.round((performance.now() - startedAtMs) / 1_000);
      log.info({ reason, seconds }, 'the server has shut down');
    },
  };
}
