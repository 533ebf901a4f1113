import type { FetchAPI, Plugin } from 'graphql-yoga';
import type { ReportError } from '../../telemetry/error-report.ts';
import { compress } from '../http/compression.ts';
import { type ContentCoding, contentCoding } from '../http/content-negotiation.ts';
import type { YogaContext } from './yoga-context.ts';

// Not PDFs, whose contents are compressed already.
const compressedTypes = /^(?:application\/json|application\/graphql-response\+json|text\/plain);/;

/** Yoga plugin: compresses responses. If zlib fails, the error is reported, and the client gets the uncompressed body. */
export function yogaCompression(report: ReportError): Plugin<object, YogaContext> {
  return {
    // Not async, because an async hook creates a promise for every response.
    onResponse({ request, response, serverContext, setResponse, fetchAPI }) {
      const { headers } = response;
      if (!compressedTypes.test(headers.get('content-type') ?? '')) return undefined;
      // 0 for a response without a length, such as a stream. It is not compressed.
      const byteLength = Number(headers.get('content-length'));
      const coding = contentCoding(byteLength, request.headers.get('accept-encoding'));
      if (coding === undefined || request.signal.aborted) return undefined;
      return compressedResponse(response, coding, fetchAPI).then(setResponse, (error: unknown) =>
        report(error, serverContext.requestRecord?.requestId),
      );
    },
  };
}

async function compressedResponse(response: Response, coding: ContentCoding, fetchAPI: FetchAPI) {
  const body = await compress(await response.text(), coding);
  const headers = new fetchAPI.Headers(response.headers);
  headers.set('content-encoding', coding);
  headers.set('content-length', String(body.length));
  return new fetchAPI.Response(body, { status: response.status, headers });
}
