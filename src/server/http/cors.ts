import type { HeaderReader } from '../../telemetry/request-record.ts';

export type HeaderList = readonly (readonly [name: string, value: string])[];

const exposedHeaders = [
  'access-control-expose-headers',
  'content-disposition, retry-after, x-request-id',
] as const;

export type Cors = ReturnType<typeof createCors>;

/**
 * Allows exactly the pages of these origins to read responses, with any request header and without cookies
 * (docs/decisions/0018-any-header-for-listed-origins.md).
 * @param onRefused called for each request and preflight of a page whose origin is not allowed.
 */
export function createCors(origins: readonly string[], onRefused?: () => void) {
  /** Whether no origin is allowed. Responses then have no CORS headers. */
  const isOff = origins.length === 0;
  const headersByOrigin = new Map<string, HeaderList>(
    origins.map((origin) => [origin, [['access-control-allow-origin', origin], exposedHeaders]]),
  );

  function headersFor(headers: HeaderReader): HeaderList {
    const origin = headers.get('origin');
    if (origin === null) return [];
    const allowed = headersByOrigin.get(origin);
    if (allowed === undefined && !isOwnPage(origin, headers)) onRefused?.();
    return allowed ?? [];
  }

  return {
    isOff,
    headersFor,
    isPreflight: ({ method, headers }: Request): boolean =>
      method === 'OPTIONS' && !isOff && headers.has('origin') && headers.has('access-control-request-method'),
    /** The headers of the response to a preflight. Without CORS headers if the origin is not allowed. */
    preflightHeaders(headers: HeaderReader): Record<string, string> {
      const vary = { vary: 'origin, access-control-request-headers' };
      const [allowOrigin] = headersFor(headers);
      if (allowOrigin === undefined) return vary;
      return {
        ...vary,
        ...Object.fromEntries([allowOrigin]),
        'access-control-allow-methods': 'GET, POST',
        'access-control-allow-headers': headers.get('access-control-request-headers') ?? '',
        // Two hours, the maximum of Chromium.
        'access-control-max-age': '7200',
      };
    },
  };
}

/** Whether the page is of this server, such as GraphiQL. Browsers send the origin of such a page too. */
function isOwnPage(origin: string, headers: HeaderReader): boolean {
  return headers.get('sec-fetch-site') === 'same-origin' || origin.endsWith(`://${headers.get('host')}`);
}
