/** Takes a step at the end of the present round, after those that were put off before it. Steps do not throw. */
export type Defer = (step: () => void) => void;

/** What holds more bytes than this is not to be put off: it would push the rest out of the caches, and take room uncounted. */
export const maxDeferredBytes = 16_384;

/**
 * Puts steps off to the end of a round of the event loop, when all connections are read on which something has come. What
 * follows from them is then done for all side by side, from promise to promise: each piece of code runs several times in a
 * row, and is in the caches of the processor from the second time on. Taken at once, each step would find there what the
 * one before it has done last.
 */
export function createDefer(): Defer {
  let steps: (() => void)[] = [];

  function takeAll(): void {
    const all = steps;
    // What is put off from here on is of the next round.
    steps = [];
    for (const step of all) step();
  }

  return (step) => {
    if (steps.length === 0) setImmediate(takeAll);
    steps.push(step);
  };
}
