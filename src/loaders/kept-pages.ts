import type { Place, Room } from '../rest/room.ts';
import type { Page } from '../rest/types.ts';

/** A page, and how many bytes of JSON it was. */
export interface ReadPage<Row> {
  page: Page<Row>;
  bytes: number;
}

export interface KeptPage extends ReadPage<unknown> {
  /** When it was asked for: what it says was so at that time at the earliest. */
  askedAt: number;
}

/** The pages that are kept for one tenant, who may have a share of the room of all. */
export interface KeptPages {
  get(key: string): KeptPage | undefined;
  /** Puts a page in the place of what is kept, unless it is larger than the tenant's share. */
  set(key: string, page: KeptPage, room: Room): void;
  /** Counts as the last one asked for, so that others go before it. */
  use(key: string): void;
  delete(key: string): void;
}

// What a page takes beside its rows, such as its key; searches that find nothing have no rows.
const bytesPerPage = 1_024;

export function createKeptPages(): KeptPages {
  // In the order in which they were last asked for.
  const kept = new Map<string, { page: KeptPage; place: Place }>();
  let taken = 0;

  function remove(key: string): void {
    const known = kept.get(key);
    if (known === undefined) return;
    kept.delete(key);
    known.place.giveUp();
    taken -= known.place.bytes;
  }

  return {
    get: (key) => kept.get(key)?.page,
    set(key, page, room) {
      remove(key);
      const bytes = bytesPerPage + page.bytes;
      if (bytes > room.maxBytesPerTenant) return;
      // First, so that what is beyond the tenant's share is never at the cost of others.
      for (const oldest of kept.keys()) {
        if (taken + bytes <= room.maxBytesPerTenant) break;
        remove(oldest);
      }
      kept.set(key, { page, place: room.take(bytes, () => remove(key)) });
      taken += bytes;
    },
    use(key) {
      const known = kept.get(key);
      if (known === undefined) return;
      kept.delete(key);
      kept.set(key, known);
      known.place.use();
    },
    delete: remove,
  };
}
