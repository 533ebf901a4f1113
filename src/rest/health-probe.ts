import { Client } from 'undici';

/** Options of `createProbe`. */
export interface ProbeOptions {
  /** The base address of REST. */
  baseUrl: URL;
  /** The longest time for the response, in milliseconds. By default 2 seconds. */
  timeoutMs?: number;
}

/**
 * Creates a probe that checks whether REST is reachable, on a new connection and without an access token.
 * Any HTTP response is a success, because REST may reject an unauthenticated request.
 * @returns a function that resolves to the failure without REST's address, or to undefined if REST is reachable.
 */
export function createProbe({ baseUrl, timeoutMs = 2_000 }: ProbeOptions): () => Promise<string | undefined> {
  return async () => {
    const client = new Client(baseUrl.origin, {
      connect: { timeout: timeoutMs },
      headersTimeout: timeoutMs,
    });
    const timer = setTimeout(() => client.destroy(), timeoutMs);
    try {
      const { body } = await client.request({ method: 'HEAD', path: baseUrl.pathname });
      await body.dump();
      return undefined;
    } catch (error) {
      return `REST could not be reached: ${client.destroyed ? `no answer within ${timeoutMs} ms` : codeOf(error)}.`;
    } finally {
      clearTimeout(timer);
      await client.destroy();
    }
  };
}

/** Node's error code, such as ECONNREFUSED. The error's message may contain the address. */
function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(code) ? code : 'unknown error';
}
