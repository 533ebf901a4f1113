import type { Plugin } from 'graphql-yoga';
import type { Cors } from './cors.ts';

/** What every answer says to browsers and to caches, unless it says something else itself. */
export const fixedHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const;

/** For a year, which is what browsers want at least to take a server at its word. */
const strictTransportSecurity = 'max-age=31536000';

export interface ResponseHeadersOptions {
  cors: Cors;
  /** Whether clients reach this server by https, so that browsers can be told never to use http. */
  isHttps: boolean;
}

/** Gives every answer the headers that keep browsers from misusing it, and answers their preflights. */
export function responseHeaders({ cors, isHttps }: ResponseHeadersOptions): Plugin {
  const fixed = Object.entries({
    ...fixedHeaders,
    ...(isHttps && { 'strict-transport-security': strictTransportSecurity }),
  });
  return {
    onRequest({ request, fetchAPI, endResponse }) {
      if (request.method !== 'OPTIONS' || !cors.isPreflight(request.headers)) return;
      endResponse(
        new fetchAPI.Response(null, { status: 204, headers: cors.preflightHeaders(request.headers) }),
      );
    },
    onResponse({ request, response: { headers } }) {
      // The library keeps a connection for parts and events that the client may want closed, which is Node's to know.
      if (headers.get('connection') === 'keep-alive') headers.delete('connection');
      for (const [name, value] of fixed) if (!headers.has(name)) headers.set(name, value);
      if (cors.isOff) return;
      // The same address is answered with other headers to another origin.
      headers.append('vary', 'origin');
      if (request.method === 'OPTIONS') return;
      for (const [name, value] of cors.headersFor(request.headers.get('origin'))) headers.set(name, value);
    },
  };
}
