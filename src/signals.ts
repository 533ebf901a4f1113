// A terminal and npm both pass a single Ctrl-C on.
const sameWithinMs = 250;

/**
 * Calls `end` at the first SIGTERM or SIGINT, after which the process is to end by itself. A second one ends it at once,
 * with 1, as requests may be left without an answer.
 */
export function endOnSignals(end: () => Promise<void>): void {
  let firstAt: number | undefined;
  function take(): void {
    if (firstAt === undefined) {
      firstAt = performance.now();
      // A failure here is nobody's to catch, and ends the process with its stack.
      void end();
    } else if (performance.now() - firstAt > sameWithinMs) {
      process.exit(1);
    }
  }
  process.on('SIGTERM', take);
  process.on('SIGINT', take);
}
