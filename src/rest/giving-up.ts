import { setTimeout as pause } from 'node:timers/promises';
import { givenUp } from './attempt.ts';
import { described, type RestCall } from './call.ts';
import type { Caller } from './caller.ts';
import type { Away } from './fair-queue.ts';

/**
 * Waits so many milliseconds before a call is tried again.
 * @throws AbortedError as soon as the caller gives up.
 */
export async function paused(call: RestCall, pauseMs: number, signal: AbortSignal): Promise<void> {
  try {
    await pause(pauseMs, undefined, { signal });
  } catch {
    throw givenUp(described(call), signal);
  }
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
    const giveUp = () => reject(givenUp(described(call), signal));
    const begin = () => signal.removeEventListener('abort', giveUp);
    signal.addEventListener('abort', giveUp, { once: true });
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
