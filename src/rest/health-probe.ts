import { createDispatcher, failureCode, type ProxyOptions, userAgent } from './connection-pools.ts';
import { isOfGateway } from './gateway-statuses.ts';

export interface ProbeOptions {
  baseUrl: URL;
  /** The longest time for the response, in milliseconds. By default 2 seconds. */
  timeoutMs?: number;
  proxy?: ProxyOptions | undefined;
}

/**
 * A probe that checks whether REST is reachable, on a new connection and without an access token.
 * Any HTTP response is a success, because REST may reject an unauthenticated request.
 * @returns a function that resolves to the failure without REST's address, or to undefined if REST is reachable.
 */
export function createProbe(options: ProbeOptions): () => Promise<string | undefined> {
  return async () => {
    const result = await request(options, 'HEAD', '');
    return typeof result === 'string' ? `The REST service could not be reached: ${result}.` : undefined;
  };
}

/**
 * Says how REST answers a list of orders without an access token, which it refuses with 401 or 403 ("Authentication").
 * Another status below 500, but no gateway's, is that of a web page, of another service, or of a wrong base path.
 */
export async function describeRest(options: ProbeOptions): Promise<string> {
  const result = await request(options, 'GET', '/v1/orders');
  if (typeof result === 'string') return `does not respond: ${result}; the server starts anyway`;
  if (result === 401 || result === 403) return 'responds';
  const status = `GET /v1/orders without a token returned ${result}`;
  return result >= 500 || isOfGateway(result)
    ? `${status}; the server starts anyway`
    : `WARNING: ${status}, but 401 or 403 was expected. Check UPSTREAM_URL`;
}

/** @returns the status, or a few words about the failure. */
async function request(options: ProbeOptions, method: 'HEAD' | 'GET', path: string) {
  const { baseUrl, timeoutMs = 2_000, proxy } = options;
  const dispatcher = createDispatcher(baseUrl, { connections: 1, connectTimeoutMs: timeoutMs, proxy });
  let isTimedOut = false;
  // An abort signal would not end the wait for a connection.
  const timer = setTimeout(() => {
    isTimedOut = true;
    void dispatcher.destroy();
  }, timeoutMs);
  try {
    const { statusCode, body } = await dispatcher.request({
      origin: baseUrl.origin,
      method,
      path: path === '' ? baseUrl.pathname : `${baseUrl.pathname.replace(/\/$/, '')}${path}`,
      headers: { 'user-agent': userAgent },
    });
    await body.dump();
    return statusCode;
  } catch (error) {
    return isTimedOut ? `no response within ${timeoutMs} ms` : failureCode(error);
  } finally {
    clearTimeout(timer);
    await dispatcher.destroy();
  }
}
