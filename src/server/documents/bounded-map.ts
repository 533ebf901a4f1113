/** A map that forgets what was used least recently, so as to stay within its bounds. */
export interface BoundedMap<Value> {
  /** What was kept under a key, which counts as a use of it. */
  get(key: string): Value | undefined;
  /** Keeps a value of so many bytes; one that is larger than the whole map is not kept. */
  set(key: string, value: Value, bytes: number): void;
  readonly size: number;
  readonly bytes: number;
}

export interface Bounds {
  maxEntries: number;
  maxBytes: number;
}

export function createBoundedMap<Value>({ maxEntries, maxBytes }: Bounds): BoundedMap<Value> {
  // A Map keeps the order in which keys were put in: the first one is the one that was used least recently.
  const entries = new Map<string, { value: Value; bytes: number }>();
  let total = 0;

  function remove(key: string): void {
    total -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  }

  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    set(key, value, bytes) {
      remove(key);
      if (bytes > maxBytes || maxEntries < 1) return;
      entries.set(key, { value, bytes });
      total += bytes;
      for (const oldest of entries.keys()) {
        if (entries.size <= maxEntries && total <= maxBytes) break;
        remove(oldest);
      }
    },
    get size() {
      return entries.size;
    },
    get bytes() {
      return total;
    },
  };
}
