import { described, type RestCall } from './call.ts';
import { type Cancellation, Canceller } from './cancellation.ts';
import { AbortedError, DeadlineError, OperationDeadlineError } from './errors.ts';

/**
 * One call under way, which ends early when its caller gives up or its deadline passes: it is aborted then, with an
 * AbortedError, an OperationDeadlineError or a DeadlineError.
 */
export class Attempt extends Canceller {
  readonly call: RestCall;
  readonly #caller: Cancellation;
  #deadline: NodeJS.Timeout;

  /**
   * Starts the clock of a call.
   * @throws AbortedError when the caller has given up already, so that nothing is sent.
   */
  constructor(call: RestCall, caller: Cancellation, timeoutMs: number) {
    super();
    if (caller.aborted) throw givenUp(call, caller);
    this.call = call;
    this.#caller = caller;
    caller.addEventListener('abort', this);
    this.#deadline = this.#endAfter(timeoutMs, 'answered');
  }

  /**
   * The answer, or the reason of an early end as soon as there is one. A request that still waits for a connection
   * would hear of it only when it gets one.
   */
  race<Answer>(answer: Promise<Answer>): Promise<Answer> {
    if (this.aborted) return Promise.reject(this.reason);
    return new Promise((resolve, reject) => {
      this.addEventListener('abort', () => reject(this.reason));
      answer.then(resolve, reject);
    });
  }

  /** From here on it has this much time to its end, in place of what it had. */
  extend(timeoutMs: number): void {
    clearTimeout(this.#deadline);
    this.#deadline = this.#endAfter(timeoutMs, 'over');
  }

  /** Nothing ends it early any more, and nothing of it stays behind at the caller's signal. */
  end(): void {
    clearTimeout(this.#deadline);
    this.#caller.removeEventListener('abort', this);
  }

  /** Its caller gives up. */
  handleEvent(): void {
    this.abort(givenUp(this.call, this.#caller));
  }

  #endAfter(ms: number, what: string): NodeJS.Timeout {
    return setTimeout(() => {
      this.abort(new DeadlineError(`${described(this.call)} was not ${what} within ${ms} ms`));
    }, ms);
  }
}

/** What a call ends with whose caller has given up. */
export function givenUp(call: RestCall, caller: Cancellation): AbortedError {
  const name = described(call);
  const { reason } = caller;
  if (reason instanceof OperationDeadlineError) return new OperationDeadlineError(name, reason.timeoutMs);
  return new AbortedError(`${name} was given up by its caller`, { cause: reason });
}
