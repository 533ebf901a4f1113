import { LRUCache } from 'lru-cache';
import { maxScannedPages } from '../../rest/client/scan-budget.ts';
import type { Tenant } from '../../tenancy/tenant.ts';
import type { ListScan } from './list-scan.ts';
import { createAgeCheck } from './list-sequence.ts';
import { type FilteredRow, matchesFilter } from './row-filter.ts';

/** The number of records of each status of REST. */
export interface StatusCounts {
  byStatus: ReadonlyMap<string, number>;
  /** Likewise for each courier of REST, by its resource name. Null: the records that name none. */
  byCourier: ReadonlyMap<string | null, ReadonlyMap<string, number>>;
  /** False if the operation could not read the whole list. Each number is then a lower bound. */
  isExact: boolean;
  /** When the counting started, in the format of RFC 3339. */
  asOf: string;
  /** Whether a later operation may use the counts: they are exact, or no operation may read more pages. */
  mayBeKept: boolean;
}

/** Counts the records of a list, or only those created since a time in milliseconds since 1970. */
export function countByStatus(
  scan: ListScan<FilteredRow>,
  createdSinceMs: number | undefined,
): Promise<StatusCounts> {
  const byStatus = new Map<string, number>();
  const byCourier = new Map<string | null, Map<string, number>>();
  const counts = { byStatus, byCourier, isExact: true, asOf: new Date().toISOString(), mayBeKept: true };
  const areLaterRowsOlder = createAgeCheck(createdSinceMs);
  let pages = 0;
  return scan(Number.POSITIVE_INFINITY, (next) => {
    // The operation may read no further page.
    if ('endPosition' in next) return { ...counts, isExact: false, mayBeKept: pages === maxScannedPages };
    pages += 1;
    for (const row of next.page.rows) {
      if (!matchesFilter(row, { createdSinceMs }) || typeof row.status !== 'string') continue;
      const courier = row.courier || null;
      const ofCourier = byCourier.get(courier) ?? new Map<string, number>();
      byCourier.set(courier, ofCourier);
      for (const statuses of [byStatus, ofCourier])
        statuses.set(row.status, (statuses.get(row.status) ?? 0) + 1);
    }
    return areLaterRowsOlder(next.page.rows) || next.page.nextPageToken === undefined ? counts : undefined;
  });
}

/** The counts of one token. They are kept for 30 seconds, and not after a write of the token. */
export class KeptCounts {
  // A token asks for few different counts. By default, lru-cache sets a 1 ms timer for each reading of the clock.
  readonly #kept = new LRUCache<string, StatusCounts>({ max: 20, ttl: 30_000, ttlResolution: 0 });

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
