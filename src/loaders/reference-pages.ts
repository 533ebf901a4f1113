import type { Caller } from '../rest/caller.ts';
import { neverCancelled } from '../rest/cancellation.ts';
import { InvalidResponseError, StatusError } from '../rest/errors.ts';
import { createLedger, type LedgerEntry } from '../rest/ledger.ts';
import type { Room } from '../rest/room.ts';
import type { Page, PageQuery } from '../rest/types.ts';
import { createKeptPages, type KeptPage, type ReadPage } from './kept-pages.ts';
import { type PageLoader, pageLoader, queryKey } from './page-loader.ts';

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
    underWay.set(key, (underWay.get(key) ?? 0) + 1);
    try {
      const answer = await read();
      this.#keep(key, answer, askedAt, room);
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

/** Pages of a list that seldom changes. What an earlier operation of the tenant has read needs no call. */
export interface ReferencePageLoader<Row, Query extends PageQuery> extends PageLoader<Row, Query> {
  /** Whether a page costs no call more, as it is known or has been asked for already. */
  knows(query: Query): boolean;
  /** Whether a page was read in this operation, so that what it lacks is not there. */
  isOwn(query: Query): boolean;
  /**
   * From here on, answers nothing that an earlier operation has read, as that may be outdated. Says whether any such page
   * has been answered before, so that what was made of it is to be forgotten too.
   */
  forgetEarlier(): boolean;
}

/** Makes the loaders of an operation over lists that seldom change; `list` tells those in `pages` apart. */
export function referenceLoaders(caller: Caller, pages: ReferencePages) {
  return <Row extends { name: string }, Query extends PageQuery>(
    list: string,
    read: (query: Query, caller: Caller) => Promise<Page<Row>>,
  ): ReferencePageLoader<Row, Query> => new ReferenceLoader(caller, pages, list, read);
}

/** A class, as each operation has some. */
class ReferenceLoader<Row extends { name: string }, Query extends PageQuery>
  implements ReferencePageLoader<Row, Query>
{
  readonly #caller: Caller;
  readonly #pages: ReferencePages;
  readonly #list: string;
  readonly #read: (query: Query, caller: Caller) => Promise<Page<Row>>;
  readonly #loader: PageLoader<Row, Query> = pageLoader((query) => this.#page(query));
  // What this operation has asked for, what it has read itself, and what an earlier one has read for it.
  readonly #asked = new Set<string>();
  readonly #own = new Set<string>();
  readonly #earlier = new Set<Query>();
  #isEarlierWelcome = true;

  constructor(
    caller: Caller,
    pages: ReferencePages,
    list: string,
    read: (query: Query, caller: Caller) => Promise<Page<Row>>,
  ) {
    this.#caller = caller;
    this.#pages = pages;
    this.#list = list;
    this.#read = read;
  }

  load(query: Query): Promise<Page<Row>> {
    this.#asked.add(this.#keyOf(query));
    return this.#loader.load(query);
  }

  clear(query: Query): void {
    this.#asked.delete(this.#keyOf(query));
    this.#loader.clear(query);
  }

  clearAll(): void {
    this.#asked.clear();
    this.#own.clear();
    this.#loader.clearAll();
  }

  isOwn(query: Query): boolean {
    return this.#own.has(this.#keyOf(query));
  }

  knows(query: Query): boolean {
    const key = this.#keyOf(query);
    return this.#asked.has(key) || (this.#isEarlierWelcome && this.#pages.has(key));
  }

  forgetEarlier(): boolean {
    this.#isEarlierWelcome = false;
    const wasAnswered = this.#earlier.size > 0;
    for (const query of this.#earlier) this.clear(query);
    this.#earlier.clear();
    return wasAnswered;
  }

  #keyOf(query: Query): string {
    return `${this.#list} ${queryKey(query)}`;
  }

  async #page(query: Query): Promise<Page<Row>> {
    const caller = this.#caller;
    const key = this.#keyOf(query);
    const known = this.#isEarlierWelcome ? this.#pages.find(key) : undefined;
    if (known === undefined) {
      const page = await this.#pages.read(key, () => this.#weighed(query, caller), caller.room);
      this.#own.add(key);
      return page;
    }
    this.#earlier.add(query);
    caller.ledger.cached += 1;
    if (known.isDue) this.#pages.renew(key, () => this.#weighed(query, forLater(caller)), caller.room);
    // Under the name of a list there are only pages of its own.
    return known.page as Page<Row>;
  }

  async #weighed(query: Query, caller: Caller): Promise<ReadPage<Row>> {
    let bytes = 0;
    const heard = (entry: LedgerEntry) => {
      bytes = entry.bytes;
      caller.heard(entry);
    };
    return { page: await this.#read(query, { ...caller, heard }), bytes };
  }
}

/** The caller of a read that later operations gain from: it outlives this one, and costs it nothing but a turn. */
function forLater(caller: Caller): Caller {
  return { ...caller, signal: neverCancelled, ledger: createLedger(), spend: () => {} };
}
