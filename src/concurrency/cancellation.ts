/** What is called once it is aborted; as an object, so that who listens for each call makes no function for it. */
export type AbortListener = (() => void) | { handleEvent(): void };

/**
 * Word that nobody wants any more what is being done. An AbortSignal is one; those made here cost a fraction of it, and
 * every call has some.
 */
export interface Cancellation {
  readonly aborted: boolean;
  readonly reason: unknown;
  /** The listener is called once, when it is aborted; never where it was before. */
  addEventListener(type: 'abort', listener: AbortListener): void;
  removeEventListener(type: 'abort', listener: AbortListener): void;
}

/** A cancellation, and who holds it may give the word. */
export class CancelSource implements Cancellation {
  aborted = false;
  reason: unknown = undefined;
  // Most have one at most, and none of them needs a set.
  #listener: AbortListener | undefined;
  #others: Set<AbortListener> | undefined;

  addEventListener(_type: 'abort', listener: AbortListener): void {
    if (this.aborted) return;
    if (this.#listener === undefined) {
      this.#listener = listener;
    } else {
      this.#others ??= new Set();
      this.#others.add(listener);
    }
  }

  removeEventListener(_type: 'abort', listener: AbortListener): void {
    if (this.#listener === listener) this.#listener = undefined;
    else this.#others?.delete(listener);
  }

  /** Only the first time counts. */
  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    if (this.#listener !== undefined) tell(this.#listener);
    for (const listener of this.#others ?? []) tell(listener);
    this.#listener = undefined;
    this.#others = undefined;
  }
}

function tell(listener: AbortListener): void {
  if (typeof listener === 'function') listener();
  else listener.handleEvent();
}

/** Of what is always wanted. */
export const neverAborted: Cancellation = {
  aborted: false,
  reason: undefined,
  addEventListener() {},
  removeEventListener() {},
};

/** Waits for `ms` milliseconds, or until `signal` aborts if that is earlier. */
export function pause(ms: number, signal: Cancellation): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
