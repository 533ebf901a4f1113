/** The sandbox's time source for status changes, signatures and timestamps. */
export interface Clock {
  now(): Date;
  /** Moves the clock forward by `ms` milliseconds. @throws RangeError for a negative or infinite number. */
  advance(ms: number): void;
}

/** Creates a clock that stops at `start` until `advance`. Without `start` it runs with the machine's clock. */
export function createClock(start?: Date): Clock {
  let advancedMs = 0;
  return {
    now: () => new Date((start?.getTime() ?? Date.now()) + advancedMs),
    advance(ms) {
      if (!(ms >= 0 && ms < Number.POSITIVE_INFINITY)) {
        throw new RangeError(`A clock advances by 0 ms or more, not by ${ms}`);
      }
      advancedMs += ms;
    },
  };
}
