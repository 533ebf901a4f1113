import type { HeaderReader } from './http-types.ts';

type HeaderList = readonly (readonly [name: string, value: string])[];

/** The default headers of every response. A response may override them. */
export const fixedHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const;

/** One year, the minimum for the preload lists of browsers. */
const strictTransportSecurity = 'max-age=31536000';

const exposedHeaders = [
  'access-control-expose-headers',
  'content-disposition, retry-after, x-request-id',
] as const;

interface ResponseHeadersOptions {
  /**
   * Exactly the pages of these origins may read responses, with any request header and without cookies
   * (docs/design/what-a-response-carries.md#origins). With no origin, responses have no CORS headers.
   */
  corsOrigins: readonly string[] | undefined;
  /** The URL by which clients reach this server, if it is set. */
  publicUrl: URL | undefined;
  compressResponses: boolean;
}

export type ResponseHeaders = ReturnType<typeof createResponseHeaders>;

/**
 * The headers that all routes have.
 * @param onOriginRefused called with the origin for each request and preflight of a page whose origin is not allowed.
 */
export function createResponseHeaders(
  { corsOrigins = [], publicUrl, compressResponses }: ResponseHeadersOptions,
  onOriginRefused?: (origin: string) => void,
) {
  const fixed: HeaderList = Object.entries({
    ...fixedHeaders,
    ...(publicUrl?.protocol === 'https:' && { 'strict-transport-security': strictTransportSecurity }),
  });
  const flatFixed = fixed.flat();
  const hasCors = corsOrigins.length > 0;
  const corsByOrigin = new Map<string, HeaderList>(
    corsOrigins.map((origin) => [origin, [['access-control-allow-origin', origin], exposedHeaders]]),
  );
  // The responses of one URL differ by these request headers.
  const varyNames = [hasCors && 'origin', compressResponses && 'accept-encoding'].filter(Boolean);
  const vary: HeaderList = varyNames.length === 0 ? [] : [['vary', varyNames.join(', ')]];

  /** None if the request has no origin, or one that is not allowed. */
  function corsHeaders(headers: HeaderReader): HeaderList {
    const origin = headers.get('origin');
    if (origin === null) return [];
    const allowed = corsByOrigin.get(origin);
    if (allowed === undefined && !isOwnPage(origin, headers)) onOriginRefused?.(origin);
    return allowed ?? [];
  }

  return {
    /** The headers of the response to a request with these headers, as names and values in turn. */
    flatFor(headers: HeaderReader): string[] {
      const flat = [...flatFixed];
      for (const [name, value] of [...vary, ...corsHeaders(headers)]) flat.push(name, value);
      return flat;
    },
    /** The headers of every response, which a response may override. */
    fixed,
    vary,
    /** Whether any origin is allowed. */
    hasCors,
    corsHeaders,
  };
}

/** Whether the page is of this server, such as GraphiQL. Browsers send the origin of such a page too. */
function isOwnPage(origin: string, headers: HeaderReader): boolean {
  return headers.get('sec-fetch-site') === 'same-origin' || origin.endsWith(`://${headers.get('host')}`);
}
