/**
 * Word that nobody wants any more what is being done. An AbortSignal is one; those made here cost a fraction of it, and
 * every call has some.
 */
export interface Cancellation {
  readonly aborted: boolean;
  readonly reason: unknown;
  /** The listener is called once, when it is aborted; never where it was before. */
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** A cancellation, and who holds it may give the word. */
export class Canceller implements Cancellation {
  aborted = false;
  reason: unknown = undefined;
  // Most have one at most, and none of them needs a set.
  #listener: (() => void) | undefined;
  #others: Set<() => void> | undefined;

  addEventListener(_type: 'abort', listener: () => void): void {
    if (this.aborted) return;
    if (this.#listener === undefined) {
      this.#listener = listener;
    } else {
      this.#others ??= new Set();
      this.#others.add(listener);
    }
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    if (this.#listener === listener) this.#listener = undefined;
    else this.#others?.delete(listener);
  }

  /** Only the first time counts. */
  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.#listener?.();
    for (const listener of this.#others ?? []) listener();
    this.#listener = undefined;
    this.#others = undefined;
  }
}

/** Of what is always wanted. */
export const neverCancelled: Cancellation = {
  aborted: false,
  reason: undefined,
  addEventListener() {},
  removeEventListener() {},
};
