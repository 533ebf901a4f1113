import { type Cancellation, Canceller, neverCancelled } from './cancellation.ts';
import { NotNeededError, OperationDeadlineError } from './errors.ts';

/** Until when an operation may take. */
export interface Deadline {
  /** Aborted with an OperationDeadlineError once the time is up, and by nothing else. */
  readonly signal: Cancellation;
  /** How many milliseconds are left. */
  remainingMs(): number;
}

/** For how long somebody waits for a piece of work that several may wait for. */
export interface Lifetime {
  /** Aborted once all who waited have given up, or its time is up. */
  readonly signal: Cancellation;
  /** When its time is up, which also ends what is left to finish where nobody waits for it any more. */
  readonly deadline: Deadline;
  /** Someone waits for the work. @returns says that they have given up, and why; only the first time counts. */
  join(): (reason?: unknown) => void;
  /** The work begins, and with it its time. */
  startClock(): void;
  /** The work is answered: its time no longer matters. */
  stopClock(): void;
  /** The work is done: what is still under way for it is wanted by nobody. */
  end(): void;
}

const done = new NotNeededError('what it was wanted for is done');

/** `timeoutMs`: how long the work may take in milliseconds; without an end when left out. */
export function createLifetime(timeoutMs = Number.POSITIVE_INFINITY): Lifetime {
  const waited = new Canceller();
  const atDeadline = new Canceller();
  let waitingNow = 0;
  let endsAt = Number.POSITIVE_INFINITY;
  let clock: NodeJS.Timeout | undefined;

  function timeIsUp(): void {
    const error = new OperationDeadlineError('The operation', timeoutMs);
    atDeadline.abort(error);
    waited.abort(error);
  }

  return {
    signal: waited,
    deadline: {
      signal: atDeadline,
      remainingMs: () => (endsAt === Number.POSITIVE_INFINITY ? timeoutMs : endsAt - performance.now()),
    },
    join() {
      waitingNow += 1;
      let isWaiting = true;
      return (reason) => {
        if (!isWaiting) return;
        isWaiting = false;
        waitingNow -= 1;
        if (waitingNow === 0) waited.abort(reason);
      };
    },
    startClock() {
      if (timeoutMs === Number.POSITIVE_INFINITY || clock !== undefined) return;
      endsAt = performance.now() + timeoutMs;
      clock = setTimeout(timeIsUp, timeoutMs);
    },
    stopClock: () => clearTimeout(clock),
    end() {
      clearTimeout(clock);
      waited.abort(done);
    },
  };
}

/** For what may take as long as its calls do. */
export const noDeadline: Deadline = {
  signal: neverCancelled,
  remainingMs: () => Number.POSITIVE_INFINITY,
};
