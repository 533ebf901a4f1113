import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * The fields that requested a call: one field path, such as `orders.nodes.0.shipment`, or a set of them for a shared
 * call. A set may grow during the call and afterwards.
 */
export type FieldPaths = string | ReadonlySet<FieldPaths>;

/**
 * The path of the field that is being resolved. Set only if the operation's cost is reported. An AsyncLocalStorage,
 * because an argument would have to pass through every function on the way to the call.
 */
export const currentFieldPath = new AsyncLocalStorage<FieldPaths>();

/**
 * Lists the field paths without duplicates. Paths that differ only in list indexes become one path with `*` as
 * indexes, so a thousand items of a list yield one path.
 */
export function pathsOf(fieldPaths: FieldPaths): string[] {
  const pathByPattern = new Map<string, string>();
  const seen = new Set<FieldPaths>();

  function add(path: string): void {
    // A GraphQL name never starts with a digit, so every number is a list index.
    const pattern = path.replace(/\.\d+(?=\.|$)/g, '.*');
    const samePattern = pathByPattern.get(pattern);
    pathByPattern.set(pattern, samePattern === undefined || samePattern === path ? path : pattern);
  }

  function collect(fieldPaths: FieldPaths): void {
    if (seen.has(fieldPaths)) return;
    seen.add(fieldPaths);
    if (typeof fieldPaths === 'string') add(fieldPaths);
    else for (const nested of fieldPaths) collect(nested);
  }

  collect(fieldPaths);
  return [...pathByPattern.values()];
}

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
