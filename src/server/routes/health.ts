import type { FetchAPI, Plugin } from 'graphql-yoga';
import { httpErrorResponse, type NodeContext } from '../graphql/yoga-request.ts';
import { methodNotAllowed } from '../http/http-error.ts';

/** Why REST could not be reached, in words that are fit for anybody; undefined where it could. */
export type Probe = () => Promise<string | undefined>;

/** Whether this server can do its work. */
export interface Health {
  /** Why no requests should be sent here, in words that are fit for anybody; undefined where they should. */
  reasonNotReady(): Promise<string | undefined>;
  /** From now on no requests should be sent here. */
  end(): void;
}

// Probes of several load balancers together ask REST no more often than this.
const defaultCacheMs = 3_000;

/**
 * @param probe asked when somebody wants to know, once at a time, and at most once in `keepMs` milliseconds.
 */
export function createHealth(probe: Probe, cacheMs = defaultCacheMs): Health {
  let isEnding = false;
  let known: { reason: Promise<string | undefined>; until: number } | undefined;

  function asked(): Promise<string | undefined> {
    if (known !== undefined && performance.now() < known.until) return known.reason;
    const pending = { reason: probe(), until: Number.POSITIVE_INFINITY };
    known = pending;
    pending.reason.finally(() => {
      pending.until = performance.now() + cacheMs;
    });
    return pending.reason;
  }

  return {
    async reasonNotReady() {
      const reason = isEnding ? undefined : await asked();
      return isEnding ? 'This server is ending.' : reason;
    },
    end() {
      isEnding = true;
    },
  };
}

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
        endResponse(httpErrorResponse(methodNotAllowed('GET, HEAD'), serverContext, fetchAPI));
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

function answer(request: Request, status: number, content: object, { Response }: FetchAPI): Response {
  const body = `${JSON.stringify(content)}\n`;
  return new Response(request.method === 'HEAD' ? null : body, {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', 'content-length': String(body.length) },
  });
}
