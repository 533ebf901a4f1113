import { setTimeout as sleep } from 'node:timers/promises';

/** An object with `handleEvent` works too, so that a caller needs no closure for each call. */
export type AbortListener = (() => void) | { handleEvent(): void };

/** Reports that a piece of work is aborted. Every AbortSignal is a Cancellation. */
export interface Cancellation {
  readonly aborted: boolean;
  readonly reason: unknown;
  /** Calls the listener once, on abort. A listener added after the abort is never called. */
  addEventListener(type: 'abort', listener: AbortListener): void;
  removeEventListener(type: 'abort', listener: AbortListener): void;
}

/**
 * A Cancellation that its owner aborts. It costs a fraction of an AbortController
 * (docs/design/how-it-stays-fast.md#timeouts-and-aborts).
 */
export class CancelSource implements Cancellation {
  aborted = false;
  reason: unknown = undefined;
  // Most sources have at most one listener. The first listener needs no Set.
  #firstListener: AbortListener | undefined;
  #otherListeners: Set<AbortListener> | undefined;

  addEventListener(_type: 'abort', listener: AbortListener): void {
    if (this.aborted) return;
    if (this.#firstListener === undefined) {
      this.#firstListener = listener;
    } else {
      this.#otherListeners ??= new Set();
      this.#otherListeners.add(listener);
    }
  }

  removeEventListener(_type: 'abort', listener: AbortListener): void {
    if (this.#firstListener === listener) this.#firstListener = undefined;
    else this.#otherListeners?.delete(listener);
  }

  /** Sets the reason and calls the listeners. Later calls have no effect. */
  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    if (this.#firstListener !== undefined) notify(this.#firstListener);
    for (const listener of this.#otherListeners ?? []) notify(listener);
  }
}

function notify(listener: AbortListener): void {
  if (typeof listener === 'function') listener();
  else listener.handleEvent();
}

/** A cancellation that never aborts. */
export const neverAborted: Cancellation = {
  aborted: false,
  reason: undefined,
  addEventListener() {},
  removeEventListener() {},
};

/** The result of `promise`, or undefined once `signal` aborts. @throws the error of the promise. */
export async function untilAborted<Value>(promise: Promise<Value>, signal: Cancellation) {
  if (signal.aborted) {
    // Nobody else may wait for the promise, and an error that nobody handles ends the process.
    promise.catch(() => {});
    return undefined;
  }
  const aborted = Promise.withResolvers<undefined>();
  const listener = () => aborted.resolve(undefined);
  signal.addEventListener('abort', listener);
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', listener);
  }
}

/** Waits for `ms` milliseconds or until `signal` aborts, whichever comes first. Never rejects. */
export async function pause(ms: number, signal: Cancellation): Promise<void> {
  await untilAborted(sleep(ms), signal);
}
