import type { Plugin } from 'graphql-yoga';
import type { HeaderReader } from '../../telemetry/request-record.ts';
import type { Cors } from './cors.ts';

/** The default headers of every response. A response may override them. */
export const fixedHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const;

/** One year, the minimum for the preload lists of browsers. */
const strictTransportSecurity = 'max-age=31536000';

/** The settings that response headers depend on. */
export interface ResponseHeadersOptions {
  cors: Cors;
  /** Whether clients reach this server by HTTPS. If so, `strict-transport-security` is sent. */
  isHttps: boolean;
  /** Whether responses are compressed. They then depend on `accept-encoding`. */
  compressResponses: boolean;
}

/** The security and CORS headers of responses. */
export interface ResponseHeaders {
  /** The default headers of every response. A response may override them. */
  readonly fixed: readonly (readonly [name: string, value: string])[];
  /** The additional headers for a request with these headers. They depend on its `Origin`. */
  forRequest(headers: HeaderReader): readonly (readonly [name: string, value: string])[];
}

/** Creates the response headers once, for all requests. */
export function createResponseHeaders(options: ResponseHeadersOptions): ResponseHeaders {
  const { cors, isHttps, compressResponses } = options;
  // The responses of one URL differ by these request headers.
  const vary = [!cors.isOff && 'origin', compressResponses && 'accept-encoding'].filter(Boolean).join(', ');
  const varyHeaders = vary === '' ? [] : [['vary', vary] as const];
  return {
    fixed: Object.entries({
      ...fixedHeaders,
      ...(isHttps && { 'strict-transport-security': strictTransportSecurity }),
    }),
    forRequest(headers) {
      const corsHeaders = cors.headersFor(headers);
      return cors.isOff ? varyHeaders : [...varyHeaders, ...corsHeaders];
    },
  };
}

/** Yoga plugin: adds the headers to every response and responds to CORS preflights. */
export function responseHeaders({ fixed, forRequest }: ResponseHeaders, cors: Cors): Plugin {
  const isPreflight = ({ method, headers }: Request) => method === 'OPTIONS' && cors.isPreflight(headers);
  return {
    onRequest({ request, fetchAPI, endResponse }) {
      if (!isPreflight(request)) return;
      endResponse(
        new fetchAPI.Response(null, { status: 204, headers: cors.preflightHeaders(request.headers) }),
      );
    },
    onResponse({ request, response: { headers } }) {
      // Yoga sets `keep-alive` for streams even if the client requested `close`. Node sets the correct value.
      if (headers.get('connection') === 'keep-alive') headers.delete('connection');
      // Yoga sets `no-cache` for streams, which permits caches to store them.
      if (headers.get('cache-control') === 'no-cache') headers.delete('cache-control');
      // Yoga sets `none` for event streams, which is no coding of HTTP (RFC 9110, section 8.4).
      if (headers.get('content-encoding') === 'none') headers.delete('content-encoding');
      for (const [name, value] of fixed) if (!headers.has(name)) headers.set(name, value);
      // The response to a preflight has its own CORS headers.
      if (isPreflight(request)) return;
      for (const [name, value] of forRequest(request.headers)) {
        if (name === 'vary') headers.append(name, value);
        else headers.set(name, value);
      }
    },
  };
}
