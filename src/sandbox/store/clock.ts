/** What the sandbox takes for the time: statuses, signatures and timestamps go by it. */
export interface Clock {
  now(): Date;
  /** Turns it forward by so many milliseconds. Throws a RangeError for a negative or broken number. */
  advance(ms: number): void;
}

/** A clock that stands at `start` until it is advanced; without a start it runs with the machine's. */
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
