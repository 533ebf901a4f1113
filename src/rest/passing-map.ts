// Of this many, copying those that are there costs each one hardly anything.
const fewestUntilAnew = 256;

/**
 * A map of what is there for a moment each. A Map leaves each table that it has outgrown behind with a way on to the next:
 * one of them that has become old keeps all that follow, with what was in them, until a full collection of garbage, and
 * each collection before that has to move it. Here there is a Map anew now and then, to which no other leads.
 */
export class PassingMap<Key, Value> {
  #entries = new Map<Key, Value>();
  #untilAnew = fewestUntilAnew;

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  set(key: Key, value: Value): void {
    if (this.#untilAnew === 0) {
      this.#entries = new Map(this.#entries);
      this.#untilAnew = Math.max(fewestUntilAnew, 4 * this.#entries.size);
    }
    this.#untilAnew -= 1;
    this.#entries.set(key, value);
  }

  delete(key: Key): void {
    this.#entries.delete(key);
  }

  values(): Iterable<Value> {
    return this.#entries.values();
  }
}
