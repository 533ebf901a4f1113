import { givenUp } from './attempt.ts';
import type { RestCall } from './call.ts';
import type { Cancellation } from './cancellation.ts';

/**
 * Waits so many milliseconds before a call is tried again.
 * @throws AbortedError as soon as the caller gives up.
 */
export function paused(call: RestCall, pauseMs: number, signal: Cancellation): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      clearTimeout(timer);
      reject(givenUp(call, signal));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', giveUp);
      resolve();
    }, pauseMs);
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp);
  });
}
