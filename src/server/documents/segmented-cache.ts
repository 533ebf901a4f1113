import { LRUCache } from 'lru-cache';

// Bounds the work of the garbage collector, which visits each cached document and the values of its operations.
const maxEntries = 5_000;

// The part of the memory and entries that new values have.
const newFraction = 1 / 4;

/**
 * An LRU cache in two segments. Anybody can send new values, which evict only each other. A promoted value is
 * evicted only by other promoted ones.
 */
export function createSegmentedCache<Value extends object | string>(
  maxBytes: number,
  estimateBytes: (value: Value, key: string) => number,
) {
  const segment = (fraction: number) =>
    new LRUCache<string, Value>({
      max: Math.ceil(maxEntries * fraction),
      maxSize: Math.floor(maxBytes * fraction),
      sizeCalculation: estimateBytes,
    });
  const newValues = segment(newFraction);
  const promotedValues = segment(1 - newFraction);
  return {
    get: (key: string): Value | undefined => promotedValues.get(key) ?? newValues.get(key),
    isNew: (key: string): boolean => newValues.has(key),
    add(key: string, value: Value): void {
      newValues.set(key, value);
    },
    /** Promotes a value. Without effect if the cache does not hold the value, or has promoted it. */
    promote(key: string): void {
      const value = newValues.peek(key);
      if (value === undefined) return;
      newValues.delete(key);
      promotedValues.set(key, value);
    },
  };
}
