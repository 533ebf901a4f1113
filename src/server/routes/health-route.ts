import type { FetchAPI, Plugin } from 'graphql-yoga';
import { type NodeContext, refusalResponse } from '../graphql/yoga-request.ts';
import { methodRefusal } from '../http/http-error.ts';
import type { Health } from './health.ts';

/**
 * `GET /health/live`: whether the process answers. `GET /health/ready`: whether requests should be sent here, with the
 * reason where they should not. Neither needs an access token, and no limit of other routes applies.
 */
export function healthRoute(health: Health): Plugin<object, NodeContext> {
  return {
    async onRequest({ request, url, serverContext, fetchAPI, endResponse }) {
      const { pathname } = url;
      if (!pathname.startsWith('/health/')) return;
      const isLive = pathname === '/health/live';
      if (!isLive && pathname !== '/health/ready') return;
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        endResponse(refusalResponse(methodRefusal('GET, HEAD'), serverContext, fetchAPI));
      } else if (isLive) {
        endResponse(answer(request, 200, { status: 'live' }, fetchAPI));
      } else {
        const reason = await health.reasonNotReady();
        endResponse(
          reason === undefined
            ? answer(request, 200, { status: 'ready' }, fetchAPI)
            : answer(request, 503, { status: 'not ready', reason }, fetchAPI),
        );
      }
    },
  };
}

function answer(request: Request, status: number, told: object, { Response }: FetchAPI): Response {
  const body = `${JSON.stringify(told)}\n`;
  return new Response(request.method === 'HEAD' ? null : body, {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', 'content-length': String(body.length) },
  });
}
