import { NotNeededError, OperationDeadlineError } from '../rest/errors.ts';
import { type Cancellation, Canceller, neverCancelled } from './cancellation.ts';
import { CallClock, type Timed } from './timeout-queue.ts';

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

/**
 * Makes lifetimes of the same length, for whose ends there is one timer. `timeoutMs`: how long the work may take in
 * milliseconds; without an end when left out.
 */
export function createLifetimes(timeoutMs = Number.POSITIVE_INFINITY): () => Lifetime {
  const clock = timeoutMs === Number.POSITIVE_INFINITY ? undefined : new CallClock(timeoutMs);
  return () => new OwnLifetime(clock);
}

/** A single one, as `createLifetimes` makes them. */
export function createLifetime(timeoutMs?: number): Lifetime {
  return createLifetimes(timeoutMs)();
}

/** A class, as there is one for each operation, and closures would take three times the memory. */
class OwnLifetime implements Lifetime {
  readonly signal = new Canceller();
  readonly deadline: OwnDeadline;
  #waiting = 0;

  constructor(clock: CallClock | undefined) {
    this.deadline = new OwnDeadline(clock, this.signal);
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

class OwnDeadline implements Deadline, Timed {
  before: Timed | undefined;
  after: Timed | undefined;
  endsAt: number | undefined;
  readonly signal = new Canceller();
  /** Undefined where there is no end. */
  readonly #clock: CallClock | undefined;
  /** Aborted as well. */
  readonly #work: Canceller;
  /** Beside `endsAt`, which goes as it stops. */
  #startedAt: number | undefined;

  constructor(clock: CallClock | undefined, work: Canceller) {
    this.#clock = clock;
    this.#work = work;
  }

  remainingMs(): number {
    const timeoutMs = this.#clock?.timeoutMs ?? Number.POSITIVE_INFINITY;
    return this.#startedAt === undefined ? timeoutMs : this.#startedAt + timeoutMs - performance.now();
  }

  start(): void {
    if (this.#clock === undefined || this.#startedAt !== undefined) return;
    this.#startedAt = performance.now();
    this.#clock.start(this);
  }

  stop(): void {
    this.#clock?.stop(this);
  }

  timeIsUp(timeoutMs: number): void {
    const error = new OperationDeadlineError('The operation', timeoutMs);
    this.signal.abort(error);
    this.#work.abort(error);
  }
}

/** For what may take as long as its calls do. */
export const noDeadline: Deadline = {
  signal: neverCancelled,
  remainingMs: () => Number.POSITIVE_INFINITY,
};
