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
