import { LRUCache } from 'lru-cache';
import type { Tenant } from '../../tenancy/tenant.ts';
import { type ListScan, maxScannedPages } from './list-scan.ts';
import { type FilteredRow, matchesFilter, NewestFirst } from './row-filter.ts';

/** The number of records of each status of REST. */
export interface StatusCounts {
  byStatus: ReadonlyMap<string, number>;
  /** False if the operation could not read the whole list. Each number is then a lower bound. */
  isExact: boolean;
  /** When the counting started. */
  asOf: Date;
  /** Whether the counts are exact, or of as many pages as an operation may read. */
  mayBeKept: boolean;
}

/** Counts the records of a list, or only those created since a time in milliseconds since 1970. */
export async function countByStatus(
  scan: ListScan<FilteredRow>,
  createdSinceMs: number | undefined,
): Promise<StatusCounts> {
  const asOf = new Date();
  const byStatus = new Map<string, number>();
  const newestFirst = new NewestFirst();
  const filter = { createdSinceMs };
  for (let number = 0; ; number += 1) {
    const next = await scan(number, Number.POSITIVE_INFINITY);
    if (typeof next === 'string') {
      const isExact = next === 'end';
      return { byStatus, isExact, asOf, mayBeKept: isExact || number === maxScannedPages };
    }
    const { rows } = next.page;
    for (const row of rows) {
      if (!matchesFilter(row, filter) || typeof row.status !== 'string') continue;
      byStatus.set(row.status, (byStatus.get(row.status) ?? 0) + 1);
    }
    newestFirst.add(rows);
    if (newestFirst.isPast(createdSinceMs)) return { byStatus, isExact: true, asOf, mayBeKept: true };
  }
}

const keptMs = 30_000;
// A token counts few lists, each since few times.
const maxKept = 20;

/** The counts of one token. They are kept for 30 seconds, and not after a write of the token. */
export class KeptCounts {
  // By default, lru-cache sets a 1 ms timer for each reading of the clock.
  readonly #kept = new LRUCache<string, StatusCounts>({ max: maxKept, ttl: keptMs, ttlResolution: 0 });

  /** Returns the kept counts with this key, or those that `count` reads. */
  async get(key: string, { writes }: Tenant, count: () => Promise<StatusCounts>): Promise<StatusCounts> {
    // After a write, no counts from before it are found.
    const fullKey = `${writes} ${key}`;
    const kept = this.#kept.get(fullKey);
    if (kept !== undefined) return kept;
    const start = performance.now();
    const counts = await count();
    if (counts.mayBeKept) this.#kept.set(fullKey, counts, { start });
    return counts;
  }
}
