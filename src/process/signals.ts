import { setImmediate as nextRound } from 'node:timers/promises';

/** How long a process may take to send the last traces after the drain, in milliseconds. */
export const closeTimeoutMs = 3_000;
/** How long a process may take to write the last lines of its log after that, in milliseconds. */
export const logFlushTimeoutMs = 1_000;

// The terminal and npm both forward the same Ctrl-C.
const duplicateSignalMs = 250;

/** Why a server ends: by SIGTERM or by SIGINT. */
export type EndReason = 'terminated' | 'interrupted';

/** How long a server still accepts requests. A person who presses Ctrl-C waits for no load balancer. */
export function drainWait(reason: EndReason, { drainWaitMs }: { drainWaitMs: number }): number {
  return reason === 'interrupted' ? 0 : drainWaitMs;
}

/**
 * Calls `end` at the first SIGTERM or SIGINT, and then exits with `process.exitCode` or 0, even if handles are open.
 * An error of `end` is an unhandled rejection, which ends the process with a stack trace. A second signal calls
 * `abandon`, which drops output, and exits at once with 1.
 */
export function endOnSignals(end: (reason: EndReason) => Promise<void>, abandon: () => void): void {
  let firstAtMs: number | undefined;
  function onSignal(signal: NodeJS.Signals): void {
    if (firstAtMs === undefined) {
      firstAtMs = performance.now();
      void end(signal === 'SIGINT' ? 'interrupted' : 'terminated').then(() => process.exit());
    } else if (performance.now() - firstAtMs > duplicateSignalMs) {
      abandon();
      // Requests may have got no response.
      process.exit(1);
    }
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) replaceListeners(signal, onSignal);
}

/**
 * Waits for one turn of the event loop, so that a signal that has arrived can end a process that does not listen yet.
 * The loop handles no signal while code is loaded, which takes a second on a busy machine.
 */
export const yieldToSignals = (): Promise<void> => nextRound();

/** Adds a listener and then removes those of src/start.cjs: without one, the signal would end the process at once. */
function replaceListeners(signal: NodeJS.Signals, onSignal: (signal: NodeJS.Signals) => void): void {
  const early = process.listeners(signal);
  process.on(signal, onSignal);
  for (const listener of early) process.off(signal, listener);
}
