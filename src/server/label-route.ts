import type { FetchAPI, Plugin } from 'graphql-yoga';
import type { RestApi } from '../rest/api.ts';
import type { Callers } from '../rest/caller.ts';
import { MissingBearerError } from '../rest/errors.ts';
import { bearerOf } from './bearer.ts';
import { toClientError } from './client-error.ts';
import type { Admission } from './http/admission.ts';
import { methodRefusal } from './http/refusal.ts';
import { authorizationRefusal } from './http/request-form.ts';
import { type NodeContext, refusalResponse } from './http/request-reading.ts';
import type { TokenPlaces } from './http/token-places.ts';
import type { Report } from './log/faults.ts';
import { streamedBody } from './streamed-body.ts';
import type { Tracing } from './telemetry/tracing.ts';

const route = /^\/labels\/([^/]+)\.pdf$/;

export interface LabelRouteOptions extends LabelOptions {
  admission: Admission;
}

interface LabelOptions {
  api: RestApi;
  callers: Callers;
  /** Those that `admission` lets in, by token. */
  places: TokenPlaces;
  report: Report;
  tracing: Tracing | undefined;
}

/**
 * `GET /labels/{shipment id}.pdf`: the label of a shipment, streamed from REST with the caller's own token. Errors are
 * JSON of the same codes as the graph's.
 */
export function labelRoute({ admission, ...options }: LabelRouteOptions): Plugin<object, NodeContext> {
  return {
    async onRequest({ request, url, serverContext, endResponse, fetchAPI }) {
      const id = route.exec(url.pathname)?.[1];
      if (id === undefined) return;
      if (serverContext.exchange !== undefined) serverContext.exchange.route = 'label';
      if (request.method === 'GET' || request.method === 'HEAD') {
        const { req, res } = serverContext;
        const refused = (req && authorizationRefusal(req.rawHeaders)) ?? admission.admit('label', res);
        endResponse(
          refused === undefined
            ? await label(options, id, request, serverContext, fetchAPI)
            : refusalResponse(refused, serverContext, fetchAPI),
        );
      } else if (request.method !== 'OPTIONS') {
        endResponse(refusalResponse(methodRefusal('GET, HEAD'), serverContext, fetchAPI));
      }
    },
  };
}

async function label(
  { api, callers, places, report, tracing }: LabelOptions,
  id: string,
  request: Request,
  context: NodeContext,
  fetchAPI: FetchAPI,
): Promise<Response> {
  const { res: response, exchange } = context;
  try {
    const bearer = bearerOf(request.headers);
    if (bearer instanceof MissingBearerError) throw bearer;
    const caller = callers.of(bearer, request.signal);
    if (exchange !== undefined) {
      exchange.caller = caller;
      tracing?.begin(exchange, request.headers);
    }
    const refused = places.admit(caller.tenant, response);
    if (refused !== undefined) return refusalResponse(refused, context, fetchAPI);
    const { body, contentLength } = await api.getLabel(id, caller);
    const headers = {
      'content-type': 'application/pdf',
      'content-disposition': `inline; filename="label-${id}.pdf"`,
      'cache-control': 'private, no-store',
      ...(contentLength === undefined ? {} : { 'content-length': contentLength }),
    };
    if (request.method === 'GET') return new fetchAPI.Response(streamedBody(body, response), { headers });
    // REST knows no HEAD. Ending its answer early breaks off the body, which is what is meant.
    body.on('error', () => {}).destroy();
    return new fetchAPI.Response(null, { headers });
  } catch (error) {
    const { code, ...told } = toClientError(error);
    const refusal = { status: statusByCode[code] ?? 502, code, ...told };
    if (code !== 'INTERNAL_SERVER_ERROR') return refusalResponse(refusal, context, fetchAPI);
    report(error, exchange?.requestId);
    return refusalResponse({ ...refusal, requestId: exchange?.requestId }, context, fetchAPI);
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
