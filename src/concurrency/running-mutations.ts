import { withTimeout } from './with-timeout.ts';

/**
 * Counts the running mutations, so that a shutdown waits for them. A mutation that has started is finished even if its
 * client disconnects.
 */
export class RunningMutations {
  #count = 0;
  #onIdle: (() => void) | undefined;

  /** Counts a mutation until it succeeds or fails. */
  track(mutation: Promise<unknown>): void {
    const onSettled = () => {
      this.#count -= 1;
      if (this.#count === 0) this.#onIdle?.();
    };
    this.#count += 1;
    mutation.then(onSettled, onSettled);
  }

  /** Resolves when no mutation is running, or after `withinMs` milliseconds. */
  async whenIdle(withinMs: number): Promise<void> {
    if (this.#count === 0) return;
    const idle = Promise.withResolvers<void>();
    this.#onIdle = idle.resolve;
    await withTimeout(Math.max(withinMs, 0), idle.promise);
  }
}
