import { errors as undiciErrors } from 'undici';
import {
  createDispatcher,
  failureCode,
  isRefusedByProxy,
  type ProxyOptions,
  userAgent,
} from './connection-pools.ts';
import { isOfGateway } from './gateway-statuses.ts';

export interface ProbeOptions {
  baseUrl: URL;
  /** The longest time for the response, in milliseconds. By default 2 seconds. */
  timeoutMs?: number;
  proxy?: ProxyOptions | undefined;
}

/** What a probe finds out, in sentences without REST's address. */
export interface ProbeResult {
  /** Why no connection to REST opened. */
  unreachable?: string;
  /** What is wrong although a connection opened. */
  problem?: string;
}

/**
 * A probe that checks whether a connection to REST opens, without an access token. Any HTTP response is a success, because
 * REST may reject an unauthenticated request. A connection without a response is a problem: REST may be slow.
 */
export function createProbe(options: ProbeOptions): () => Promise<ProbeResult> {
  return async () => {
    const result = await request(options, 'HEAD', '');
    if (typeof result === 'number') return {};
    if (!result.isConnected)
      return { unreachable: `The REST service could not be reached: ${result.reason}.` };
    return { problem: `The REST service accepts a connection, but does not respond: ${result.reason}.` };
  };
}

/**
 * Says how REST answers a list of orders without an access token, which it refuses with 401 or 403 ("Authentication").
 * Any other status below 500 that no gateway sends comes from a web page, another service or a wrong base path.
 */
export async function describeRest(options: ProbeOptions): Promise<string> {
  const result = await request(options, 'GET', '/v1/orders');
  if (typeof result !== 'number') return `does not respond: ${result.reason}; the server starts anyway`;
  if (result === 401 || result === 403) return 'responds';
  const status = `GET /v1/orders without a token returned ${result}`;
  return result >= 500 || isOfGateway(result)
    ? `${status}; the server starts anyway`
    : `WARNING: ${status} instead of 401 or 403, so this may be another service or a wrong path. Check UPSTREAM_URL`;
}

interface ProbeFailure {
  /** Whether a connection opened, through the proxy too. */
  isConnected: boolean;
  /** A few words. */
  reason: string;
}

/** @returns the status, or why there is none. */
async function request(
  { baseUrl, timeoutMs = 2_000, proxy }: ProbeOptions,
  method: 'HEAD' | 'GET',
  path: string,
): Promise<number | ProbeFailure> {
  const dispatcher = createDispatcher(baseUrl, { connections: 1, connectTimeoutMs: timeoutMs, proxy });
  let isConnected = false;
  const response = Promise.withResolvers<number>();
  // An abort signal would not end the wait for a connection.
  const timer = setTimeout(() => {
    const what = isConnected ? 'no response' : 'no connection';
    response.reject(new ProbeTimeoutError(`${what} within ${timeoutMs} ms`));
  }, timeoutMs);
  try {
    dispatcher.dispatch(
      {
        origin: baseUrl.origin,
        method,
        path: path === '' ? baseUrl.pathname : `${baseUrl.pathname.replace(/\/$/, '')}${path}`,
        headers: { 'user-agent': userAgent },
      },
      {
        onRequestStart() {
          isConnected = true;
        },
        onResponseStart(_controller, status) {
          // Another response follows a 1xx response.
          if (status >= 200) response.resolve(status);
        },
        onResponseData() {},
        onResponseEnd() {},
        onResponseError: (_controller, error) => response.reject(error),
      },
    );
    return await response.promise;
  } catch (error) {
    return { isConnected: isConnected && !isRefusedByProxy(error), reason: reasonOf(error) };
  } finally {
    clearTimeout(timer);
    await dispatcher.destroy();
  }
}

class ProbeTimeoutError extends Error {}

function reasonOf(error: unknown): string {
  if (error instanceof ProbeTimeoutError) return error.message;
  return error instanceof undiciErrors.HTTPParserError ? 'no valid HTTP response' : failureCode(error);
}
