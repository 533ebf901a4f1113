import type { Plugin } from 'graphql-yoga';
import { methodNotAllowedError } from '../http/http-error.ts';
import { httpErrorResponse, type NodeContext } from '../http/node-context.ts';

export type Health = ReturnType<typeof createHealth>;

/**
 * The readiness of a server.
 * @param probe returns the reason if REST is not reachable. It is called on demand, one call at a time.
 * @param problem a problem of a server that is ready, as a sentence. Undefined if there is none.
 * @param cacheMs the health checks of all load balancers together probe REST at most once in this time.
 */
export function createHealth(
  probe: () => Promise<string | undefined>,
  problem: () => string | undefined = () => undefined,
  cacheMs = 3_000,
) {
  let isShuttingDown = false;
  let reason: Promise<string | undefined> | undefined;
  let expiresAtMs = Number.POSITIVE_INFINITY;

  function probeCached(): Promise<string | undefined> {
    if (reason !== undefined && performance.now() < expiresAtMs) return reason;
    expiresAtMs = Number.POSITIVE_INFINITY;
    reason = probe().finally(() => {
      expiresAtMs = performance.now() + cacheMs;
    });
    return reason;
  }

  return {
    problem,
    /** In words fit for the public. Undefined if the server is ready. */
    async reasonNotReady(): Promise<string | undefined> {
      const reason = isShuttingDown ? undefined : await probeCached();
      return isShuttingDown ? 'This server is shutting down.' : reason;
    },
    /** For the start of the shutdown. */
    markNotReady(): void {
      isShuttingDown = true;
    },
  };
}

/**
 * `GET /health/live`: whether the process responds. `GET /health/ready`: whether the server is ready for requests,
 * with the reason if not. A ready server may refuse some writes: `problem` says why. Neither route needs an access
 * token or has a request limit.
 */
export function healthRoute(health: Health): Plugin<object, NodeContext> {
  return {
    async onRequest({ request, url: { pathname }, serverContext, fetchAPI, endResponse }) {
      const isLive = pathname === '/health/live';
      if (!isLive && pathname !== '/health/ready') return;
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        endResponse(httpErrorResponse(methodNotAllowedError, serverContext, fetchAPI));
        return;
      }
      const reason = isLive ? undefined : await health.reasonNotReady();
      let content: object = { status: 'ready', problem: health.problem() };
      if (isLive) content = { status: 'live' };
      if (reason !== undefined) content = { status: 'not ready', reason };
      endResponse(fetchAPI.Response.json(content, { status: reason === undefined ? 200 : 503 }));
    },
  };
}
