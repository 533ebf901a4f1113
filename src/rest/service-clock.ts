/** The clock of the REST service, as its responses tell it by their `Date` header, in whole seconds. */
export class ServiceClock {
  #date = '';
  #seenAt = 0;

  /** Takes the header of a response that has just begun. One that is missing changes nothing. */
  note(date: string | string[] | undefined): void {
    if (typeof date !== 'string') return;
    this.#date = date;
    this.#seenAt = performance.now();
  }

  /**
   * What the clock shows by now, in milliseconds since 1970 and up to a second too early; undefined where no response has told
   * it.
   */
  now(): number | undefined {
    const seen = Date.parse(this.#date);
    return Number.isNaN(seen) ? undefined : seen + performance.now() - this.#seenAt;
  }
}
