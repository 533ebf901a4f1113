import type { Plugin } from 'graphql-yoga';
import { methodNotAllowed } from '../http/http-error.ts';
import { httpErrorResponse, type NodeContext } from '../http/node-context.ts';

/** The readiness of this server. */
export interface Health {
  /** In words fit for the public. Undefined if the server is ready. */
  reasonNotReady(): Promise<string | undefined>;
  /** A problem of a server that is ready, as a sentence. Undefined if there is none. */
  problem(): string | undefined;
  /** For the start of the shutdown. */
  markNotReady(): void;
}

/**
 * Creates the readiness of a server.
 * @param probe returns the reason if REST is not reachable. It is called on demand, one call at a time.
 * @param cacheMs the health checks of all load balancers together probe REST at most once in this time.
 */
export function createHealth(
  probe: Health['reasonNotReady'],
  problem: Health['problem'] = () => undefined,
  cacheMs = 3_000,
): Health {
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
    async reasonNotReady() {
      const reason = isShuttingDown ? undefined : await probeCached();
      return isShuttingDown ? 'This server is shutting down.' : reason;
    },
    problem,
    markNotReady() {
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
        endResponse(httpErrorResponse(methodNotAllowed('GET, HEAD'), serverContext, fetchAPI));
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
