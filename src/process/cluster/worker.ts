import cluster from 'node:cluster';
import type { Config } from '../../config/config.ts';
import { createJsonLog, createStandardOutput } from '../../telemetry/json-log.ts';
import type { MetricsPage } from '../../telemetry/metrics.ts';
import { openKeyStore } from '../key-store.ts';
import { type EndReason, onSignals, replaceListeners } from '../signals.ts';
import { type RunningServer, startServer } from '../start-server.ts';
import { operatorErrorMessage } from '../startup-errors.ts';
import { divideLimits } from './divide-limits.ts';
import type { StartOptions, ToPrimary, ToWorker } from './messages.ts';

/** The primary process kills a worker that needs longer to write its last log lines. */
const logFlushTimeoutMs = 500;

/** Runs a worker process. The messages of the primary process start and end it. */
export function runWorker(config: Config): void {
  const output = createStandardOutput();
  const log = createJsonLog(config.logLevel, output.stream, { worker: cluster.worker?.id });
  let starting: Promise<RunningServer | undefined> | undefined;
  let onTokenRejected = (_tenantId: string): void => {};
  let wantedPage = Promise.withResolvers<MetricsPage>();

  async function start({ upstreamUrl, bearer, trustedDocuments, stateFile }: StartOptions) {
    try {
      const server = await startServer(divideLimits(config), {
        upstream: { url: new URL(upstreamUrl), bearer, close: async () => {} },
        trustedDocuments,
        log,
        keyStore: await openKeyStore(stateFile),
        metrics: {
          page() {
            void send({ type: 'metrics page wanted' });
            return wantedPage.promise;
          },
        },
        tokenRejections: {
          publish: (tenantId) => void send({ type: 'token rejected', tenantId }),
          subscribe(listener) {
            onTokenRejected = listener;
          },
        },
      });
      await send({ type: 'listening', url: server.url.href });
      return server;
    } catch (error) {
      const bug = error instanceof Error ? (error.stack ?? error.message) : String(error);
      await send({ type: 'failed', error: operatorErrorMessage(error) ?? bug });
      return undefined;
    }
  }

  async function sendSnapshot(): Promise<void> {
    const metrics = (await starting)?.metrics;
    if (metrics !== undefined) await send({ type: 'snapshot', snapshot: await metrics.snapshot() });
  }

  async function end(reason: EndReason): Promise<void> {
    // An error is an unhandled rejection, which ends the process with code 1.
    await (await starting)?.end(reason);
    await sendSnapshot();
    await output.end(logFlushTimeoutMs);
    process.exit();
  }

  process.on('message', (message: ToWorker) => {
    if (message.type === 'start') starting = start(message.options);
    if (message.type === 'token rejected') onTokenRejected(message.tenantId);
    if (message.type === 'snapshot wanted') void sendSnapshot();
    if (message.type === 'metrics page') {
      wantedPage.resolve(message.page);
      wantedPage = Promise.withResolvers();
    }
    if (message.type === 'end') void end(message.reason);
  });
  // When the primary process exits, so does this one. Its buffered log lines have no reader.
  cluster.worker?.on('error', () => {});
  process.prependListener('disconnect', output.abandon);
  // Ctrl-C reaches all processes of a terminal. Workers ignore the signal and wait for a message.
  replaceListeners('SIGINT', () => {});
  onSignals(['SIGTERM'], () => void send({ type: 'replacement wanted' }), output.abandon);
}

/** Resolves when the message is sent. Without the primary process this process exits, so an error is ignored. */
function send(message: ToPrimary): Promise<void> {
  return new Promise((resolve) => process.send?.(message, undefined, undefined, () => resolve()));
}
