import { LinkedList, type ListNode } from './linked-list.ts';

/** What has so much time and no more. */
export interface TimeoutEntry extends ListNode<TimeoutEntry> {
  /** By the clock of `performance`; undefined where its time does not run. Kept by its `CallClock`. */
  endsAt: number | undefined;
  /** So many milliseconds have passed. Must not throw. */
  onTimeout(timeoutMs: number): void;
}

/**
 * The ends of all that has the same time, calls or operations, and so ends in the order in which it has begun. One timer for
 * all, as one of its own for each call would cost a tenth of what a call costs.
 */
export class TimeoutQueue {
  readonly timeoutMs: number;
  readonly #running = new LinkedList<TimeoutEntry>();
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.timeoutMs = timeoutMs;
  }

  /** The time of one begins, which does not run yet. */
  start(one: TimeoutEntry): void {
    one.endsAt = performance.now() + this.timeoutMs;
    this.#running.add(one);
    this.#timer ??= this.#lookAfter(this.timeoutMs);
  }

  /** Its time no longer matters, if it still runs. */
  stop(one: TimeoutEntry): void {
    if (one.endsAt === undefined) return;
    one.endsAt = undefined;
    this.#running.remove(one);
  }

  /** It is not stopped where nothing runs any more, as more will soon, but keeps no process from its end. */
  #lookAfter(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#look(), ms).unref();
  }

  #look(): void {
    const now = performance.now();
    try {
      for (;;) {
        const { first } = this.#running;
        if (first?.endsAt === undefined || first.endsAt > now) break;
        this.stop(first);
        first.onTimeout(this.timeoutMs);
      }
    } finally {
      const endsAt = this.#running.first?.endsAt;
      this.#timer = endsAt === undefined ? undefined : this.#lookAfter(endsAt - now);
    }
  }
}
