import { type Asker, asking } from '../rest/client/field-path.ts';

/** Remembers which fields have asked a loader for what, also those that ask once the call for it has been made. */
export interface Askers {
  note(key: string): void;
  /** Makes the call that answers these keys, on behalf of all who have asked for them and who still will. */
  onBehalf<Answer>(keys: readonly string[], call: () => Answer): Answer;
  /** The same for one key, which the call is told. */
  onBehalfOf<Answer>(key: string, call: (key: string) => Answer): Answer;
  /** Who asks for this key from now on, or for any where none is given, asks for another call. */
  forget(key?: string): void;
}

export function createAskers(): Askers {
  return new NotedAskers();
}

/** A class, as each loader of an operation has some, and few operations note any. */
class NotedAskers implements Askers {
  #askersByKey: Map<string, Set<Asker>> | undefined;

  note(key: string): void {
    const asker = asking.getStore();
    if (asker === undefined) return;
    this.#askersByKey ??= new Map();
    const known = this.#askersByKey.get(key) ?? new Set();
    this.#askersByKey.set(key, known.add(asker));
  }

  onBehalf<Answer>(keys: readonly string[], call: () => Answer): Answer {
    const askersByKey = this.#askersByKey;
    if (askersByKey === undefined || askersByKey.size === 0) return call();
    const askers = keys.flatMap((key) => askersByKey.get(key) ?? []);
    return asking.run(new Set(askers), call);
  }

  onBehalfOf<Answer>(key: string, call: (key: string) => Answer): Answer {
    const askersByKey = this.#askersByKey;
    if (askersByKey === undefined || askersByKey.size === 0) return call(key);
    const askers = askersByKey.get(key);
    return asking.run(new Set(askers === undefined ? [] : [askers]), call, key);
  }

  forget(key?: string): void {
    if (key === undefined) this.#askersByKey?.clear();
    else this.#askersByKey?.delete(key);
  }
}
