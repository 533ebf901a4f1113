/**
 * How long records that a token wrote are read by their ids. REST's reads are assumed to be settled 10 seconds after a
 * write. Rows of lists may be later, because many services fill their lists from an index.
 */
export const writtenMs = 30_000;
// An operation reads no more records by id. Of more writes, the latest count.
const maxNames = 200;

/** The records of one list that a token has written in the last 30 seconds. */
export class WrittenRecords {
  readonly #untilMs = new Map<string, number>();
  #allUntilMs = Number.NEGATIVE_INFINITY;

  note(name: string): void {
    const nowMs = performance.now();
    // The map is in the order of the writes.
    this.#untilMs.delete(name);
    this.#untilMs.set(name, nowMs + writtenMs);
    for (const [oldest, untilMs] of this.#untilMs) {
      if (untilMs > nowMs && this.#untilMs.size <= maxNames) return;
      this.#untilMs.delete(oldest);
    }
  }

  /** Notes a write of a record that is not known: each may be the one. */
  noteAny(): void {
    this.#allUntilMs = performance.now() + writtenMs;
  }

  has(name: string): boolean {
    const untilMs = Math.max(this.#untilMs.get(name) ?? Number.NEGATIVE_INFINITY, this.#allUntilMs);
    // Without a write, the clock is not read for each row.
    return untilMs !== Number.NEGATIVE_INFINITY && performance.now() < untilMs;
  }
}
