import './node-runtime.ts';
import type { RequestListener } from 'node:http';
import { type Config, ConfigError, readConfig } from './config.ts';
import { createRestApi } from './rest/api.ts';
import { createRestClient } from './rest/client.ts';
import { createProbe } from './rest/probe.ts';
import { createApp } from './server/app.ts';
import { type OperationList, OperationListError } from './server/documents/listed-operations.ts';
import { readOperationList } from './server/documents/operation-list-file.ts';
import { createHealth } from './server/health.ts';
import { type Listener, listen } from './server/listener.ts';
import { earlyRefusals } from './server/log/early-refusals.ts';
import { reportTo } from './server/log/faults.ts';
import { createJsonLog, createStandardOutput } from './server/log/json-log.ts';
import { createMutationsUnderWay } from './server/operation/mutations-under-way.ts';
import { metricsListener } from './server/telemetry/metrics-route.ts';
import { startTelemetry } from './server/telemetry/telemetry.ts';
import { endOnSignals, within } from './signals.ts';

/** The REST service that the server speaks to. */
interface Upstream {
  url: URL;
  /** For the banner. */
  description: string;
  /** A token to try the server with; undefined where the service is a live one. */
  bearer: string | undefined;
  close(): Promise<void>;
}

// How long the process waits at its end for others: for those who take the last traces, and the last lines of the log.
const closingMs = 3_000;
const lastLinesMs = 1_000;

async function start(config: Config): Promise<void> {
  const operationList = await operationListOf(config);
  const upstream = await openUpstream(config);
  const output = createStandardOutput();
  const log = createJsonLog(config.logLevel, output.stream);
  const { metricsPort } = config;
  const hasMetrics = config.metrics ?? (config.upstreamUrl === undefined || metricsPort !== undefined);
  const telemetry = await startTelemetry({ metrics: hasMetrics, tracing: config.tracing }, log);
  const { metrics, tracing, observer } = telemetry;
  const client = createRestClient({ baseUrl: upstream.url, ...config.rest, observer });
  metrics?.showOpenCircuits(client.openCircuits);
  const { connectTimeoutMs: timeoutMs } = config.rest;
  const health = createHealth(createProbe({ baseUrl: upstream.url, timeoutMs }));
  const mutations = createMutationsUnderWay();
  const app = createApp({
    api: createRestApi(client, config.parameterNames, telemetry.drift),
    ...config.app,
    operationList,
    showCost: config.showCost ?? config.upstreamUrl === undefined,
    publicUrl: () => config.publicUrl ?? listener.url,
    graphiqlBearer: upstream.bearer,
    health,
    mutations,
    metrics,
    showMetrics: metricsPort === undefined,
    tracing,
    log,
    report: reportTo(log),
  });
  const onRefusal = earlyRefusals(log, metrics);
  const listenOn = (variable: string, port: number, answer: RequestListener) =>
    listen(answer, config.host, port, config.listener, onRefusal).catch((error: unknown) => {
      const fault = `HOST and ${variable}: expected an address that is free, but got ${config.host}:${port}`;
      throw unusable(fault, error);
    });
  const listener = await listenOn('PORT', config.port, app);
  const metricsAt =
    metrics && metricsPort !== undefined
      ? await listenOn('METRICS_PORT', metricsPort, metricsListener(metrics))
      : undefined;
  console.log(banner(listener, upstream, config, metrics && (metricsAt ?? listener)));

  endOnSignals(async () => {
    health.end();
    const { drainWaitMs, drainGraceMs } = config.listener;
    const graceEndsAt = performance.now() + drainWaitMs + drainGraceMs;
    await Promise.all([listener.close(), metricsAt?.close()]);
    // Those whose clients have gone need no connection, but their calls.
    await mutations.ended(graceEndsAt - performance.now());
    await client.close();
    await within(closingMs, [telemetry.close(), upstream.close()]);
    await output.end(lastLinesMs);
  }, output.abandon);
}

async function operationListOf({ operationsFile: file }: Config): Promise<OperationList | undefined> {
  if (file === undefined) return undefined;
  return readOperationList(file).catch((error: unknown) => {
    throw unusable(`OPERATIONS_FILE: expected documents by their ids, but got ${file}`, error);
  });
}

async function openUpstream(config: Config): Promise<Upstream> {
  if (config.upstreamUrl !== undefined) {
    const description = `the live service at ${config.upstreamUrl.href}`;
    return { url: config.upstreamUrl, description, bearer: undefined, close: async () => {} };
  }
  // Loaded only where it is used, so that a server before a live service does without it.
  const { startSandbox } = await import('./sandbox/sandbox.ts');
  const file = config.sandboxFile;
  const sandbox = await startSandbox(file === undefined ? {} : { file }).catch((error: unknown) => {
    throw file === undefined
      ? error
      : unusable(`SANDBOX_FILE: expected the sandbox's file, but got ${file}`, error);
  });
  return {
    url: new URL(sandbox.url),
    description: `the embedded sandbox at ${sandbox.url}`,
    bearer: sandbox.tokens.first,
    close: () => sandbox.close(),
  };
}

/** The fault of a setting that only using it shows. */
function unusable(fault: string, cause: unknown): ConfigError {
  return new ConfigError(`${fault}. ${cause instanceof Error ? cause.message : cause}.`, { cause });
}

function banner(
  { url }: Listener,
  { description, bearer }: Upstream,
  { app, operationsFile }: Config,
  metricsAt: Listener | undefined,
): string {
  const where = [
    `${app.schemaAccess === 'private' ? 'GraphQL  ' : 'GraphiQL '} ${url.href}graphql`,
    `REST      ${description}`,
    ...(metricsAt === undefined ? [] : [`Metrics   ${metricsAt.url.href}metrics`]),
  ];
  if (operationsFile !== undefined) {
    return [...where, `Runs      what is in ${operationsFile} alone`].join('\n');
  }
  const query = JSON.stringify({
    query: '{ orders(first: 3) { nodes { id status recipient { fullName } } } }',
  });
  return [
    ...where,
    `Try       curl -s ${url.href}graphql -H 'content-type: application/json' \\`,
    `            -H 'authorization: Bearer ${bearer ?? '<access token>'}' -d '${query}'`,
  ].join('\n');
}

try {
  await start(readConfig(process.env));
} catch (error) {
  // The operator's own mistakes are told plainly; anything else is ours, with its stack.
  if (error instanceof ConfigError) console.error(error.message);
  else if (error instanceof OperationListError) console.error(`OPERATIONS_FILE: ${error.message}`);
  else console.error(error);
  process.exit(1);
}
