import { type Cancellation, CancelSource, neverAborted } from './cancellation.ts';
import type { TimeoutEntry, TimeoutQueue } from './timeout-queue.ts';

/** The latest time at which an operation may end, also for work that continues after the client has left. */
export interface Deadline {
  /** Aborts with the timeout error when the time has passed, and for no other reason. */
  readonly deadlineSignal: Cancellation;
  /** Milliseconds until the deadline. */
  remainingMs(): number;
}

export const noDeadline: Deadline = {
  deadlineSignal: neverAborted,
  remainingMs: () => Number.POSITIVE_INFINITY,
};

/**
 * The lifetime of an operation. A class: closures would take three times the memory per operation
 * (docs/design/how-it-stays-fast.md#objects).
 */
export class OperationScope implements Deadline, TimeoutEntry {
  before: TimeoutEntry | undefined;
  after: TimeoutEntry | undefined;
  endsAtMs: number | undefined;
  /** Aborts when the client has left, when the deadline has passed, or when the operation has ended. */
  readonly signal = new CancelSource();
  readonly deadlineSignal = new CancelSource();
  readonly #timeouts: TimeoutQueue;
  readonly #toError: (timeoutMs: number) => Error;
  /** Kept apart from `endsAtMs`, which is cleared when the timeout stops. */
  #startedAtMs: number | undefined;

  /** @param toError makes the error of an operation that took longer than the timeout, in milliseconds. */
  constructor(timeouts: TimeoutQueue, toError: (timeoutMs: number) => Error) {
    this.#timeouts = timeouts;
    this.#toError = toError;
  }

  /** Starts the timeout. Its second call has no effect. */
  startTimeout(): void {
    if (this.#startedAtMs !== undefined) return;
    this.#startedAtMs = performance.now();
    this.#timeouts.start(this);
  }

  remainingMs(): number {
    const { timeoutMs } = this.#timeouts;
    return this.#startedAtMs === undefined ? timeoutMs : this.#startedAtMs + timeoutMs - performance.now();
  }

  /** Stops the timeout, when the response is complete. */
  stopTimeout(): void {
    this.#timeouts.stop(this);
  }

  /** Ends the operation and aborts the calls that still run for it. */
  end(reason: Error): void {
    this.stopTimeout();
    this.signal.abort(reason);
  }

  onTimeout(timeoutMs: number): void {
    const error = this.#toError(timeoutMs);
    this.deadlineSignal.abort(error);
    this.signal.abort(error);
  }
}
