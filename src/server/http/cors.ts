import type { HeaderReader } from '../../telemetry/request-record.ts';

/** Cross-origin resource sharing: which origins' pages may read responses of this server. */
export interface Cors {
  /** Whether no origin is allowed. Responses then have no CORS headers. */
  readonly isOff: boolean;
  /** Whether an OPTIONS request with these headers is a preflight. */
  isPreflight(headers: HeaderReader): boolean;
  /** The headers of the response to a preflight. Empty if the origin is not allowed. */
  preflightHeaders(headers: HeaderReader): Record<string, string>;
  /** The CORS headers of a response to a page of this origin. Empty if the origin is not allowed. */
  headersFor(origin: string | null): readonly (readonly [string, string])[];
}

const allowedHeaders = [
  'authorization',
  'content-type',
  'graphql-require-preflight',
  'apollo-require-preflight',
  'x-apollo-operation-name',
  'x-request-id',
  'x-upstream-cost',
].join(', ');

const exposedHeaders = [
  'access-control-expose-headers',
  'content-disposition, retry-after, x-request-id',
] as const;

const noHeaders: readonly (readonly [string, string])[] = [];

/**
 * Allows exactly these origins. Pages set the access token in a header themselves, so cookies and other browser
 * credentials are never allowed.
 */
export function createCors(origins: readonly string[]): Cors {
  const headersByOrigin = new Map(
    origins.map((origin) => [origin, [['access-control-allow-origin', origin], exposedHeaders] as const]),
  );
  return {
    isOff: origins.length === 0,
    isPreflight: (headers) =>
      origins.length > 0 &&
      headers.get('origin') !== null &&
      headers.get('access-control-request-method') !== null,
    preflightHeaders(headers) {
      const origin = headers.get('origin');
      if (origin === null || !headersByOrigin.has(origin)) return {};
      return {
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'GET, POST',
        'access-control-allow-headers': allowedHeaders,
        // Two hours, the maximum of Chromium.
        'access-control-max-age': '7200',
      };
    },
    headersFor: (origin) => (origin === null ? noHeaders : (headersByOrigin.get(origin) ?? noHeaders)),
  };
}
