/**
 * The largest response or request body, in bytes, whose processing may be deferred. A larger one would evict the others
 * from the processor's caches. Deferred bodies also count towards no memory limit.
 */
export const maxDeferredBytes = 16_384;

export type Defer = ReturnType<typeof createDefer>;

/**
 * A function that defers steps to the end of the turn of the event loop, after all ready connections are read. Deferred
 * steps run one after the other, so their code stays in the processor's caches.
 */
export const createDefer = () => deferUntil((runSteps) => setImmediate(runSteps));

/**
 * A function that defers steps until all promise callbacks that are ready have run. An operation that is refused ends in
 * these callbacks, so a step can still find out that nobody needs it.
 */
export const createDeferAfterPromises = () =>
  // Node runs a tick that a microtask queues after all microtasks.
  deferUntil((runSteps) => queueMicrotask(() => process.nextTick(runSteps)));

function deferUntil(schedule: (runSteps: () => void) => void) {
  let steps: (() => void)[] = [];

  function runSteps(): void {
    const currentSteps = steps;
    // Steps deferred from here on run the next time.
    steps = [];
    for (const step of currentSteps) step();
  }

  /** Runs a step after all steps deferred earlier. Steps must not throw. */
  return (step: () => void): void => {
    if (steps.length === 0) schedule(runSteps);
    steps.push(step);
  };
}
