/**
 * How long records that a token wrote are read by their ids. REST's reads are assumed to be settled 10 seconds after a
 * write. Rows of lists may be later, because many services fill their lists from an index.
 */
export const writtenMs = 30_000;
// An operation reads no more records by id. Of more writes, the latest count.
const maxNames = 200;

/** The records of one list that a token has written in the last 30 seconds. */
export class RecentlyWritten {
  readonly #untilMs = new Map<string, number>();

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

  has(name: string): boolean {
    const untilMs = this.#untilMs.get(name);
    // The clock is not read for each row.
    return untilMs !== undefined && performance.now() < untilMs;
  }
}
