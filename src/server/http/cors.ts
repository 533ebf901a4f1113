import type { Log } from '../../telemetry/log.ts';
import type { HeaderReader } from '../../telemetry/request-record.ts';

/** Cross-origin resource sharing: which origins' pages may read responses of this server. */
export interface Cors {
  /** Whether no origin is allowed. Responses then have no CORS headers. */
  readonly isOff: boolean;
  /** Whether an OPTIONS request with these headers is a preflight. */
  isPreflight(headers: HeaderReader): boolean;
  /** The headers of the response to a preflight. Without CORS headers if the origin is not allowed. */
  preflightHeaders(headers: HeaderReader): Record<string, string>;
  /** The CORS headers of the response to a request. Empty if the origin is not allowed. */
  headersFor(headers: HeaderReader): readonly (readonly [string, string])[];
}

const exposedHeaders = [
  'access-control-expose-headers',
  'content-disposition, retry-after, x-request-id',
] as const;

const noHeaders: readonly (readonly [string, string])[] = [];

// A list of header names: tokens of RFC 9110, with commas between them.
const headerNames = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/;

/**
 * Allows exactly these origins. Pages set the access token in a header themselves, so cookies and other browser
 * credentials are never allowed. Any request header is allowed, because client libraries and traces add their own
 * (docs/decisions/0018-any-header-for-listed-origins.md).
 * @param log gets a line about each refused origin, at most once a minute.
 */
export function createCors(origins: readonly string[], log: Log): Cors {
  const headersByOrigin = new Map(
    origins.map((origin) => [origin, [['access-control-allow-origin', origin], exposedHeaders] as const]),
  );
  const logRefusal = createRefusalLog(log);
  return {
    isOff: origins.length === 0,
    isPreflight: (headers) =>
      origins.length > 0 &&
      headers.get('origin') !== null &&
      headers.get('access-control-request-method') !== null,
    preflightHeaders(headers) {
      const vary = { vary: 'origin, access-control-request-headers' };
      const origin = headers.get('origin');
      if (origin === null || !headersByOrigin.has(origin)) {
        logRefusal(headers);
        return vary;
      }
      const requestedHeaders = headers.get('access-control-request-headers') ?? '';
      return {
        ...vary,
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'GET, POST',
        ...(headerNames.test(requestedHeaders) && { 'access-control-allow-headers': requestedHeaders }),
        // Two hours, the maximum of Chromium.
        'access-control-max-age': '7200',
      };
    },
    headersFor(headers) {
      const origin = headers.get('origin');
      if (origin === null) return noHeaders;
      const allowed = headersByOrigin.get(origin);
      if (allowed === undefined) logRefusal(headers);
      return allowed ?? noHeaders;
    },
  };
}

// Any client can send any origin, so these limits bound the lines of the log.
const refusalPauseMs = 60_000;
const maxRefusalsPerPause = 20;
// The longest host name has 253 characters.
const maxOriginCharacters = 300;

/** Creates a function that logs the origin of a refused request. It logs each origin at most once a minute. */
function createRefusalLog(log: Log): (headers: HeaderReader) => void {
  // The oldest first.
  const loggedAtMsByOrigin = new Map<string, number>();
  return (headers) => {
    const origin = headers.get('origin');
    if (origin === null || !log.isLevelEnabled('info') || !isOrigin(origin) || isOwnPage(origin, headers))
      return;
    const nowMs = performance.now();
    for (const [loggedOrigin, loggedAtMs] of loggedAtMsByOrigin) {
      if (nowMs - loggedAtMs < refusalPauseMs) break;
      loggedAtMsByOrigin.delete(loggedOrigin);
    }
    if (loggedAtMsByOrigin.has(origin) || loggedAtMsByOrigin.size >= maxRefusalsPerPause) return;
    loggedAtMsByOrigin.set(origin, nowMs);
    log.info({ origin }, 'refused a page of an origin that CORS_ORIGINS does not list');
  };
}

/** Whether a browser can send this origin. Other texts do not belong in the log. */
function isOrigin(text: string): boolean {
  // Pages from files and in sandboxed frames send "null".
  return (
    text === 'null' || (text.length <= maxOriginCharacters && /^[a-z][a-z\d+.-]*:\/\/[\w.:[\]-]+$/.test(text))
  );
}

/** Whether the page is of this server, such as GraphiQL. Browsers send the origin of such a page too. */
function isOwnPage(origin: string, headers: HeaderReader): boolean {
  return headers.get('sec-fetch-site') === 'same-origin' || origin.endsWith(`://${headers.get('host')}`);
}
