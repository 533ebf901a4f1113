import { errors as undiciErrors } from 'undici';
import type { Attempt } from './attempt.ts';

const maxRetries = 2;
const basePauseMs = 100;

/**
 * Sends, and again up to twice where no connection could be made, so that it is certain that nothing has left. A
 * connection that was kept from an earlier call and breaks is no such case: the request may have been read from it.
 * `isSent` says whether any of the request has left all the same; `onRetry` hears of each try after the first.
 */
export async function untilConnected<Response>(
  send: () => Promise<Response>,
  attempt: Attempt,
  { isSent, onRetry }: { isSent: () => boolean; onRetry: () => void },
): Promise<Response> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await attempt.race(send());
    } catch (error) {
      if (retries === maxRetries || isSent() || !isConnectFailure(error)) throw error;
    }
    // Anything up to the whole pause, so that those who failed together do not come back together.
    const pauseMs = Math.random() * basePauseMs * 2 ** retries;
    let timer: NodeJS.Timeout | undefined;
    const pause = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, pauseMs);
    });
    await attempt.race(pause).finally(() => clearTimeout(timer));
    onRetry();
  }
}

/** Whether it failed while the address was looked up or a socket was opened to it; several where it has several. */
function isConnectFailure(error: unknown): boolean {
  if (error instanceof undiciErrors.ConnectTimeoutError) return true;
  if (error instanceof AggregateError) return error.errors.every(isConnectFailure);
  return (
    error instanceof Error && 'syscall' in error && /^(connect|getaddrinfo)$/.test(String(error.syscall))
  );
}
