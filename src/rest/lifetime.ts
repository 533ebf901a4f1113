import { NotNeededError, OperationDeadlineError } from './errors.ts';

/** Until when an operation may take. */
export interface Deadline {
  /** Aborted with an OperationDeadlineError once the time is up, and by nothing else. */
  readonly signal: AbortSignal;
  /** How many milliseconds are left. */
  remainingMs(): number;
}

/** For how long somebody waits for a piece of work that several may wait for. */
export interface Lifetime {
  /** Aborted once all who waited have given up, or its time is up. */
  readonly signal: AbortSignal;
  /** When its time is up, which also ends what is left to finish where nobody waits for it any more. */
  readonly deadline: Deadline;
  /** Someone waits for the work until their signal, a request's own, says that they have given up. */
  join(waiting: AbortSignal): void;
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
  const controller = new AbortController();
  const atDeadline = new AbortController();
  let waitingNow = 0;
  let endsAt = Number.POSITIVE_INFINITY;
  let clock: NodeJS.Timeout | undefined;

  function timeIsUp(): void {
    const error = new OperationDeadlineError('The operation', timeoutMs);
    atDeadline.abort(error);
    controller.abort(error);
  }

  return {
    signal: controller.signal,
    deadline: {
      signal: atDeadline.signal,
      remainingMs: () => (endsAt === Number.POSITIVE_INFINITY ? timeoutMs : endsAt - performance.now()),
    },
    join(waiting) {
      waitingNow += 1;
      const giveUp = () => {
        waitingNow -= 1;
        if (waitingNow === 0) controller.abort(waiting.reason);
      };
      if (waiting.aborted) giveUp();
      else waiting.addEventListener('abort', giveUp, { once: true });
    },
    startClock() {
      if (timeoutMs === Number.POSITIVE_INFINITY || clock !== undefined) return;
      endsAt = performance.now() + timeoutMs;
      clock = setTimeout(timeIsUp, timeoutMs);
    },
    stopClock: () => clearTimeout(clock),
    end() {
      clearTimeout(clock);
      controller.abort(done);
    },
  };
}

/** For what may take as long as its calls do. */
export function noDeadline(): Deadline {
  return { signal: new AbortController().signal, remainingMs: () => Number.POSITIVE_INFINITY };
}
