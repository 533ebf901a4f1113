import { type InLine, Line } from '../rest/line.ts';
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
  clear(): void;
}

// What a page takes beside its rows, such as its key; searches that find nothing have no rows.
const bytesPerPage = 1_024;

export function createKeptPages(): KeptPages {
  return new PagesOfTenant();
}

/** A class, as each tenant that is remembered has some. */
class PagesOfTenant implements KeptPages {
  readonly #kept = new Map<string, Kept>();
  // In the order in which they were last asked for, which in a Map each use would change.
  readonly #byUse = new Line<Kept>();
  #taken = 0;

  get(key: string): KeptPage | undefined {
    return this.#kept.get(key)?.page;
  }

  set(key: string, page: KeptPage, room: Room): void {
    this.delete(key);
    const bytes = bytesPerPage + page.bytes;
    if (bytes > room.maxBytesPerTenant) return;
    // First, so that what is beyond the tenant's share is never at the cost of others.
    while (this.#taken + bytes > room.maxBytesPerTenant && this.#byUse.first !== undefined) {
      this.delete(this.#byUse.first.key);
    }
    const place = room.take(bytes, () => this.delete(key));
    const kept: Kept = { key, page, place, before: undefined, after: undefined };
    this.#kept.set(key, kept);
    this.#byUse.add(kept);
    this.#taken += bytes;
  }

  use(key: string): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    this.#byUse.moveLast(kept);
    kept.place.use();
  }

  delete(key: string): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    this.#kept.delete(key);
    this.#byUse.remove(kept);
    kept.place.giveUp();
    this.#taken -= kept.place.bytes;
  }

  clear(): void {
    for (const key of this.#kept.keys()) this.delete(key);
  }
}

interface Kept extends InLine<Kept> {
  readonly key: string;
  readonly page: KeptPage;
  readonly place: Place;
}
