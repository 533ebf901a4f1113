import type { HeaderReader } from '../../telemetry/request-record.ts';

/** Which pages of other origins may use this server from a browser. None is answered that is not configured. */
export interface Cors {
  /** Whether there is no such origin, so that no answer says anything of origins. */
  readonly isOff: boolean;
  /** Whether a browser asks by OPTIONS what it may send. */
  isPreflight(headers: HeaderReader): boolean;
  /** What a preflight is answered with: nothing that permits anything, for an origin that is not configured. */
  preflightHeaders(headers: HeaderReader): Record<string, string>;
  /** What an answer lets the page of an origin read. */
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

const exposed = ['access-control-expose-headers', 'content-disposition, retry-after, x-request-id'] as const;

const none: readonly (readonly [string, string])[] = [];

/**
 * Cross-origin resource sharing for these exact origins. Access tokens travel in a header that pages set by themselves, so
 * that credentials of the browser are never let through.
 */
export function createCors(origins: readonly string[]): Cors {
  const headersByOrigin = new Map(
    origins.map((origin) => [origin, [['access-control-allow-origin', origin], exposed] as const]),
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
        // Browsers keep it two hours at most.
        'access-control-max-age': '7200',
      };
    },
    headersFor: (origin) => (origin === null ? none : (headersByOrigin.get(origin) ?? none)),
  };
}
