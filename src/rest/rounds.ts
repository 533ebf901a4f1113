/** Takes a step once all is read that has come in meanwhile, after those that were put off before it. */
export type InRound = (step: () => void) => void;

/**
 * Puts steps off to the end of a round of the event loop, after all connections are read on which something has come. The work
 * that follows them is then done for all side by side, from promise to promise: each piece of it runs many times in a row, and
 * finds itself in the caches of the processor. One by one, each would find there what the one before has done last, and a
 * query of one order would cost a third more.
 */
export function createRounds(): InRound {
  let steps: (() => void)[] = [];

  function takeAll(): void {
    const all = steps;
    // What is put off from here on is of the next round.
    steps = [];
    let taken = 0;
    try {
      for (const step of all) {
        taken += 1;
        step();
      }
    } finally {
      // Where one throws, the others are to be none the worse for it.
      for (const step of all.slice(taken)) inRound(step);
    }
  }

  function inRound(step: () => void): void {
    if (steps.length === 0) setImmediate(takeAll);
    steps.push(step);
  }
  return inRound;
}
