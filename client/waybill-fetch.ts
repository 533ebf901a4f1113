import type { Session } from './session.ts';

interface Answer {
  data?: Record<string, unknown> | null;
  errors?: { extensions: { code: string; retryable: boolean; retryAfterMs?: number } }[];
}

/** No user waits longer in front of a screen that loads. */
const maxWaitMs = 30_000;

/**
 * A `fetch` for a GraphQL client. It sends the access token, refreshes a refused token once, and repeats what the server
 * calls `retryable` after `retryAfterMs`. The same body is sent again, so a mutation keeps its idempotency key. When the
 * wait is longer than 30 seconds, it returns the response with the error.
 * Without a response, it repeats a query that is sent by its text, and a mutation whose inputs all have keys.
 */
export function createWaybillFetch(session: Session, maxAttempts = 4): typeof fetch {
  return async (input, init = {}) => {
    let isRefreshed = false;
    for (let attempt = 1; ; attempt += 1) {
      const token = session.token();
      const headers = new Headers(init.headers);
      headers.set('authorization', `Bearer ${token}`);
      let response: Response;
      try {
        response = await fetch(input, { ...init, headers });
      } catch (error) {
        if (attempt >= maxAttempts || init.signal?.aborted || !mayRepeat(init.body)) throw error;
        await wait(500 * 2 ** attempt, init.signal);
        continue;
      }
      // A stream, or the page of a proxy.
      if (!response.headers.get('content-type')?.includes('json')) return response;
      const { data, errors = [] }: Answer = await response.clone().json();
      const isRefused =
        response.status === 401 || errors.some(({ extensions }) => extensions.code === 'UNAUTHENTICATED');
      // A partial answer is shown at once.
      const isEmpty = Object.entries(data ?? {}).every(
        ([name, value]) => name === '__typename' || value === null,
      );
      if (isRefused && !isRefreshed) {
        isRefreshed = true;
        await session.refresh(token);
        // A part of the answer may be a write that is done.
        if (isEmpty || mayRepeat(init.body)) continue;
        return response;
      }
      const isRetryable = errors.length > 0 && errors.every(({ extensions }) => extensions.retryable);
      if (!isEmpty || !isRetryable || attempt >= maxAttempts) return response;
      const waitMs = Math.max(
        ...errors.map(({ extensions }) => extensions.retryAfterMs ?? 500 * 2 ** attempt),
      );
      if (waitMs > maxWaitMs) return response;
      await wait(waitMs, init.signal);
    }
  };
}

function mayRepeat(body: unknown): boolean {
  if (typeof body !== 'string') return body === undefined || body === null;
  const { query, variables } = JSON.parse(body);
  if (typeof query === 'string' && !/\bmutation\b/.test(query)) return true;
  const inputs: unknown[] = Object.values(variables ?? {}).flat();
  return inputs.length > 0 && inputs.every((input) => typeof Object(input).idempotencyKey === 'string');
}

/** Waits, and a random time more, so that not all clients return at once. */
function wait(ms: number, signal: AbortSignal | null | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms * (1 + Math.random()));
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
