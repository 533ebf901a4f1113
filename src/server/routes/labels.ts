import type { FetchAPI, Plugin } from 'graphql-yoga';
import type { RestApi } from '../../rest/api.ts';
import type { Callers } from '../../rest/client/call-context.ts';
import { BadInputError, MissingBearerError } from '../../rest/errors.ts';
import { shown } from '../../rest/resource-name.ts';
import type { Report } from '../../telemetry/error-report.ts';
import type { Tracing } from '../../telemetry/tracing.ts';
import { type NodeContext, refusalResponse } from '../graphql/yoga-request.ts';
import { bearerOf } from '../http/bearer.ts';
import { toClientError } from '../http/client-error.ts';
import { methodRefusal } from '../http/http-error.ts';
import type { Admission } from '../http/load-shedding.ts';
import type { TokenPlaces } from '../http/per-token-limit.ts';
import { authorizationRefusal } from '../http/request-checks.ts';
import { streamedBody } from './streamed-body.ts';

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
      const encodedId = route.exec(url.pathname)?.[1];
      if (encodedId === undefined) return;
      if (serverContext.exchange !== undefined) serverContext.exchange.route = 'label';
      if (request.method === 'GET' || request.method === 'HEAD') {
        const { req, res } = serverContext;
        const refused = (req && authorizationRefusal(req.rawHeaders)) ?? admission.admit('label', res);
        endResponse(
          refused === undefined
            ? await label(options, encodedId, request, serverContext, fetchAPI)
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
  encodedId: string,
  request: Request,
  context: NodeContext,
  fetchAPI: FetchAPI,
): Promise<Response> {
  const { res: response, exchange } = context;
  try {
    const bearer = bearerOf(request.headers);
    if (bearer instanceof MissingBearerError) throw bearer;
    const id = decoded(encodedId);
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
      'content-disposition': `inline; ${fileNameOf(id)}`,
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

/** An identifier out of a path. @throws BadInputError where it is not percent-encoded as it should be. */
function decoded(encodedId: string): string {
  try {
    return decodeURIComponent(encodedId);
  } catch {
    throw new BadInputError(`Expected a percent-encoded id of a shipment, but got ${shown(encodedId)}.`);
  }
}

/** The file's name for a browser, where it is not plain in a second form that may hold every character (RFC 6266). */
function fileNameOf(id: string): string {
  const plain = `label-${id.replace(/[^\w.~-]/g, '_')}.pdf`;
  if (plain === `label-${id}.pdf`) return `filename="${plain}"`;
  const encoded = encodeURIComponent(id).replace(/['()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`);
  return `filename="${plain}"; filename*=UTF-8''label-${encoded}.pdf`;
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
