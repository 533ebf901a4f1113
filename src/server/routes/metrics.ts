import type { RequestListener } from 'node:http';
import type { Plugin } from 'graphql-yoga';
import type { Metrics } from '../../telemetry/metrics.ts';
import { notFoundError, writeHttpError } from '../http/http-error.ts';

const path = '/metrics';
const methods: readonly unknown[] = ['GET', 'HEAD'];

/** `GET /metrics`, without authentication. The page identifies no client and contains no request content. */
export function yogaMetricsRoute(metrics: Metrics): Plugin {
  return {
    // Not async, because an async hook creates a promise for every request of every route.
    onRequest({ request, url, endResponse, fetchAPI }) {
      if (url.pathname !== path || !methods.includes(request.method)) return undefined;
      return metrics.page().then(({ contentType, body }) => {
        const headers = { 'content-type': contentType, 'cache-control': 'no-store' };
        endResponse(new fetchAPI.Response(body, { headers }));
      });
    },
  };
}

/**
 * Serves `GET /metrics` and `GET /health/live` on a separate port. All other paths are not found. While PORT is at
 * MAX_CONNECTIONS, a health check needs this port.
 */
export function metricsListener(metrics: Pick<Metrics, 'page'>): RequestListener {
  return async (request, response) => {
    const pathname = methods.includes(request.method) ? request.url?.split('?')[0] : undefined;
    if (pathname === '/health/live') {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"status":"live"}');
      return;
    }
    if (pathname !== path) {
      writeHttpError(response, notFoundError);
      return;
    }
    const { contentType, body } = await metrics.page();
    response.writeHead(200, { 'content-type': contentType, 'cache-control': 'no-store' });
    response.end(body);
  };
}
