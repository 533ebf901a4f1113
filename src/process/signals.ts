/** How long a process may take to send the last traces after the drain, in milliseconds. */
export const closeTimeoutMs = 3_000;
/** How long a process may take to write the last lines of its log after that, in milliseconds. */
export const logFlushTimeoutMs = 1_000;

// The terminal and npm both forward the same Ctrl-C.
const duplicateSignalMs = 250;

/** Why a server ends: by SIGTERM, by SIGINT, or because another worker has taken its place. */
export type EndReason = 'terminated' | 'interrupted' | 'replaced';

/** How long a server still accepts requests. A person who presses Ctrl-C waits for no load balancer. */
export function drainWait(reason: EndReason, { drainWaitMs }: { drainWaitMs: number }): number {
  return reason === 'interrupted' ? 0 : drainWaitMs;
}

/**
 * Calls `end` at the first SIGTERM or SIGINT, and then exits with `process.exitCode` or 0, even if handles are open.
 * A second signal calls `abandon` and exits with 1 at once, because requests may have got no response.
 * @param abandon discards output that would delay the exit.
 */
export function endOnSignals(end: (reason: EndReason) => Promise<void>, abandon: () => void): void {
  const onFirst = (signal: NodeJS.Signals) =>
    // An error of `end` is an unhandled rejection, which ends the process with a stack trace.
    void end(signal === 'SIGINT' ? 'interrupted' : 'terminated').then(() => process.exit());
  onSignals(['SIGTERM', 'SIGINT'], onFirst, abandon);
}

/** Calls `onFirst` at the first of the signals. A second signal calls `abandon` and exits with 1 at once. */
export function onSignals(
  signals: readonly NodeJS.Signals[],
  onFirst: (signal: NodeJS.Signals) => void,
  abandon: () => void,
): void {
  let firstAtMs: number | undefined;
  function onSignal(signal: NodeJS.Signals): void {
    if (firstAtMs === undefined) {
      firstAtMs = performance.now();
      onFirst(signal);
    } else if (performance.now() - firstAtMs > duplicateSignalMs) {
      abandon();
      process.exit(1);
    }
  }
  for (const signal of signals) process.on(signal, onSignal);
}
