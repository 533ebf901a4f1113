import cluster from 'node:cluster';
import { withTimeout } from '../../concurrency/with-timeout.ts';
import { readConfig } from '../../config/config.ts';
import { createJsonLog, createStandardOutput } from '../../telemetry/json-log.ts';
import { openKeyStore } from '../key-store.ts';
import { type EndReason, onSignals } from '../signals.ts';
import { type RunningServer, startServer } from '../start-server.ts';
import { operatorErrorMessage } from '../startup-errors.ts';
import { divideLimits } from './divide-limits.ts';
import { connect } from './rpc.ts';
import type { PrimaryMethods, StartOptions, WorkerMethods } from './worker-protocol.ts';

// A worker process. primary.ts starts several, which share the port of the server.

/** How long each of the last metrics and the last log lines may take, in milliseconds. */
const exitStepTimeoutMs = 500;
const config = divideLimits(readConfig(process.env));
const output = createStandardOutput();
const log = createJsonLog(config.logLevel, output.stream, { worker: cluster.worker?.id });
let starting: Promise<RunningServer> | undefined;
let onTokenRejected = (_tenantId: string): void => {};

const primary = connect<PrimaryMethods, WorkerMethods>(
  {
    // An error of `send` is ignored: if the primary process has exited, this process exits too.
    send: (message) => process.send?.(message, undefined, undefined, () => {}),
    onMessage: (listener) => process.on('message', listener),
  },
  {
    async start(startOptions) {
      starting = start(startOptions);
      const { url } = await starting;
      return url.href;
    },
    tokenRejected: async (tenantId) => onTokenRejected(tenantId),
    snapshot: async () => (await (await starting)?.metrics?.snapshot()) ?? [],
    end,
  },
  (error) =>
    operatorErrorMessage(error) ?? (error instanceof Error ? (error.stack ?? error.message) : String(error)),
);

async function start(options: StartOptions): Promise<RunningServer> {
  const { upstreamUrl, bearer, trustedDocuments, stateFile } = options;
  return startServer(config, {
    upstream: { url: new URL(upstreamUrl), bearer, close: async () => {} },
    trustedDocuments,
    log,
    metrics: { page: () => primary.call('metricsPage') },
    keyStore: await openKeyStore(stateFile),
    tokenRejections: {
      // An error is ignored: if the primary process has exited, this process exits too.
      publish: (tenantId) => void primary.call('tokenRejected', tenantId).catch(() => {}),
      subscribe(listener) {
        onTokenRejected = listener;
      },
    },
  });
}

async function end(reason: EndReason): Promise<void> {
  let hasEndedWell = false;
  try {
    const server = await starting;
    await server?.end(reason);
    const snapshot = await server?.metrics?.snapshot();
    if (snapshot !== undefined) await withTimeout(exitStepTimeoutMs, primary.call('lastSnapshot', snapshot));
    await output.end(exitStepTimeoutMs);
    hasEndedWell = true;
  } finally {
    process.exit(hasEndedWell ? 0 : 1);
  }
}

// When the primary process exits, this process exits too. Its buffered log lines have no reader, so they are
// discarded.
cluster.worker?.on('error', () => {});
process.prependListener('disconnect', output.abandon);
// Ctrl-C reaches all processes of a terminal. Workers ignore the signal and wait for a call of the primary process.
process.on('SIGINT', () => {});
onSignals(['SIGTERM'], () => void primary.call('requestReplacement'), output.abandon);
