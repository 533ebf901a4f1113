import { currentFieldPath, type FieldPaths } from '../rest/client/field-path.ts';

/** Records which field paths request which keys of a loader, also field paths that join after the call was sent. */
export interface FieldPathLog {
  /** Records that the current field path requests this key. */
  note(key: string): void;
  /** Runs a call on behalf of all field paths that request these keys, now or later. */
  runForKeys<Answer>(keys: readonly string[], call: () => Answer): Answer;
  /** Does the same for one key, and passes the key to the call. */
  runForKey<Answer>(key: string, call: (key: string) => Answer): Answer;
  /** Forgets a key, by default all keys. Field paths that request the key later belong to a new call. */
  forget(key?: string): void;
}

/** Creates the log of one loader. The log stays empty while no field path is set. */
export function createFieldPathLog(): FieldPathLog {
  return new LazyFieldPathLog();
}

/** The map is created on first use: an operation has many logs, and few operations set field paths. */
class LazyFieldPathLog implements FieldPathLog {
  #pathsByKey: Map<string, Set<FieldPaths>> | undefined;

  note(key: string): void {
    const fieldPath = currentFieldPath.getStore();
    if (fieldPath === undefined) return;
    this.#pathsByKey ??= new Map();
    const fieldPaths = this.#pathsByKey.get(key) ?? new Set();
    this.#pathsByKey.set(key, fieldPaths.add(fieldPath));
  }

  runForKeys<Answer>(keys: readonly string[], call: () => Answer): Answer {
    const pathsByKey = this.#pathsByKey;
    if (pathsByKey === undefined || pathsByKey.size === 0) return call();
    const fieldPaths = keys.flatMap((key) => pathsByKey.get(key) ?? []);
    return currentFieldPath.run(new Set(fieldPaths), call);
  }

  runForKey<Answer>(key: string, call: (key: string) => Answer): Answer {
    const pathsByKey = this.#pathsByKey;
    if (pathsByKey === undefined || pathsByKey.size === 0) return call(key);
    const fieldPaths = pathsByKey.get(key);
    return currentFieldPath.run(new Set(fieldPaths === undefined ? [] : [fieldPaths]), call, key);
  }

  forget(key?: string): void {
    if (key === undefined) this.#pathsByKey?.clear();
    else this.#pathsByKey?.delete(key);
  }
}
