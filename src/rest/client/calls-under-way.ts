/** The calls of one operation that were sent, and those of them without a result yet. */
export class CallsUnderWay {
  #begun = 0;
  #running = 0;

  begin(): void {
    this.#begun += 1;
    this.#running += 1;
  }

  end(): void {
    this.#running -= 1;
  }

  /** Starts to watch. @returns a function that counts the calls that have run since, also for a part of this time. */
  watch(): () => number {
    const before = this.#begun - this.#running;
    return () => this.#begun - before;
  }
}
