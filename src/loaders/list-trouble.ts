/** Whether a list is to be left alone for a while, as it has not answered lately; of one tenant and resource. */
export interface ListTrouble {
  isLeftAlone(): boolean;
  /** A page has come. */
  answered(): void;
  /** A page has failed, was late or refused: one may, but after the second in a row the list is left alone. */
  failed(): void;
}

const firstMs = 1_000;
const longestMs = 60_000;

/** `now` counts milliseconds, from whenever. */
export function createListTrouble(now: () => number): ListTrouble {
  return new TroubleSeen(now);
}

/** A class, as each tenant that is remembered has some. */
class TroubleSeen implements ListTrouble {
  readonly #now: () => number;
  #failures = 0;
  #leftAloneUntil = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  isLeftAlone(): boolean {
    return this.#failures > 1 && this.#now() < this.#leftAloneUntil;
  }

  answered(): void {
    this.#failures = 0;
  }

  failed(): void {
    this.#failures += 1;
    this.#leftAloneUntil = this.#now() + Math.min(firstMs * 2 ** (this.#failures - 2), longestMs);
  }
}
