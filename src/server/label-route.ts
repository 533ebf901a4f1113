import type { ServerResponse } from 'node:http';
import type { Plugin } from 'graphql-yoga';
import type { RestApi } from '../rest/api.ts';
import type { Callers } from '../rest/caller.ts';
import { MissingBearerError } from '../rest/errors.ts';
import { bearerOf } from './bearer.ts';
import { type ClientError, toClientError } from './client-error.ts';
import { countError, type ExchangeContext } from './log/exchange.ts';
import type { Report } from './log/faults.ts';
import { streamedBody } from './streamed-body.ts';

const route = /^\/labels\/([^/]+)\.pdf$/;

/** What Node's server hands over with a request; nothing where the application is called by `fetch`. */
interface NodeContext extends ExchangeContext {
  res?: ServerResponse;
}

/**
 * `GET /labels/{shipment id}.pdf`: the label of a shipment, streamed from REST with the caller's own token. Errors are
 * JSON of the same codes as the graph's.
 */
export function labelRoute(api: RestApi, callers: Callers, report: Report): Plugin<object, NodeContext> {
  return {
    async onRequest({ request, url, serverContext, endResponse }) {
      const id = route.exec(url.pathname)?.[1];
      if (id === undefined) return;
      if (serverContext.exchange !== undefined) serverContext.exchange.route = 'label';
      if (request.method === 'GET' || request.method === 'HEAD') {
        endResponse(await label({ api, callers, report }, id, request, serverContext));
      } else if (request.method !== 'OPTIONS') {
        endResponse(new Response(null, { status: 405, headers: { allow: 'GET, HEAD' } }));
      }
    },
  };
}

async function label(
  { api, callers, report }: { api: RestApi; callers: Callers; report: Report },
  id: string,
  request: Request,
  { res: response, exchange }: NodeContext,
): Promise<Response> {
  try {
    const bearer = bearerOf(request.headers);
    if (bearer instanceof MissingBearerError) throw bearer;
    const caller = callers.of(bearer, request.signal);
    if (exchange !== undefined) exchange.caller = caller;
    const { body, contentLength } = await api.getLabel(id, caller);
    const headers = {
      'content-type': 'application/pdf',
      'content-disposition': `inline; filename="label-${id}.pdf"`,
      'cache-control': 'private, no-store',
      ...(contentLength === undefined ? {} : { 'content-length': contentLength }),
    };
    if (request.method === 'GET') return new Response(streamedBody(body, response), { headers });
    // REST knows no HEAD. Ending its answer early breaks off the body, which is what is meant.
    body.on('error', () => {}).destroy();
    return new Response(null, { headers });
  } catch (error) {
    const told = toClientError(error);
    if (exchange !== undefined) countError(exchange, told.code);
    if (told.code !== 'INTERNAL_SERVER_ERROR') return refusal(told);
    report(error, exchange?.requestId);
    return refusal({ ...told, requestId: exchange?.requestId });
  }
}

const statusByCode: Record<string, number> = {
  BAD_USER_INPUT: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  RATE_LIMITED: 429,
  INTERNAL_SERVER_ERROR: 500,
  UPSTREAM_UNAVAILABLE: 503,
  UPSTREAM_CIRCUIT_OPEN: 503,
  OVERLOADED: 503,
  UPSTREAM_TIMEOUT: 504,
};

function refusal({ message, ...extensions }: ClientError & { requestId?: string | undefined }): Response {
  const status = statusByCode[extensions.code] ?? 502;
  const headers = new Headers({ 'cache-control': 'no-store' });
  if (status === 401) headers.set('www-authenticate', 'Bearer');
  if (extensions.retryAfterMs !== undefined) {
    headers.set('retry-after', String(Math.ceil(extensions.retryAfterMs / 1000)));
  }
  return Response.json({ errors: [{ message, extensions }] }, { status, headers });
}
