import cluster from 'node:cluster';
import { readConfig } from '../../config/config.ts';
import { createJsonLog, createStandardOutput } from '../../telemetry/json-log.ts';
import { takeSignals, within } from '../signals.ts';
import { type RunningServer, startServer } from '../start-server.ts';
import { operatorErrorMessage } from '../startup-errors.ts';
import { divideLimits } from './divide-limits.ts';
import { connect } from './rpc.ts';
import type { Primary, StartOptions, Worker } from './start-options.ts';

// A worker: a process of the server beside others, started by primary.ts.

const lastWordsMs = 500;
const config = divideLimits(readConfig(process.env));
const output = createStandardOutput();
const log = createJsonLog(config.logLevel, output.stream, { worker: cluster.worker?.id });
let starting: Promise<RunningServer> | undefined;
let onTokenRejected = (_tenantId: string): void => {};

const primary = connect<Primary, Worker>(
  {
    // Nobody is told that the primary process has gone: this one ends with it.
    send: (message) => process.send?.(message, undefined, undefined, () => {}),
    onMessage: (take) => process.on('message', take),
  },
  {
    async start(startOptions) {
      starting = start(startOptions);
      const { url } = await starting;
      return url.href;
    },
    refused: async (tenantId) => onTokenRejected(tenantId),
    counts: async () => (await (await starting)?.metrics?.counts()) ?? [],
    end,
  },
  (error) =>
    operatorErrorMessage(error) ?? (error instanceof Error ? (error.stack ?? error.message) : String(error)),
);

function start({ upstreamUrl, bearer, trustedDocuments, secret }: StartOptions): Promise<RunningServer> {
  return startServer(config, {
    upstream: { url: new URL(upstreamUrl), description: '', bearer, close: async () => {} },
    trustedDocuments,
    log,
    metrics: { page: () => primary.call('metricsPage') },
    shared: {
      secret: Buffer.from(secret, 'base64'),
      refusedTenants: {
        // Where the primary process has gone, this one ends with it.
        publish: (tenantId) => void primary.call('tokenRejected', tenantId).catch(() => {}),
        subscribe(take) {
          onTokenRejected = take;
        },
      },
      idempotencyStore: {
        claim: (key, record) => primary.call('claim', key, record),
        replace: (key, record) => primary.call('replace', key, record),
        release: (key) => primary.call('release', key),
        ended: (key) => primary.call('ended', key),
      },
    },
  });
}

async function end(isReplaced: boolean): Promise<void> {
  let isWhole = false;
  try {
    const server = await starting;
    await server?.end(isReplaced);
    const counts = await server?.metrics?.counts();
    if (counts !== undefined) await within(lastWordsMs, [primary.call('lastCounts', counts)]);
    await output.end(lastWordsMs);
    isWhole = true;
  } finally {
    process.exit(isWhole ? 0 : 1);
  }
}

// Where the primary process has gone, this one ends with it, before it could write anything that nobody reads.
cluster.worker?.on('error', () => {});
process.prependListener('disconnect', output.abandon);
// Ctrl-C reaches all processes of a terminal at once, and the primary one says what is to be done.
process.on('SIGINT', () => {});
takeSignals(['SIGTERM'], () => void primary.call('leave'), output.abandon);
