/** Milliseconds of the machine's monotonic clock, which all processes of the machine share. A boot restarts the clock. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/**
 * The lease of a store in memory that the store's thread and the main thread share. The thread publishes a lease only
 * after COMMIT. An epoch is a time in which the lease never expired. An expired epoch never comes back.
 */
export class SharedLease {
  readonly memory: SharedArrayBuffer;
  readonly #values: BigInt64Array;

  constructor(memory = new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#values = new BigInt64Array(memory);
  }

  /** Publishes a lease that ends at `validUntilMs` of `monotonicMs`. */
  publish(epoch: number, validUntilMs: number): void {
    // In this order, and read in the reverse order: no reader sees the new time with the old epoch.
    Atomics.store(this.#values, 0, BigInt(epoch));
    Atomics.store(this.#values, 1, BigInt(validUntilMs));
  }

  /** The current epoch; undefined if its lease ends within `marginMs`. */
  epoch(marginMs: number): number | undefined {
    const validUntilMs = Number(Atomics.load(this.#values, 1));
    const epoch = Number(Atomics.load(this.#values, 0));
    return monotonicMs() + marginMs < validUntilMs ? epoch : undefined;
  }
}

/** The owner of the claims that a store makes in an epoch. `storeId` is random. */
export function leaseOwner(storeId: string, epoch: number): string {
  return `${storeId}.${epoch}`;
}
