import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * On whose behalf a call is made: the path of a field, such as `orders.nodes.0.shipment`, or all who have asked for the
 * same. These may become more while the call is under way, and after it.
 */
export type Asker = string | ReadonlySet<Asker>;

/**
 * Who asks; set only where an operation shows what it cost. It holds for all that is awaited on the way, which an argument
 * would have to be passed along for.
 */
export const asking = new AsyncLocalStorage<Asker>();

/**
 * The paths behind an asker, each once. Those that differ by their list indexes alone are one, with `*` in their places,
 * so that a thousand items that ask for the same say so once.
 */
export function pathsOf(asker: Asker): string[] {
  const pathByField = new Map<string, string>();
  const seen = new Set<Asker>();

  function note(path: string): void {
    // No name in a query begins with a digit.
    const field = path.replace(/\.\d+(?=\.|$)/g, '.*');
    const known = pathByField.get(field);
    pathByField.set(field, known === undefined || known === path ? path : field);
  }

  function collect(asker: Asker): void {
    if (seen.has(asker)) return;
    seen.add(asker);
    if (typeof asker === 'string') note(asker);
    else for (const member of asker) collect(member);
  }

  collect(asker);
  return [...pathByField.values()];
}
