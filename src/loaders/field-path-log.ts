import { currentFieldPath, type FieldPaths } from '../rest/client/field-path.ts';

/** Remembers which fields have asked a loader for what, also those that ask once the call for it has been made. */
export interface FieldPathLog {
  note(key: string): void;
  /** Makes the call that answers these keys, on behalf of all who have asked for them and who still will. */
  runForKeys<Answer>(keys: readonly string[], call: () => Answer): Answer;
  /** The same for one key, which the call is told. */
  runForKey<Answer>(key: string, call: (key: string) => Answer): Answer;
  /** Who asks for this key from now on, or for any where none is given, asks for another call. */
  forget(key?: string): void;
}

export function createFieldPathLog(): FieldPathLog {
  return new LazyFieldPathLog();
}

/** A class, as each loader of an operation has some, and few operations note any. */
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
