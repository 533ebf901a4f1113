/** How long a process waits at its end, after the drain, for those who take the last traces, in milliseconds. */
export const closingMs = 3_000;
/** The same for the last lines of its log, after that. */
export const lastLinesMs = 1_000;

// A terminal and npm both pass a single Ctrl-C on.
const sameWithinMs = 250;

/**
 * Calls `end` at the first SIGTERM or SIGINT, and ends the process with `process.exitCode` or 0 once it is done, whatever is
 * still open. A second signal ends it at once, with 1, as requests may be left without an answer; `abandon` gives up before
 * what would wait.
 */
export function endOnSignals(end: () => Promise<void>, abandon: () => void): void {
  // A failure here is nobody's to catch, and ends the process with its stack.
  takeSignals(['SIGTERM', 'SIGINT'], () => void end().then(() => process.exit()), abandon);
}

/** Calls `first` at the first of these signals. A second one ends the process at once, with 1, after `abandon`. */
export function takeSignals(
  signals: readonly NodeJS.Signals[],
  first: () => void,
  abandon: () => void,
): void {
  let firstAt: number | undefined;
  function take(): void {
    if (firstAt === undefined) {
      firstAt = performance.now();
      first();
    } else if (performance.now() - firstAt > sameWithinMs) {
      abandon();
      process.exit(1);
    }
  }
  for (const signal of signals) process.on(signal, take);
}

/** Waits for all of this, for so many milliseconds at most. @throws the first error, where it comes in time. */
export async function within(timeMs: number, all: readonly unknown[]): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeMs);
  await Promise.race([Promise.all(all), late]);
  clearTimeout(timer);
}
