import type { Plugin } from 'graphql-yoga';
import type { HeaderReader } from '../../telemetry/request-record.ts';
import type { Cors, HeaderList } from './cors.ts';

/** The default headers of every response. A response may override them. */
export const fixedHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const;

/** One year, the minimum for the preload lists of browsers. */
const strictTransportSecurity = 'max-age=31536000';

export class ResponseHeaders {
  readonly fixed: HeaderList;
  readonly #flatFixed: readonly string[];
  readonly cors: Cors;
  /** The responses of one URL differ by these request headers. */
  readonly #vary: HeaderList;

  /** @param isHttps whether clients reach this server by HTTPS. */
  constructor(cors: Cors, isHttps: boolean, compressResponses: boolean) {
    this.fixed = Object.entries({
      ...fixedHeaders,
      ...(isHttps && { 'strict-transport-security': strictTransportSecurity }),
    });
    this.#flatFixed = this.fixed.flat();
    this.cors = cors;
    const vary = [!cors.isOff && 'origin', compressResponses && 'accept-encoding'].filter(Boolean);
    this.#vary = vary.length === 0 ? [] : [['vary', vary.join(', ')]];
  }

  /** The additional headers for a request with these headers. They depend on its `Origin`. */
  forRequest(headers: HeaderReader): HeaderList {
    return [...this.#vary, ...this.cors.headersFor(headers)];
  }

  /** All headers of the response to a request, as names and values in turn. */
  flatFor(headers: HeaderReader): string[] {
    const flat = [...this.#flatFixed];
    for (const [name, value] of this.forRequest(headers)) flat.push(name, value);
    return flat;
  }
}

/** Yoga plugin: adds the headers to every response and responds to CORS preflights. */
export function responseHeaders(responseHeaders: ResponseHeaders): Plugin {
  const { fixed, cors } = responseHeaders;
  return {
    onRequest({ request, fetchAPI, endResponse }) {
      if (!cors.isPreflight(request)) return;
      endResponse(
        new fetchAPI.Response(null, { status: 204, headers: cors.preflightHeaders(request.headers) }),
      );
    },
    onResponse({ request, response: { headers } }) {
      for (const [name, value] of fixed) if (!headers.has(name)) headers.set(name, value);
      // The response to a preflight has its own CORS headers.
      if (cors.isPreflight(request)) return;
      for (const [name, value] of responseHeaders.forRequest(request.headers)) {
        if (name === 'vary') headers.append(name, value);
        else headers.set(name, value);
      }
    },
  };
}
