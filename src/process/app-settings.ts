import type { Config } from '../config/config.ts';
import type { QueryParameterNames } from '../rest/watch/list-watch.ts';
import type { AppSettings, TestOptions } from '../server/app.ts';
import { defaultResponseTimeoutMs } from '../server/http/http-server.ts';
import { defaultLabelRequestsAtOnce } from '../server/routes/label-queue.ts';

/** Most settings of the application have their names in Config. */
export function appSettings(config: Config): AppSettings {
  return {
    ...config,
    showCost: config.showCost ?? config.upstreamUrl === undefined,
    callsAtOnce: config.upstreamConnections,
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
