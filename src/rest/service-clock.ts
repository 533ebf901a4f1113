/** The REST service's clock, read from the `date` headers of its responses. The headers hold whole seconds. */
export class ServiceClock {
  #date: string | undefined;
  #dateMs = 0;
  #receivedAtMs = 0;

  /** Sets the clock to the `date` header of a response that has just started. Ignores a missing or invalid date. */
  update(date: string | string[] | undefined): void {
    if (typeof date !== 'string') return;
    // All responses within a second have the same header, so each header is parsed once.
    if (date !== this.#date) {
      const dateMs = Date.parse(date);
      if (Number.isNaN(dateMs)) return;
      this.#date = date;
      this.#dateMs = dateMs;
    }
    this.#receivedAtMs = performance.now();
  }

  /**
   * The service's current time in milliseconds since 1970, up to one second too early. Undefined until a response
   * with a `date` header has arrived.
   */
  now(): number | undefined {
    return this.#date === undefined ? undefined : this.#dateMs + performance.now() - this.#receivedAtMs;
  }
}
