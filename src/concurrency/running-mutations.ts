import { withTimeout } from './with-timeout.ts';

/** Counts the running mutations. A mutation that has started is finished even if its client disconnects. */
export interface RunningMutations {
  /** Counts a mutation until it succeeds or fails. Returns the same promise. */
  track<Result>(mutation: Promise<Result>): Promise<Result>;
  /** Resolves when no mutation is running, or after `withinMs` milliseconds. */
  whenIdle(withinMs: number): Promise<void>;
}

/** Creates a counter that starts at zero. */
export function createRunningMutations(): RunningMutations {
  let count = 0;
  let onIdle: (() => void) | undefined;

  function onSettled(): void {
    count -= 1;
    if (count === 0) onIdle?.();
  }

  return {
    track(mutation) {
      count += 1;
      mutation.then(onSettled, onSettled);
      return mutation;
    },
    async whenIdle(withinMs) {
      if (count === 0) return;
      const idle = Promise.withResolvers<void>();
      onIdle = idle.resolve;
      await withTimeout(Math.max(withinMs, 0), idle.promise);
    },
  };
}
