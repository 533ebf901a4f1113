import type { Config } from '../config/config.ts';
import type { QueryParameterNames } from '../rest/watch/list-watch.ts';
import type { AppSettings, TestOptions } from '../server/app.ts';
import { defaultResponseTimeoutMs } from '../server/http/http-server.ts';
import { defaultLabelRequestsAtOnce } from '../server/routes/label-queue.ts';

export function appSettings(config: Config): AppSettings {
  return {
    schemaAccess: config.schemaAccess,
    currency: config.currency,
    operationTimeoutMs: config.operationTimeoutMs,
    showCost: config.showCost ?? config.upstreamUrl === undefined,
    maxNodes: config.maxNodes,
    readsPerOperation: config.readsPerOperation,
    callsAtOnce: config.upstreamConnections,
    pointsPerSecond: config.pointsPerSecond,
    referenceMs: config.referenceMs,
    listsForBatches: config.listsForBatches,
    graphqlRequestsAtOnce: config.graphqlRequestsAtOnce,
    liveIntervalMs: config.liveIntervalMs,
    corsOrigins: config.corsOrigins,
    compressResponses: config.compressResponses,
    isHttps: config.publicUrl?.protocol === 'https:',
  };
}

/** A label has the same timeout at REST and at its client. */
export function restSettings(config: Config, { responseTimeoutMs }: TestOptions = {}) {
  return {
    connections: config.upstreamConnections,
    streamConnections: defaultLabelRequestsAtOnce,
    callTimeoutMs: config.upstreamTimeoutMs,
    streamTimeoutMs: responseTimeoutMs ?? defaultResponseTimeoutMs,
    retries: config.upstreamRetries,
    compression: config.upstreamCompression,
    proxy: config.proxy,
  };
}

export function parameterNames(config: Config): QueryParameterNames {
  return {
    pageSize: config.pageSizeParameter,
    pageToken: config.pageTokenParameter,
    status: config.statusParameter,
    search: config.searchParameter,
    query: config.queryParameter,
  };
}
