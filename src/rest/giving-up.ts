import { givenUp } from './attempt.ts';
import type { RestCall } from './call.ts';
import type { Caller } from './caller.ts';
import type { Cancellation } from './cancellation.ts';
import type { Away } from './queued-call.ts';

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

/**
 * Makes a write in its turn, unless its caller gives up before. What has begun is not given up here, as it may be sent.
 * @throws AbortedError as soon as the caller gives up.
 */
export function inTurn<Answer>(
  call: RestCall,
  caller: Caller,
  make: (away: Away) => Promise<Answer>,
): Promise<Answer> {
  const { signal } = caller;
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(givenUp(call, signal));
    const begin = () => signal.removeEventListener('abort', giveUp);
    signal.addEventListener('abort', giveUp);
    caller
      .schedule(
        call,
        (away) => {
          begin();
          return make(away);
        },
        signal,
      )
      .then(resolve, (error: unknown) => {
        begin();
        reject(error);
      });
  });
}
