import { LinkedList, type ListNode } from './linked-list.ts';

/** A call or operation with a timeout. */
export interface TimeoutEntry extends ListNode<TimeoutEntry> {
  /** By the clock of `performance`. Undefined while the timeout does not run. Only TimeoutQueue sets this field. */
  endsAtMs: number | undefined;
  /** Called `timeoutMs` milliseconds after the start. Must not throw. */
  onTimeout(timeoutMs: number): void;
}

// The resolution of timers. Timeouts within it end together: the end of one call frees a connection, and the next call
// would be sent just before its own end.
const resolutionMs = 1;

/**
 * Timeouts of equal length, which therefore end in the order in which they start. One timer serves all of them,
 * because separate timers of one millisecond end one by one (docs/design/how-it-stays-fast.md#timeouts-and-aborts).
 */
export class TimeoutQueue {
  readonly timeoutMs: number;
  readonly #running = new LinkedList<TimeoutEntry>();
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.timeoutMs = timeoutMs;
  }

  /** Starts the timeout of an entry whose timeout does not run. */
  start(entry: TimeoutEntry): void {
    entry.endsAtMs = performance.now() + this.timeoutMs;
    this.#running.add(entry);
    this.#timer ??= this.#schedule(this.timeoutMs);
  }

  /** Stops the timeout of an entry, if it runs. */
  stop(entry: TimeoutEntry): void {
    if (entry.endsAtMs === undefined) return;
    entry.endsAtMs = undefined;
    this.#running.remove(entry);
  }

  // The timer stays when the last timeout stops, because another timeout starts soon.
  // The timer does not keep the process alive.
  #schedule(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#expire(), ms).unref();
  }

  #expire(): void {
    const now = performance.now();
    for (;;) {
      const { first } = this.#running;
      if (first?.endsAtMs === undefined || first.endsAtMs > now + resolutionMs) break;
      this.stop(first);
      first.onTimeout(this.timeoutMs);
    }
    const endsAtMs = this.#running.first?.endsAtMs;
    this.#timer = endsAtMs === undefined ? undefined : this.#schedule(endsAtMs - now);
  }
}
