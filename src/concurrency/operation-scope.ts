import { type Cancellation, CancelSource, neverAborted } from './cancellation.ts';
import { type TimeoutEntry, TimeoutQueue } from './timeout-queue.ts';

/** Until when an operation may take. */
export interface Deadline {
  /** Aborted with the timeout error once the time is up, and by nothing else. */
  readonly signal: Cancellation;
  /** How many milliseconds are left. */
  remainingMs(): number;
}

/** For how long somebody waits for a piece of work that several may wait for. */
export interface OperationScope {
  /** Aborted once all who waited have given up, or its time is up. */
  readonly signal: Cancellation;
  /** When its time is up, which also ends what is left to finish where nobody waits for it any more. */
  readonly deadline: Deadline;
  /** Someone waits for the work. @returns says that they have given up, and why; only the first time counts. */
  addWaiter(): (reason?: unknown) => void;
  /** The work begins, and with it its time. */
  startTimeout(): void;
  /** The work is answered: its time no longer matters. */
  stopTimeout(): void;
  /** The work is done: what is still under way for it is wanted by nobody. */
  end(): void;
}

/** Why a scope aborts its signals. */
export interface ScopeErrors {
  /** The work is done. */
  readonly done: Error;
  /** The work took longer than `timeoutMs` milliseconds. */
  timeout(timeoutMs: number): Error;
}

/**
 * Makes scopes with the same timeout. One timer serves all of them.
 * @param timeoutMs how long the work may take, in milliseconds; without an end when left out.
 */
export function createOperationScopes(
  errors: ScopeErrors,
  timeoutMs = Number.POSITIVE_INFINITY,
): () => OperationScope {
  const timeouts = timeoutMs === Number.POSITIVE_INFINITY ? undefined : new TimeoutQueue(timeoutMs);
  return () => new RefCountedScope(errors, timeouts);
}

/** A class, as there is one for each operation, and closures would take three times the memory. */
class RefCountedScope implements OperationScope {
  readonly signal = new CancelSource();
  readonly deadline: ScopeDeadline;
  readonly #errors: ScopeErrors;
  #waiting = 0;

  constructor(errors: ScopeErrors, timeouts: TimeoutQueue | undefined) {
    this.#errors = errors;
    this.deadline = new ScopeDeadline(errors, timeouts, this.signal);
  }

  addWaiter(): (reason?: unknown) => void {
    this.#waiting += 1;
    let isWaiting = true;
    return (reason) => {
      if (!isWaiting) return;
      isWaiting = false;
      this.#waiting -= 1;
      if (this.#waiting === 0) this.signal.abort(reason);
    };
  }

  startTimeout(): void {
    this.deadline.start();
  }

  stopTimeout(): void {
    this.deadline.stop();
  }

  end(): void {
    this.deadline.stop();
    this.signal.abort(this.#errors.done);
  }
}

class ScopeDeadline implements Deadline, TimeoutEntry {
  before: TimeoutEntry | undefined;
  after: TimeoutEntry | undefined;
  endsAt: number | undefined;
  readonly signal = new CancelSource();
  readonly #errors: ScopeErrors;
  /** Undefined where there is no end. */
  readonly #timeouts: TimeoutQueue | undefined;
  /** Aborted as well. */
  readonly #work: CancelSource;
  /** Beside `endsAt`, which goes as it stops. */
  #startedAt: number | undefined;

  constructor(errors: ScopeErrors, timeouts: TimeoutQueue | undefined, work: CancelSource) {
    this.#errors = errors;
    this.#timeouts = timeouts;
    this.#work = work;
  }

  remainingMs(): number {
    const timeoutMs = this.#timeouts?.timeoutMs ?? Number.POSITIVE_INFINITY;
    return this.#startedAt === undefined ? timeoutMs : this.#startedAt + timeoutMs - performance.now();
  }

  start(): void {
    if (this.#timeouts === undefined || this.#startedAt !== undefined) return;
    this.#startedAt = performance.now();
    this.#timeouts.start(this);
  }

  stop(): void {
    this.#timeouts?.stop(this);
  }

  onTimeout(timeoutMs: number): void {
    const error = this.#errors.timeout(timeoutMs);
    this.signal.abort(error);
    this.#work.abort(error);
  }
}

/** For what may take as long as its calls do. */
export const noDeadline: Deadline = {
  signal: neverAborted,
  remainingMs: () => Number.POSITIVE_INFINITY,
};
