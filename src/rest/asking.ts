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

/** The paths behind an asker, each once. */
export function pathsOf(asker: Asker): string[] {
  const paths = new Set<string>();
  const seen = new Set<Asker>();

  function collect(asker: Asker): void {
    if (seen.has(asker)) return;
    seen.add(asker);
    if (typeof asker === 'string') paths.add(asker);
    else for (const member of asker) collect(member);
  }

  collect(asker);
  return [...paths];
}
