import { httpDateMs } from '../../base/date-time.ts';

/**
 * The REST service's clock, read from the `date` headers of its responses. The headers hold whole seconds. After a lost
 * response, a write is looked for by its time of creation, which is a time of this clock.
 */
export class ServiceClock {
  #date = '';
  #receivedAtMs = 0;

  /** Sets the clock to the `date` header of a response that has just started. */
  update(date: string | string[] | undefined): void {
    if (typeof date !== 'string') return;
    this.#date = date;
    this.#receivedAtMs = performance.now();
  }

  /** In milliseconds since 1970, up to one second too early. Undefined until a response has a valid `date` header. */
  now(): number | undefined {
    const dateMs = httpDateMs(this.#date);
    return dateMs === undefined ? undefined : dateMs + performance.now() - this.#receivedAtMs;
  }
}
