import { LRUCache } from 'lru-cache';

// Bounds the work of the garbage collector, which visits each cached document and the values of its operations.
const maxEntries = 5_000;

// The share of the memory and entries that new values have.
const newShare = 1 / 4;

/**
 * An LRU cache in two segments. Anybody can send new values, which evict only each other. A promoted value is evicted
 * only by other promoted ones.
 */
export class SegmentedCache<Value extends object | string> {
  readonly #newValues: LRUCache<string, Value>;
  readonly #promotedValues: LRUCache<string, Value>;

  constructor(maxBytes: number, estimateBytes: (value: Value, key: string) => number) {
    const segment = (share: number) =>
      new LRUCache<string, Value>({
        max: Math.ceil(maxEntries * share),
        maxSize: Math.floor(maxBytes * share),
        sizeCalculation: estimateBytes,
      });
    this.#newValues = segment(newShare);
    this.#promotedValues = segment(1 - newShare);
  }

  get(key: string): Value | undefined {
    return this.#promotedValues.get(key) ?? this.#newValues.get(key);
  }

  isNew(key: string): boolean {
    return this.#newValues.has(key);
  }

  add(key: string, value: Value): void {
    this.#newValues.set(key, value);
  }

  /** Promotes a value. Without effect if the cache does not hold the value, or has promoted it. */
  promote(key: string): void {
    const value = this.#newValues.peek(key);
    if (value === undefined) return;
    this.#newValues.delete(key);
    this.#promotedValues.set(key, value);
  }
}
