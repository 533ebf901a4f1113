/** The clock of the REST service, as its responses tell it by their `Date` header, in whole seconds. */
export class ServiceClock {
  #date: string | undefined;
  #dateMs = 0;
  #seenAt = 0;

  /** Takes the header of a response that has just begun. One that is missing or no date changes nothing. */
  note(date: string | string[] | undefined): void {
    if (typeof date !== 'string') return;
    // The same for a second, and so parsed once.
    if (date !== this.#date) {
      const dateMs = Date.parse(date);
      if (Number.isNaN(dateMs)) return;
      this.#date = date;
      this.#dateMs = dateMs;
    }
    this.#seenAt = performance.now();
  }

  /**
   * What the clock shows by now, in milliseconds since 1970 and up to a second too early; undefined where no response has told
   * it.
   */
  now(): number | undefined {
    return this.#date === undefined ? undefined : this.#dateMs + performance.now() - this.#seenAt;
  }
}
