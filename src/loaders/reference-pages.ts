import { InvalidResponseError, StatusError } from '../rest/errors.ts';
import type { Room } from '../rest/room.ts';
import type { Page } from '../rest/types.ts';
import { createKeptPages, type KeptPage, type ReadPage } from './kept-pages.ts';

/** How long pages are kept. */
export interface ReferenceTimes {
  /** How long a page is taken for what it is, in milliseconds; 0 keeps none. */
  referenceMs: number;
  /** How much longer it is still answered while it is read anew, in milliseconds. */
  referenceGraceMs: number;
}

/**
 * Pages of lists that seldom change, kept for one tenant beyond the operation that has read them. Nothing drops them
 * when something is written: none of the six writes changes origins, locations, channels or templates.
 */
export interface ReferencePages {
  /** Whether a page may be answered without a call, or is under way already. */
  has(key: string): boolean;
  /** The page, and whether it is due to be read anew; undefined where there is none that may still be answered. */
  find(key: string): { page: Page<unknown>; isDue: boolean } | undefined;
  /** Reads a page and keeps it where there is room. An error is not kept, and nor is a page with a broken row. */
  read<Row>(key: string, read: () => Promise<ReadPage<Row>>, room: Room): Promise<Page<Row>>;
  /** Reads a page anew for those who ask later, once at a time. When that fails, the next who asks tries again. */
  renew(key: string, read: () => Promise<ReadPage<unknown>>, room: Room): void;
  /** Forgets all pages, and keeps none of those that are under way. */
  forget(): void;
}

/** `now` counts milliseconds, from whenever. */
export function createReferencePages(times: ReferenceTimes, now = () => performance.now()): ReferencePages {
  return new PagesOfLists(times, now);
}

/** A class, as each tenant that is remembered has some. */
class PagesOfLists implements ReferencePages {
  readonly #times: ReferenceTimes;
  readonly #now: () => number;
  readonly #kept = createKeptPages();
  readonly #underWay = new Map<string, number>();
  #renewed: Set<string> | undefined;
  /** How often all was forgotten. */
  #generation = 0;

  constructor(times: ReferenceTimes, now: () => number) {
    this.#times = times;
    this.#now = now;
  }

  has(key: string): boolean {
    return this.#underWay.has(key) || this.#answerable(key) !== undefined;
  }

  find(key: string): { page: Page<unknown>; isDue: boolean } | undefined {
    const known = this.#answerable(key);
    if (known === undefined) return undefined;
    this.#kept.use(key);
    return { page: known.page, isDue: this.#now() - known.askedAt >= this.#times.referenceMs };
  }

  async read<Row>(key: string, read: () => Promise<ReadPage<Row>>, room: Room): Promise<Page<Row>> {
    const underWay = this.#underWay;
    const askedAt = this.#now();
    const generation = this.#generation;
    underWay.set(key, (underWay.get(key) ?? 0) + 1);
    try {
      const answer = await read();
      if (generation === this.#generation) this.#keep(key, answer, askedAt, room);
      return answer.page;
    } finally {
      const others = (underWay.get(key) ?? 1) - 1;
      if (others === 0) underWay.delete(key);
      else underWay.set(key, others);
    }
  }

  renew(key: string, read: () => Promise<ReadPage<unknown>>, room: Room): void {
    this.#renewed ??= new Set();
    if (this.#renewed.has(key)) return;
    this.#renewed.add(key);
    this.read(key, read, room)
      .catch((error: unknown) => {
        if (isTakenAway(error)) this.#kept.delete(key);
      })
      .finally(() => this.#renewed?.delete(key));
  }

  forget(): void {
    this.#generation += 1;
    this.#kept.clear();
  }

  #keep(key: string, answer: ReadPage<unknown>, askedAt: number, room: Room): void {
    const isWhole = !answer.page.rows.some((row) => row instanceof InvalidResponseError);
    const isNewest = (this.#kept.get(key)?.askedAt ?? askedAt) <= askedAt;
    if (this.#times.referenceMs > 0 && isWhole && isNewest) this.#kept.set(key, { ...answer, askedAt }, room);
  }

  #answerable(key: string): KeptPage | undefined {
    const { referenceMs, referenceGraceMs } = this.#times;
    const known = this.#kept.get(key);
    const isGone = known !== undefined && this.#now() - known.askedAt >= referenceMs + referenceGraceMs;
    return isGone ? undefined : known;
  }
}

/** Whether REST says that this bearer has no such list, or no longer: no failure that a known page could bridge. */
function isTakenAway(error: unknown): boolean {
  return error instanceof StatusError && [401, 403, 404, 410].includes(error.status);
}
