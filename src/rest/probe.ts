import { Client } from 'undici';

export interface ProbeOptions {
  /** Where REST is. */
  baseUrl: URL;
  /** How long REST may take to answer, in milliseconds; 2 seconds when left out. */
  timeoutMs?: number;
}

/**
 * Asks whether REST can be reached, without an access token and on a connection of its own: any answer of HTTP will do, as
 * what REST says to strangers tells nothing of its state.
 * @returns tells why it could not be reached, without its address; undefined where it could.
 */
export function createProbe({ baseUrl, timeoutMs = 2_000 }: ProbeOptions): () => Promise<string | undefined> {
  return async () => {
    const client = new Client(baseUrl.origin, {
      connect: { timeout: timeoutMs },
      headersTimeout: timeoutMs,
    });
    const late = setTimeout(() => client.destroy(), timeoutMs);
    try {
      const { body } = await client.request({ method: 'HEAD', path: baseUrl.pathname });
      await body.dump();
      return undefined;
    } catch (error) {
      return `REST could not be reached: ${client.destroyed ? `no answer within ${timeoutMs} ms` : codeOf(error)}.`;
    } finally {
      clearTimeout(late);
      await client.destroy();
    }
  };
}

/** Node's word for what failed, such as ECONNREFUSED; messages may hold the address. */
function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(code) ? code : 'unknown error';
}
