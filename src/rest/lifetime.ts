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
  return new OwnLifetime(timeoutMs);
}

/** A class, as there is one for each operation, and closures would take three times the memory. */
class OwnLifetime implements Lifetime {
  readonly signal = new Canceller();
  readonly deadline: Clock;
  #waiting = 0;

  constructor(timeoutMs: number) {
    this.deadline = new Clock(timeoutMs, this.signal);
  }

  join(): (reason?: unknown) => void {
    this.#waiting += 1;
    let isWaiting = true;
    return (reason) => {
      if (!isWaiting) return;
      isWaiting = false;
      this.#waiting -= 1;
      if (this.#waiting === 0) this.signal.abort(reason);
    };
  }

  startClock(): void {
    this.deadline.start();
  }

  stopClock(): void {
    this.deadline.stop();
  }

  end(): void {
    this.deadline.stop();
    this.signal.abort(done);
  }
}

class Clock implements Deadline {
  readonly signal = new Canceller();
  readonly #timeoutMs: number;
  /** Aborted as well. */
  readonly #work: Canceller;
  #endsAt = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number, work: Canceller) {
    this.#timeoutMs = timeoutMs;
    this.#work = work;
  }

  remainingMs(): number {
    return this.#timer === undefined ? this.#timeoutMs : this.#endsAt - performance.now();
  }

  start(): void {
    if (this.#timeoutMs === Number.POSITIVE_INFINITY || this.#timer !== undefined) return;
    this.#endsAt = performance.now() + this.#timeoutMs;
    this.#timer = setTimeout(() => this.#end(), this.#timeoutMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #end(): void {
    const error = new OperationDeadlineError('The operation', this.#timeoutMs);
    this.signal.abort(error);
    this.#work.abort(error);
  }
}

/** For what may take as long as its calls do. */
export const noDeadline: Deadline = {
  signal: neverCancelled,
  remainingMs: () => Number.POSITIVE_INFINITY,
};
