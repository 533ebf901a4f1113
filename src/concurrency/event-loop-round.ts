/** Runs a step later, after all steps deferred earlier. Steps must not throw. */
export type Defer = (step: () => void) => void;

/**
 * The largest response or request body, in bytes, whose processing may be deferred.
 * A larger body would evict the other bodies from the processor's caches.
 * Deferred bodies also count towards no memory limit.
 */
export const maxDeferredBytes = 16_384;

/**
 * Creates a function that defers steps to the end of the event-loop round, after all ready connections are read.
 * Deferred steps run one after the other, so their code stays in the processor's caches
 * (docs/decisions/0006-end-of-event-loop-round.md).
 */
export function createDefer(): Defer {
  let steps: (() => void)[] = [];

  function runSteps(): void {
    const currentSteps = steps;
    // Steps deferred from here on run in the next round.
    steps = [];
    for (const step of currentSteps) step();
  }

  return (step) => {
    if (steps.length === 0) setImmediate(runSteps);
    steps.push(step);
  };
}

/** Work that takes longer than this ends the starts of a round, in milliseconds. */
const maxRoundMs = 10;

/**
 * Bounds the work that starts in one round of the event loop: after 10 ms nothing more starts, and the event loop reads
 * other connections first. One piece of work may last longer (docs/decisions/0024-turns-by-rounds.md).
 */
export class RoundBudget {
  readonly #onNextRound: () => void;
  #startedAtMs: number | undefined;
  #isRefused = false;

  /** @param onNextRound Called in the next round after `hasTime` was false. */
  constructor(onNextRound: () => void) {
    this.#onNextRound = onNextRound;
  }

  /** Whether work may start now. */
  hasTime(): boolean {
    const now = performance.now();
    if (this.#startedAtMs === undefined) {
      this.#startedAtMs = now;
      setImmediate(() => this.#endRound());
      return true;
    }
    if (now - this.#startedAtMs < maxRoundMs) return true;
    this.#isRefused = true;
    return false;
  }

  #endRound(): void {
    this.#startedAtMs = undefined;
    if (!this.#isRefused) return;
    this.#isRefused = false;
    this.#onNextRound();
  }
}

/**
 * Creates a function that runs one step in each event-loop round, in order. For steps that are long by themselves:
 * between two of them, the event loop reads other connections.
 */
export function createOnePerRound(): Defer {
  const steps: (() => void)[] = [];

  function runStep(): void {
    const step = steps.shift();
    if (steps.length > 0) setImmediate(runStep);
    step?.();
  }

  return (step) => {
    steps.push(step);
    if (steps.length === 1) setImmediate(runStep);
  };
}
