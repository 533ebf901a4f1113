import { Readable } from 'node:stream';
import type { FetchAPI, Plugin } from 'graphql-yoga';
import type { LabelDocuments } from '../../printing/label-documents.ts';
import type { StoredDocument } from '../../printing/store/document-store.ts';
import type { ReportError } from '../../telemetry/error-report.ts';
import { countError } from '../../telemetry/request-record.ts';
import { StoreUnavailableError } from '../../writes/store/key-store.ts';
import { httpErrorResponse, type YogaContext } from '../graphql/yoga-context.ts';
import { acceptsHtml } from '../http/content-negotiation.ts';
import { type HttpError, methodNotAllowedError, overloaded, rejection } from '../http/http-error.ts';
import { toClientError } from '../operations/client-error.ts';
import type { EnterLabelQueue } from './label-queue.ts';
import { streamedBody } from './streamed-body.ts';

const route = /^\/documents\/([^/]+)\.pdf$/;

export interface DocumentRouteOptions {
  documents: Pick<LabelDocuments, 'find'>;
  enterQueue: EnterLabelQueue;
  report: ReportError;
}

/**
 * `GET /documents/{id}.pdf`: a document of labels, for everybody who has the link. Each id that is not alive gets the same
 * response.
 */
export function yogaDocumentRoute(options: DocumentRouteOptions): Plugin<object, YogaContext> {
  return {
    async onRequest({ request, url, serverContext, endResponse, fetchAPI }) {
      const id = route.exec(url.pathname)?.[1];
      if (id === undefined) return;
      const { requestRecord } = serverContext;
      if (requestRecord !== undefined) requestRecord.route = 'document';
      if (request.method === 'GET' || request.method === 'HEAD')
        endResponse(await documentResponse(options, id, request, serverContext, fetchAPI));
      else if (request.method !== 'OPTIONS')
        endResponse(httpErrorResponse(methodNotAllowedError, serverContext, fetchAPI));
    },
  };
}

async function documentResponse(
  { documents, enterQueue, report }: DocumentRouteOptions,
  id: string,
  request: Request,
  context: YogaContext,
  fetchAPI: FetchAPI,
): Promise<Response> {
  const { res: response, requestRecord } = context;
  try {
    const owner = (await documents.find(id))?.owner;
    if (owner === undefined) return goneResponse(request, context, fetchAPI);
    const limitError = await enterQueue(owner, response);
    if (limitError !== undefined) return httpErrorResponse(limitError, context, fetchAPI);
    // The document may have ended while the request waited for its slot.
    const document = (await documents.find(id))?.document;
    if (document === undefined) return goneResponse(request, context, fetchAPI);
    const headers = documentHeaders(document);
    if (request.method === 'HEAD') return new fetchAPI.Response(null, { headers });
    const body = Readable.from(document.read(), { objectMode: false });
    return new fetchAPI.Response(streamedBody(body, response), { headers });
  } catch (error) {
    if (error instanceof StoreUnavailableError)
      return httpErrorResponse(overloaded(error.message), context, fetchAPI);
    report(error, requestRecord?.requestId);
    const httpError: HttpError = {
      status: 500,
      ...toClientError(error),
      requestId: requestRecord?.requestId,
    };
    return httpErrorResponse(httpError, context, fetchAPI);
  }
}

function documentHeaders({ bytes, createdAtMs }: StoredDocument): Record<string, string> {
  const day = new Date(createdAtMs).toISOString().slice(0, 10);
  return {
    'content-type': 'application/pdf',
    'content-length': String(bytes),
    'content-disposition': `inline; filename="labels-${day}.pdf"`,
    'cache-control': 'private, no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  };
}

const goneError: HttpError = {
  ...rejection(
    410,
    'NOT_FOUND',
    'This document does not exist, or is no longer available. Make a new document.',
  ),
  headers: { vary: 'accept' },
};

const goneHtml = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>This document is no longer available</title>
  </head>
  <body>
    <h1>This document is no longer available</h1>
    <p>A link to labels works for a limited time. Make a new document, and open its link.</p>
  </body>
</html>
`;

function goneResponse(request: Request, context: YogaContext, fetchAPI: FetchAPI): Response {
  if (!acceptsHtml(request.headers.get('accept'))) return httpErrorResponse(goneError, context, fetchAPI);
  if (context.requestRecord !== undefined) countError(context.requestRecord, goneError.code);
  return new fetchAPI.Response(goneHtml, {
    status: goneError.status,
    headers: { 'content-type': 'text/html; charset=utf-8', ...goneError.headers },
  });
}
