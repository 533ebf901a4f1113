// A terminal and npm both pass a single Ctrl-C on.
const sameWithinMs = 250;

/**
 * Calls `end` at the first SIGTERM or SIGINT, and ends the process with 0 once it is done, whatever is still open. A second
 * signal ends it at once, with 1, as requests may be left without an answer; `abandon` gives up before what would wait.
 */
export function endOnSignals(end: () => Promise<void>, abandon: () => void): void {
  let firstAt: number | undefined;
  function take(): void {
    if (firstAt === undefined) {
      firstAt = performance.now();
      // A failure here is nobody's to catch, and ends the process with its stack.
      void end().then(() => process.exit(0));
    } else if (performance.now() - firstAt > sameWithinMs) {
      abandon();
      process.exit(1);
    }
  }
  process.on('SIGTERM', take);
  process.on('SIGINT', take);
}

/** Waits for all of this, for so many milliseconds at most. @throws the first error, where it comes in time. */
export async function within(timeMs: number, all: readonly unknown[]): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeMs);
  await Promise.race([Promise.all(all), late]);
  clearTimeout(timer);
}
