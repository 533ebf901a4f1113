import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * On whose behalf a call is made: the path of a field, such as `orders.nodes.0.shipment`, or all who have asked for the
 * same. These may become more while the call is under way, and after it.
 */
export type FieldPaths = string | ReadonlySet<FieldPaths>;

/**
 * Who asks; set only where an operation shows what it cost. It holds for all that is awaited on the way, which an argument
 * would have to be passed along for.
 */
export const currentFieldPath = new AsyncLocalStorage<FieldPaths>();

/**
 * The paths behind an asker, each once. Those that differ by their list indexes alone are one, with `*` in their places,
 * so that a thousand items that ask for the same say so once.
 */
export function pathsOf(fieldPath: FieldPaths): string[] {
  const pathByField = new Map<string, string>();
  const seen = new Set<FieldPaths>();

  function note(path: string): void {
    // No name in a query begins with a digit.
    const field = path.replace(/\.\d+(?=\.|$)/g, '.*');
    const known = pathByField.get(field);
    pathByField.set(field, known === undefined || known === path ? path : field);
  }

  function collect(fieldPath: FieldPaths): void {
    if (seen.has(fieldPath)) return;
    seen.add(fieldPath);
    if (typeof fieldPath === 'string') note(fieldPath);
    else for (const member of fieldPath) collect(member);
  }

  collect(fieldPath);
  return [...pathByField.values()];
}
