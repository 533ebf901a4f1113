import { LRUCache } from 'lru-cache';

/** How much a `SegmentedCache` holds. */
export interface SegmentedCacheOptions<Value> {
  /** 0 holds nothing. */
  maxBytes: number;
  /** By default, the bytes alone are limited. */
  maxEntries?: number;
  /** The memory of an entry in bytes. */
  bytesOf(value: Value, key: string): number;
}

// The share of the memory and entries that new values have.
const newShare = 1 / 4;

/**
 * An LRU cache in two segments. Clients can send any number of new values, which evict only each other. A promoted
 * value is evicted only by other promoted ones.
 */
export class SegmentedCache<Value extends object | string> {
  readonly #newValues: LRUCache<string, Value>;
  readonly #promotedValues: LRUCache<string, Value>;

  constructor({ maxBytes, maxEntries = 0, bytesOf }: SegmentedCacheOptions<Value>) {
    const cacheOf = (share: number) =>
      new LRUCache<string, Value>({
        // lru-cache takes 0 for unbounded. No entry fits into 1 byte.
        max: Math.ceil(maxEntries * share),
        maxSize: Math.max(1, Math.floor(maxBytes * share)),
        sizeCalculation: bytesOf,
      });
    this.#newValues = cacheOf(newShare);
    this.#promotedValues = cacheOf(1 - newShare);
  }

  /** Reads a value and counts the use. */
  get(key: string): Value | undefined {
    return this.#promotedValues.get(key) ?? this.#newValues.get(key);
  }

  /** Reads a value without counting the use. */
  peek(key: string): Value | undefined {
    return this.#promotedValues.peek(key) ?? this.#newValues.peek(key);
  }

  /** Whether the cache holds a value that is not promoted. */
  isNew(key: string): boolean {
    return this.#newValues.has(key);
  }

  /** Adds a new value. */
  add(key: string, value: Value): void {
    this.#newValues.set(key, value);
  }

  /** Promotes a value that may be new. */
  promote(key: string, value: Value): void {
    if (this.#newValues.delete(key)) this.#promotedValues.set(key, value);
  }
}
