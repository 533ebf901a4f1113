import { type InLine, Line } from '../../rest/line.ts';

/** A map that forgets what was used least recently, so as to stay within its bounds. */
export interface BoundedMap<Value> {
  /** What was kept under a key, which counts as a use of it. */
  get(key: string): Value | undefined;
  /** Keeps a value of so many bytes; one that is larger than the whole map is not kept. */
  set(key: string, value: Value, bytes: number): void;
  /** Takes out what was kept under a key, with how many bytes it has. */
  take(key: string): { value: Value; bytes: number } | undefined;
  readonly size: number;
  readonly bytes: number;
}

export interface Bounds {
  maxEntries: number;
  maxBytes: number;
}

/** What is kept, in a line by use: a use that takes a key out of a Map and puts it back costs microseconds. */
interface Entry<Value> extends InLine<Entry<Value>> {
  readonly key: string;
  readonly value: Value;
  readonly bytes: number;
}

export function createBoundedMap<Value>({ maxEntries, maxBytes }: Bounds): BoundedMap<Value> {
  const entries = new Map<string, Entry<Value>>();
  const byUse = new Line<Entry<Value>>();
  let total = 0;

  function remove(entry: Entry<Value>): void {
    byUse.remove(entry);
    entries.delete(entry.key);
    total -= entry.bytes;
  }

  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      byUse.moveLast(entry);
      return entry.value;
    },
    set(key, value, bytes) {
      const known = entries.get(key);
      if (known !== undefined) remove(known);
      if (bytes > maxBytes || maxEntries < 1) return;
      const entry: Entry<Value> = { key, value, bytes, before: undefined, after: undefined };
      entries.set(key, entry);
      byUse.add(entry);
      total += bytes;
      while (byUse.first !== undefined && (entries.size > maxEntries || total > maxBytes))
        remove(byUse.first);
    },
    take(key) {
      const entry = entries.get(key);
      if (entry !== undefined) remove(entry);
      return entry;
    },
    get size() {
      return entries.size;
    },
    get bytes() {
      return total;
    },
  };
}
