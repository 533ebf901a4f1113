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

/** The headers that keep browsers from misusing an answer. */
export interface ResponseHeaders {
  /** Those of every answer that says nothing else itself. */
  readonly fixed: readonly (readonly [name: string, value: string])[];
  /** Those of an answer to a page of this origin, if it comes from one. */
  forOrigin(origin: string | null): readonly (readonly [name: string, value: string])[];
}

const none: readonly (readonly [string, string])[] = [];
// The same address is answered with other headers to another origin.
const vary = ['vary', 'origin'] as const;

export function createResponseHeaders({ cors, isHttps }: ResponseHeadersOptions): ResponseHeaders {
  return {
    fixed: Object.entries({
      ...fixedHeaders,
      ...(isHttps && { 'strict-transport-security': strictTransportSecurity }),
    }),
    forOrigin: (origin) => (cors.isOff ? none : [vary, ...cors.headersFor(origin)]),
  };
}

/** Gives them to every answer of Yoga's, and answers the preflights of browsers. */
export function responseHeaders({ fixed, forOrigin }: ResponseHeaders, cors: Cors): Plugin {
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
      // A preflight says what it permits itself.
      const origin = request.method === 'OPTIONS' ? null : request.headers.get('origin');
      for (const [name, value] of forOrigin(origin)) {
        if (name === 'vary') headers.append(name, value);
        else headers.set(name, value);
      }
    },
  };
}
