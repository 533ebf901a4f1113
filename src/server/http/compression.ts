import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FetchAPI, Plugin } from 'graphql-yoga';
import type { ReportError } from '../../telemetry/error-report.ts';
import { parseWeights } from './media-types.ts';
import type { NodeContext } from './node-context.ts';

export type ContentCoding = 'br' | 'gzip';

/** Smaller bodies are not compressed, because they fit into one packet of the network anyway. */
const minCompressedBytes = 1_024;

// Higher levels save a few more percent, for up to twice the CPU time.
const gzipOptions = { level: 4 };
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify(gzip);

/** Compresses a body outside the main thread (docs/decisions/0017-compressed-responses.md). @throws errors of zlib. */
export async function compress(
  body: string | Uint8Array,
  coding: ContentCoding,
): Promise<Buffer<ArrayBuffer>> {
  return coding === 'br' ? brotliAsync(body, brotliOptions) : gzipAsync(body, gzipOptions);
}

/**
 * The coding of a response body by `accept-encoding` (RFC 9110, section 12.5.3). At equal weights, Brotli comes before
 * gzip, and both come before no coding.
 * @returns undefined if the body is too small, or if its client accepts no coding.
 */
export function contentCoding(
  byteLength: number,
  acceptEncoding: string | null | undefined,
): ContentCoding | undefined {
  if (byteLength < minCompressedBytes || !acceptEncoding) return undefined;
  const weights = new Map(parseWeights(acceptEncoding).map(({ name, weight }) => [name, weight]));
  const others = weights.get('*') ?? 0;
  const br = weights.get('br') ?? others;
  const gzip = weights.get('gzip') ?? others;
  const identity = weights.get('identity') ?? 0;
  if (Math.max(br, gzip) === 0 || identity > Math.max(br, gzip)) return undefined;
  return br >= gzip ? 'br' : 'gzip';
}

// Labels are compressed inside.
const compressedTypes = /^(?:application\/json|application\/graphql-response\+json|text\/plain);/;

/** Yoga plugin: compresses responses. If zlib fails, the error is reported, and the client gets the uncompressed body. */
export function compressedResponses(report: ReportError): Plugin<object, NodeContext> {
  return {
    // Not async, because an async hook creates a promise for every response.
    onResponse({ request, response, serverContext, setResponse, fetchAPI }) {
      const { headers } = response;
      if (!compressedTypes.test(headers.get('content-type') ?? '')) return undefined;
      const byteLength = Number(headers.get('content-length'));
      const coding = contentCoding(byteLength, request.headers.get('accept-encoding'));
      if (coding === undefined || request.signal.aborted) return undefined;
      return compressedResponse(response, coding, fetchAPI).then(setResponse, (error: unknown) =>
        report(error, serverContext.requestRecord?.requestId),
      );
    },
  };
}

async function compressedResponse(
  response: Response,
  coding: ContentCoding,
  fetchAPI: FetchAPI,
): Promise<Response> {
  const body = await compress(await response.text(), coding);
  const headers = new fetchAPI.Headers(response.headers);
  headers.set('content-encoding', coding);
  headers.set('content-length', String(body.length));
  return new fetchAPI.Response(body, { status: response.status, headers });
}
