import type { FetchAPI, Plugin } from 'graphql-yoga';
import type { RestApi } from '../../rest/api.ts';
import type { CallContexts } from '../../rest/client/call-context.ts';
import { BadInputError, MissingBearerError } from '../../rest/errors.ts';
import { shown } from '../../rest/resource-name.ts';
import type { Report } from '../../telemetry/error-report.ts';
import type { Tracing } from '../../telemetry/tracing.ts';
import { httpErrorResponse, type NodeContext } from '../graphql/yoga-request.ts';
import { bearerOf } from '../http/bearer.ts';
import { toClientError } from '../http/client-error.ts';
import { methodNotAllowed } from '../http/http-error.ts';
import type { LoadShedder } from '../http/load-shedding.ts';
import type { PerTokenLimit } from '../http/per-token-limit.ts';
import { authorizationError } from '../http/request-checks.ts';
import { streamedBody } from './streamed-body.ts';

const route = /^\/labels\/([^/]+)\.pdf$/;

export interface LabelRouteOptions extends LabelOptions {
  loadShedding: LoadShedder;
}

interface LabelOptions {
  api: RestApi;
  callContexts: CallContexts;
  /** Those that `admission` lets in, by token. */
  perTokenLimit: PerTokenLimit;
  report: Report;
  tracing: Tracing | undefined;
}

/**
 * `GET /labels/{shipment id}.pdf`: the label of a shipment, streamed from REST with the caller's own token. Errors are
 * JSON of the same codes as the graph's.
 */
export function labelRoute({ loadShedding, ...options }: LabelRouteOptions): Plugin<object, NodeContext> {
  return {
    async onRequest({ request, url, serverContext, endResponse, fetchAPI }) {
      const encodedId = route.exec(url.pathname)?.[1];
      if (encodedId === undefined) return;
      if (serverContext.requestRecord !== undefined) serverContext.requestRecord.route = 'label';
      if (request.method === 'GET' || request.method === 'HEAD') {
        const { req, res } = serverContext;
        const refused = (req && authorizationError(req.rawHeaders)) ?? loadShedding.admit('label', res);
        endResponse(
          refused === undefined
            ? await label(options, encodedId, request, serverContext, fetchAPI)
            : httpErrorResponse(refused, serverContext, fetchAPI),
        );
      } else if (request.method !== 'OPTIONS') {
        endResponse(httpErrorResponse(methodNotAllowed('GET, HEAD'), serverContext, fetchAPI));
      }
    },
  };
}

async function label(
  { api, callContexts, perTokenLimit, report, tracing }: LabelOptions,
  encodedId: string,
  request: Request,
  context: NodeContext,
  fetchAPI: FetchAPI,
): Promise<Response> {
  const { res: response, requestRecord } = context;
  try {
    const bearer = bearerOf(request.headers);
    if (bearer instanceof MissingBearerError) throw bearer;
    const id = decoded(encodedId);
    const callContext = callContexts.of(bearer, request.signal);
    if (requestRecord !== undefined) {
      requestRecord.callContext = callContext;
      tracing?.begin(requestRecord, request.headers);
    }
    const refused = perTokenLimit.admit(callContext.tenant, response);
    if (refused !== undefined) return httpErrorResponse(refused, context, fetchAPI);
    const { body, contentLength } = await api.getLabel(id, callContext);
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
    const { code, ...content } = toClientError(error);
    const httpError = { status: statusByCode[code] ?? 502, code, ...content };
    if (code !== 'INTERNAL_SERVER_ERROR') return httpErrorResponse(httpError, context, fetchAPI);
    report(error, requestRecord?.requestId);
    return httpErrorResponse({ ...httpError, requestId: requestRecord?.requestId }, context, fetchAPI);
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
