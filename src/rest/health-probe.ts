import { createDispatcher, failureCode, type ProxyOptions, userAgent } from './dispatcher.ts';

export interface ProbeOptions {
  baseUrl: URL;
  /** The longest time for the response, in milliseconds. By default 2 seconds. */
  timeoutMs?: number;
  proxy?: ProxyOptions | undefined;
}

/**
 * Creates a probe that checks whether REST is reachable, on a new connection and without an access token.
 * Any HTTP response is a success, because REST may reject an unauthenticated request.
 * @returns a function that resolves to the failure without REST's address, or to undefined if REST is reachable.
 */
export function createProbe(options: ProbeOptions): () => Promise<string | undefined> {
  return async () => {
    const failure = await probeRest(options);
    return failure === undefined ? undefined : `REST could not be reached: ${failure}.`;
  };
}

/** Checks once, like `createProbe`. @returns a few words about the failure, such as `ECONNREFUSED`. */
export async function probeRest({
  baseUrl,
  timeoutMs = 2_000,
  proxy,
}: ProbeOptions): Promise<string | undefined> {
  const dispatcher = createDispatcher(baseUrl, {
    connections: 1,
    connectTimeoutMs: timeoutMs,
    headersTimeoutMs: timeoutMs,
    bodyTimeoutMs: timeoutMs,
    proxy,
  });
  let isTimedOut = false;
  const timer = setTimeout(() => {
    isTimedOut = true;
    void dispatcher.destroy();
  }, timeoutMs);
  try {
    const { body } = await dispatcher.request({
      origin: baseUrl.origin,
      method: 'HEAD',
      path: baseUrl.pathname,
      headers: { 'user-agent': userAgent },
    });
    await body.dump();
    return undefined;
  } catch (error) {
    return isTimedOut ? `no response within ${timeoutMs} ms` : failureCode(error);
  } finally {
    clearTimeout(timer);
    await dispatcher.destroy();
  }
}
