/** How long batches use GETs after trouble that may be over soon. */
export const shortPauseMs = 30_000;
/** How long batches use GETs after a refusal or incomplete rows, which do not change soon. */
export const longPauseMs = 600_000;

/** A time in which batches use GETs. It starts at once, or after failures in a row. */
export class Pause {
  readonly #maxFailures: number;
  #failures = 0;
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(maxFailures = 2) {
    this.#maxFailures = maxFailures;
  }

  get isOn(): boolean {
    return performance.now() < this.#untilMs;
  }

  start(durationMs = shortPauseMs): void {
    this.#untilMs = performance.now() + durationMs;
  }

  /** After a pause, the first failure starts the next pause. */
  noteFailure(): void {
    this.#failures += 1;
    this.noteTry();
  }

  /** After a pause, one batch tries the list. The others use GETs, because a list that hangs would stop all of them. */
  noteTry(): void {
    if (this.#failures >= this.#maxFailures) this.start();
  }

  noteSuccess(): void {
    this.#failures = 0;
    this.#untilMs = Number.NEGATIVE_INFINITY;
  }
}
