import { described, type RestCall } from './call.ts';
import { type Cancellation, Canceller } from './cancellation.ts';
import { AbortedError, DeadlineError, OperationDeadlineError } from './errors.ts';

/** One call under way, which ends early when its caller gives up or its deadline passes. */
export interface Attempt {
  /** Aborted with an AbortedError, an OperationDeadlineError or a DeadlineError. */
  signal: Cancellation;
  /**
   * The answer, or the reason of an early end as soon as there is one. A request that still waits for a connection
   * would hear of it only when it gets one.
   */
  race<Answer>(answer: Promise<Answer>): Promise<Answer>;
  /** From here on it has this much time to its end, in place of what it had. */
  extend(timeoutMs: number): void;
  /** Nothing ends it early any more, and nothing of it stays behind at the caller's signal. */
  end(): void;
}

/**
 * Starts the clock of a call.
 * @throws AbortedError when the caller has given up already, so that nothing is sent.
 */
export function createAttempt(call: RestCall, caller: Cancellation, timeoutMs: number): Attempt {
  if (caller.aborted) throw givenUp(call, caller);

  const signal = new Canceller();
  const giveUp = () => signal.abort(givenUp(call, caller));
  caller.addEventListener('abort', giveUp);
  const endAfter = (ms: number, what: string) =>
    setTimeout(() => {
      signal.abort(new DeadlineError(`${described(call)} was not ${what} within ${ms} ms`));
    }, ms);
  let deadline = endAfter(timeoutMs, 'answered');

  return {
    signal,
    race: (answer) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        answer.then(resolve, reject);
      }),
    extend(ms) {
      clearTimeout(deadline);
      deadline = endAfter(ms, 'over');
    },
    end: () => {
      clearTimeout(deadline);
      caller.removeEventListener('abort', giveUp);
    },
  };
}

/** What a call ends with whose caller has given up. */
export function givenUp(call: RestCall, caller: Cancellation): AbortedError {
  const name = described(call);
  const { reason } = caller;
  if (reason instanceof OperationDeadlineError) return new OperationDeadlineError(name, reason.timeoutMs);
  return new AbortedError(`${name} was given up by its caller`, { cause: reason });
}
