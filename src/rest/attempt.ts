import { described, type RestCall } from './call.ts';
import type { CallClock, Timed } from './call-clock.ts';
import { type Cancellation, Canceller } from './cancellation.ts';
import { AbortedError, DeadlineError, OperationDeadlineError } from './errors.ts';

/**
 * One call under way, which ends early when its caller gives up or its deadline passes: it is aborted then, with an
 * AbortedError, an OperationDeadlineError or a DeadlineError.
 */
export class Attempt extends Canceller implements Timed {
  before: Timed | undefined;
  after: Timed | undefined;
  endsAt: number | undefined;
  readonly call: RestCall;
  readonly #caller: Cancellation;
  #clock: CallClock;
  #expected: 'answered' | 'over' = 'answered';

  /**
   * Starts the clock of a call.
   * @throws AbortedError when the caller has given up already, so that nothing is sent.
   */
  constructor(call: RestCall, caller: Cancellation, clock: CallClock) {
    super();
    if (caller.aborted) throw givenUp(call, caller);
    this.call = call;
    this.#caller = caller;
    caller.addEventListener('abort', this);
    this.#clock = clock;
    clock.start(this);
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
  extend(clock: CallClock): void {
    this.#clock.stop(this);
    this.#clock = clock;
    this.#expected = 'over';
    clock.start(this);
  }

  /** Nothing ends it early any more, and nothing of it stays behind at the caller's signal. */
  end(): void {
    this.#clock.stop(this);
    this.#caller.removeEventListener('abort', this);
  }

  /** Its caller gives up. */
  handleEvent(): void {
    this.abort(givenUp(this.call, this.#caller));
  }

  timeIsUp(timeoutMs: number): void {
    this.abort(new DeadlineError(`${described(this.call)} was not ${this.#expected} within ${timeoutMs} ms`));
  }
}

/** What a call ends with whose caller has given up. */
export function givenUp(call: RestCall, caller: Cancellation): AbortedError {
  const name = described(call);
  const { reason } = caller;
  if (reason instanceof OperationDeadlineError) return new OperationDeadlineError(name, reason.timeoutMs);
  return new AbortedError(`${name} was given up by its caller`, { cause: reason });
}
