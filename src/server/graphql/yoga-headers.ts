import type { Plugin } from 'graphql-yoga';
import type { ResponseHeaders } from '../http/response-headers.ts';

/** Yoga plugin: adds the headers to every response and responds to CORS preflights. */
export function yogaHeaders({ fixed, vary, hasCors, corsHeaders }: ResponseHeaders): Plugin {
  const isPreflight = ({ method, headers }: Request): boolean =>
    method === 'OPTIONS' && hasCors && headers.has('origin') && headers.has('access-control-request-method');

  /** Without CORS headers if the origin is not allowed. */
  function preflightHeaders(headers: Headers): Record<string, string> {
    const varyHeader = { vary: 'origin, access-control-request-headers' };
    const [allowOrigin] = corsHeaders(headers);
    if (allowOrigin === undefined) return varyHeader;
    return {
      ...varyHeader,
      ...Object.fromEntries([allowOrigin]),
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': headers.get('access-control-request-headers') ?? '',
      // Two hours, the maximum of Chromium.
      'access-control-max-age': '7200',
    };
  }

  return {
    onRequest({ request, fetchAPI, endResponse }) {
      if (!isPreflight(request)) return;
      endResponse(new fetchAPI.Response(null, { status: 204, headers: preflightHeaders(request.headers) }));
    },
    onResponse({ request, response: { headers } }) {
      for (const [name, value] of fixed) if (!headers.has(name)) headers.set(name, value);
      // The response to a preflight has its own CORS headers.
      if (isPreflight(request)) return;
      for (const [name, value] of vary) headers.append(name, value);
      for (const [name, value] of corsHeaders(request.headers)) headers.set(name, value);
    },
  };
}
