import type { FetchAPI, Plugin } from 'graphql-yoga';
import { quoteForMessage } from '../../base/quote-for-message.ts';
import { noDeadline } from '../../concurrency/operation-scope.ts';
import type { RestApi } from '../../rest/api.ts';
import type { CallContext, CallContexts } from '../../rest/client/call-context.ts';
import { BadInputError, MissingBearerError } from '../../rest/errors.ts';
import type { ReportError } from '../../telemetry/error-report.ts';
import type { Tracing } from '../../telemetry/otlp-tracing.ts';
import { countError } from '../../telemetry/request-record.ts';
import { httpErrorResponse, type YogaContext } from '../graphql/yoga-context.ts';
import { acceptsHtml } from '../http/content-negotiation.ts';
import { methodNotAllowedError } from '../http/http-error.ts';
import { pointsPerLabel } from '../limits/operation-limits.ts';
import type { RateLimit } from '../limits/points-bucket.ts';
import { readBearer } from '../operations/bearer.ts';
import { toClientError } from '../operations/client-error.ts';
import type { EnterLabelQueue } from './label-queue.ts';
import { streamedBody } from './streamed-body.ts';

const route = /^\/labels\/([^/]+)\.pdf$/;

export interface LabelRouteOptions {
  api: RestApi;
  callContexts: CallContexts;
  enterQueue: EnterLabelQueue;
  /** Called with the context of each label, so that links of its token share its slots. */
  onToken: (callContext: CallContext) => void;
  /** Undefined: no rate limit. */
  rateLimit: RateLimit | undefined;
  report: ReportError;
  tracing: Tracing | undefined;
}

/**
 * `GET /labels/{shipment id}.pdf`: streams the label of a shipment from REST, with the client's access token, by
 * `GET /v1/shipments/{id}/label` ("Endpoints"). Errors are JSON with the same codes as in the graph. A person who
 * opens the address in a browser gets a page instead.
 */
export function yogaLabelRoute(options: LabelRouteOptions): Plugin<object, YogaContext> {
  return {
    async onRequest({ request, url, serverContext, endResponse, fetchAPI }) {
      const encodedId = route.exec(url.pathname)?.[1];
      if (encodedId === undefined) return;
      if (serverContext.requestRecord !== undefined) serverContext.requestRecord.route = 'label';
      if (request.method === 'GET' || request.method === 'HEAD')
        endResponse(await labelResponse(options, encodedId, request, serverContext, fetchAPI));
      else if (request.method !== 'OPTIONS')
        endResponse(httpErrorResponse(methodNotAllowedError, serverContext, fetchAPI));
    },
  };
}

async function labelResponse(
  { api, callContexts, enterQueue, onToken, rateLimit, report, tracing }: LabelRouteOptions,
  encodedId: string,
  request: Request,
  context: YogaContext,
  fetchAPI: FetchAPI,
): Promise<Response> {
  const { res: response, requestRecord } = context;
  try {
    // A browser that opens the address sends no access token.
    if (!request.headers.has('authorization') && acceptsHtml(request.headers.get('accept')))
      return missingTokenPage(context, fetchAPI);
    const bearer = readBearer(request.headers);
    if (bearer instanceof MissingBearerError) throw bearer;
    const id = decodeId(encodedId);
    const callContext = callContexts.of(bearer, request.signal, noDeadline, response.req.socket);
    if (requestRecord !== undefined) {
      requestRecord.callContext = callContext;
      tracing?.begin(requestRecord, request.headers);
    }
    onToken(callContext);
    const limitError =
      rateLimit?.charge(callContext.tenant, pointsPerLabel).error ??
      (await enterQueue(callContext.owner, response));
    if (limitError !== undefined) return httpErrorResponse(limitError, context, fetchAPI);
    const { body, contentLength } = await api.getLabel(id, callContext);
    const headers = {
      'content-type': 'application/pdf',
      'content-disposition': `inline; ${fileNameParameters(id)}`,
      'cache-control': 'private, no-store',
      ...(contentLength !== undefined && { 'content-length': contentLength }),
    };
    if (request.method === 'GET') return new fetchAPI.Response(streamedBody(body, response), { headers });
    // REST has no HEAD for labels. Destroying the body aborts the download.
    body.on('error', () => {}).destroy();
    return new fetchAPI.Response(null, { headers });
  } catch (error) {
    const clientError = toClientError(error);
    const isMasked = clientError.code === 'INTERNAL_SERVER_ERROR';
    if (isMasked) report(error, requestRecord?.requestId);
    const httpError = {
      status: statusByCode[clientError.code] ?? 502,
      ...clientError,
      ...(isMasked && { requestId: requestRecord?.requestId }),
      // A browser gets a page in place of this error.
      ...(error instanceof MissingBearerError && { headers: { vary: 'accept' } }),
    };
    return httpErrorResponse(httpError, context, fetchAPI);
  }
}

const missingTokenHtml = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>This label needs an access token</title>
  </head>
  <body>
    <h1>This label needs an access token</h1>
    <p>A browser that opens this address sends no access token, so there is no label to show.</p>
    <p>To open a label in a browser, query <code>Label.url</code>. Its value is a signed address. Open that address:</p>
    <pre>{ shipment(id: "…") { label { url } } }</pre>
    <p>Code can also fetch this address with the header <code>Authorization: Bearer &lt;access token&gt;</code>.</p>
  </body>
</html>
`;

function missingTokenPage({ requestRecord }: YogaContext, { Response }: FetchAPI): Response {
  if (requestRecord !== undefined) countError(requestRecord, 'UNAUTHENTICATED');
  return new Response(missingTokenHtml, {
    status: 401,
    headers: { 'content-type': 'text/html; charset=utf-8', vary: 'accept', 'www-authenticate': 'Bearer' },
  });
}

/** Decodes an identifier from a path. @throws BadInputError if the percent-encoding is invalid. */
function decodeId(encodedId: string): string {
  try {
    return decodeURIComponent(encodedId);
  } catch {
    throw new BadInputError(
      `Expected a percent-encoded id of a shipment, but got ${quoteForMessage(encodedId)}.`,
    );
  }
}

/** The file name in `content-disposition`. Special characters require a second, encoded form (RFC 6266). */
function fileNameParameters(id: string): string {
  const plain = `label-${id.replace(/[^\w.~-]/g, '_')}.pdf`;
  if (plain === `label-${id}.pdf`) return `filename="${plain}"`;
  const encoded = encodeURIComponent(id).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );
  return `filename="${plain}"; filename*=UTF-8''label-${encoded}.pdf`;
}

/** Any other code is a failure of REST: 502. */
const statusByCode: Record<string, number> = {
  BAD_USER_INPUT: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  RATE_LIMITED: 429,
  REQUEST_ABORTED: 499,
  INTERNAL_SERVER_ERROR: 500,
  UPSTREAM_UNAVAILABLE: 503,
  UPSTREAM_CIRCUIT_OPEN: 503,
  OVERLOADED: 503,
  UPSTREAM_TIMEOUT: 504,
};
