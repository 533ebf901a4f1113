import type { RequestListener } from 'node:http';
import type { Plugin } from 'graphql-yoga';
import type { Metrics } from '../../telemetry/metrics.ts';
import { notFoundError, writeHttpError } from '../http/http-error.ts';

const path = '/metrics';

/** `GET /metrics`, for whoever can reach the server; nothing in it tells of a client or of what it asked for. */
export function metricsRoute(metrics: Metrics): Plugin {
  return {
    // No async function, which would be a promise more for every request.
    onRequest({ request, url, endResponse, fetchAPI }) {
      if (url.pathname !== path || !isReading(request.method)) return undefined;
      return metrics.page().then(({ contentType, body }) => {
        const headers = { 'content-type': contentType, 'cache-control': 'no-store' };
        endResponse(new fetchAPI.Response(request.method === 'HEAD' ? null : body, { headers }));
      });
    },
  };
}

/** The same page for a listener of its own, which has nothing else. */
export function metricsListener(metrics: Pick<Metrics, 'page'>): RequestListener {
  return async (request, response) => {
    const isFound = request.url?.split('?')[0] === path && isReading(request.method);
    if (!isFound) {
      writeHttpError(response, notFoundError);
      return;
    }
    const { contentType, body } = await metrics.page();
    response.writeHead(200, { 'content-type': contentType, 'cache-control': 'no-store' });
    response.end(request.method === 'HEAD' ? undefined : body);
  };
}

function isReading(method: string | undefined): boolean {
  return method === 'GET' || method === 'HEAD';
}
