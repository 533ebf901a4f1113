import { type Cancellation, CancelSource, neverAborted } from './cancellation.ts';
import { type TimeoutEntry, TimeoutQueue } from './timeout-queue.ts';

/** The latest time at which an operation may end. */
export interface Deadline {
  /** Aborts with the timeout error when the time has passed, and for no other reason. */
  readonly signal: Cancellation;
  /** Milliseconds until the deadline. */
  remainingMs(): number;
}

/** The lifetime of an operation that one or more clients wait for. */
export interface OperationScope {
  /** Aborts when all waiters have left, when the deadline has passed, or when the operation has ended. */
  readonly signal: Cancellation;
  /** The deadline also applies to work that continues after all waiters have left. */
  readonly deadline: Deadline;
  /**
   * Adds a waiter. The removal of the last waiter aborts `signal`.
   * @returns a function that removes the waiter, with the abort reason. Its second call has no effect.
   */
  addWaiter(): (reason?: unknown) => void;
  /** Starts the timeout, when the operation starts. */
  startTimeout(): void;
  /** Stops the timeout, when the response is complete. */
  stopTimeout(): void;
  /** Ends the operation and aborts the calls that still run for it. */
  end(): void;
}

/** The abort reasons of a scope. */
export interface ScopeErrors {
  /** The operation has ended. */
  readonly done: Error;
  /** The operation took longer than `timeoutMs` milliseconds. */
  timeout(timeoutMs: number): Error;
}

/**
 * Makes a factory of scopes with equal timeouts. One timer serves all of them.
 * @param timeoutMs the longest duration of an operation in milliseconds. No timeout by default.
 */
export function createOperationScopes(
  errors: ScopeErrors,
  timeoutMs = Number.POSITIVE_INFINITY,
): () => OperationScope {
  const timeouts = timeoutMs === Number.POSITIVE_INFINITY ? undefined : new TimeoutQueue(timeoutMs);
  return () => new RefCountedScope(errors, timeouts);
}

// A class: closures would take three times the memory per operation (docs/decisions/0004-long-lived-closures.md).
class RefCountedScope implements OperationScope {
  readonly signal = new CancelSource();
  readonly deadline: ScopeDeadline;
  readonly #errors: ScopeErrors;
  #waiterCount = 0;

  constructor(errors: ScopeErrors, timeouts: TimeoutQueue | undefined) {
    this.#errors = errors;
    this.deadline = new ScopeDeadline(errors, timeouts, this.signal);
  }

  addWaiter(): (reason?: unknown) => void {
    this.#waiterCount += 1;
    let isWaiting = true;
    return (reason) => {
      if (!isWaiting) return;
      isWaiting = false;
      this.#waiterCount -= 1;
      if (this.#waiterCount === 0) this.signal.abort(reason);
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
  endsAtMs: number | undefined;
  readonly signal = new CancelSource();
  readonly #errors: ScopeErrors;
  /** Undefined if operations have no timeout. */
  readonly #timeouts: TimeoutQueue | undefined;
  /** The signal of the scope. It aborts together with the deadline's own signal. */
  readonly #scopeSignal: CancelSource;
  /** Kept apart from `endsAtMs`, which is cleared when the timeout stops. */
  #startedAtMs: number | undefined;

  constructor(errors: ScopeErrors, timeouts: TimeoutQueue | undefined, scopeSignal: CancelSource) {
    this.#errors = errors;
    this.#timeouts = timeouts;
    this.#scopeSignal = scopeSignal;
  }

  remainingMs(): number {
    const timeoutMs = this.#timeouts?.timeoutMs ?? Number.POSITIVE_INFINITY;
    return this.#startedAtMs === undefined ? timeoutMs : this.#startedAtMs + timeoutMs - performance.now();
  }

  start(): void {
    if (this.#timeouts === undefined || this.#startedAtMs !== undefined) return;
    this.#startedAtMs = performance.now();
    this.#timeouts.start(this);
  }

  stop(): void {
    this.#timeouts?.stop(this);
  }

  onTimeout(timeoutMs: number): void {
    const error = this.#errors.timeout(timeoutMs);
    this.signal.abort(error);
    this.#scopeSignal.abort(error);
  }
}

/** The deadline of an operation without a timeout. */
export const noDeadline: Deadline = {
  signal: neverAborted,
  remainingMs: () => Number.POSITIVE_INFINITY,
};
