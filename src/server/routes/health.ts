import type { Plugin } from 'graphql-yoga';
import type { ProbeResult } from '../../rest/health-probe.ts';
import { httpErrorResponse, type YogaContext } from '../graphql/yoga-context.ts';
import { methodNotAllowedError } from '../http/http-error.ts';

export type Health = ReturnType<typeof createHealth>;

/** The readiness of a server, in words fit for the public. */
export type Readiness =
  | { status: 'ready'; problem?: string | undefined }
  | { status: 'not ready'; reason: string };

/**
 * The readiness of a server. A server without a connection to REST is not ready. Slow responses and a store that fails are
 * problems of a server that is ready: most requests still succeed there, and another server would have them too.
 * @param probe asks REST. It is called on demand, one call at a time.
 * @param problems each returns a problem of a server that is ready, as a sentence, or undefined.
 * @param cacheMs the health checks of all load balancers together probe REST at most once in this time, in milliseconds.
 */
export function createHealth(
  probe: () => Promise<ProbeResult>,
  problems: readonly (() => string | undefined)[] = [],
  cacheMs = 3_000,
) {
  let isShuttingDown = false;
  let result: Promise<ProbeResult> | undefined;
  let expiresAtMs = Number.POSITIVE_INFINITY;

  function probeCached(): Promise<ProbeResult> {
    if (result !== undefined && performance.now() < expiresAtMs) return result;
    expiresAtMs = Number.POSITIVE_INFINITY;
    result = probe().finally(() => {
      expiresAtMs = performance.now() + cacheMs;
    });
    return result;
  }

  return {
    async readiness(): Promise<Readiness> {
      const { unreachable, problem }: ProbeResult = isShuttingDown ? {} : await probeCached();
      // The shutdown may have begun during the probe.
      if (isShuttingDown) return { status: 'not ready', reason: 'This server is shutting down.' };
      if (unreachable !== undefined) return { status: 'not ready', reason: unreachable };
      const sentences = [problem, ...problems.map((read) => read())].filter((text) => text !== undefined);
      return { status: 'ready', problem: sentences.length === 0 ? undefined : sentences.join(' ') };
    },
    /** For the start of the shutdown. */
    markNotReady(): void {
      isShuttingDown = true;
    },
  };
}

/**
 * `GET /health/live`: whether the process responds. `GET /health/ready`: whether the server is ready for requests,
 * with the reason if not. A ready server may have a `problem`. Neither route needs an access token or has a request limit.
 */
export function yogaHealthRoute(health: Health): Plugin<object, YogaContext> {
  return {
    async onRequest({ request, url: { pathname }, serverContext, fetchAPI, endResponse }) {
      const isLive = pathname === '/health/live';
      if (!isLive && pathname !== '/health/ready') return;
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        endResponse(httpErrorResponse(methodNotAllowedError, serverContext, fetchAPI));
        return;
      }
      const content = isLive ? { status: 'live' } : await health.readiness();
      const status = content.status === 'not ready' ? 503 : 200;
      endResponse(fetchAPI.Response.json(content, { status }));
    },
  };
}
