import type { FetchAPI, Plugin } from 'graphql-yoga';
import { methodNotAllowed } from '../http/http-error.ts';
import { httpErrorResponse, type NodeContext } from '../http/node-context.ts';

/** Checks whether REST is reachable. Resolves to the reason if not, in words fit for the public. */
export type Probe = () => Promise<string | undefined>;

/** The readiness of this server. */
export interface Health {
  /** The reason why the server is not ready, in words fit for the public. Undefined if the server is ready. */
  reasonNotReady(): Promise<string | undefined>;
  /** A problem of a server that is ready, as a sentence. Undefined if there is none. */
  problem(): string | undefined;
  /** Marks the server as not ready. Called when the shutdown starts. */
  markNotReady(): void;
}

// The health checks of all load balancers together probe REST at most once in this time.
const defaultCacheMs = 3_000;

/** Options of `createHealth`. */
export interface HealthOptions {
  /** The probe is called at most once in this time. */
  cacheMs?: number;
  problem?: () => string | undefined;
}

/** Creates the readiness of a server. `probe` is called on demand, one call at a time. */
export function createHealth(
  probe: Probe,
  { cacheMs = defaultCacheMs, problem = () => undefined }: HealthOptions = {},
): Health {
  let isShuttingDown = false;
  let cached: { reason: Promise<string | undefined>; expiresAtMs: number } | undefined;

  function probeCached(): Promise<string | undefined> {
    if (cached !== undefined && performance.now() < cached.expiresAtMs) return cached.reason;
    const pending = { reason: probe(), expiresAtMs: Number.POSITIVE_INFINITY };
    cached = pending;
    const expireLater = () => {
      pending.expiresAtMs = performance.now() + cacheMs;
    };
    pending.reason.then(expireLater, expireLater);
    return pending.reason;
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
    async onRequest({ request, url, serverContext, fetchAPI, endResponse }) {
      const { pathname } = url;
      if (!pathname.startsWith('/health/')) return;
      const isLive = pathname === '/health/live';
      if (!isLive && pathname !== '/health/ready') return;
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        endResponse(httpErrorResponse(methodNotAllowed('GET, HEAD'), serverContext, fetchAPI));
      } else if (isLive) {
        endResponse(jsonResponse(request, 200, { status: 'live' }, fetchAPI));
      } else {
        const reason = await health.reasonNotReady();
        endResponse(
          reason === undefined
            ? jsonResponse(request, 200, { status: 'ready', problem: health.problem() }, fetchAPI)
            : jsonResponse(request, 503, { status: 'not ready', reason }, fetchAPI),
        );
      }
    },
  };
}

function jsonResponse(request: Request, status: number, content: object, { Response }: FetchAPI): Response {
  const body = `${JSON.stringify(content)}\n`;
  return new Response(request.method === 'HEAD' ? null : body, {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', 'content-length': String(body.length) },
  });
}
