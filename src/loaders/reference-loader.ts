import type { Caller } from '../rest/caller.ts';
import { neverCancelled } from '../rest/cancellation.ts';
import { createLedger, type LedgerEntry } from '../rest/ledger.ts';
import type { Page, PageQuery } from '../rest/types.ts';
import type { ReadPage } from './kept-pages.ts';
import { type PageLoader, pageLoader, queryKey } from './page-loader.ts';
import type { ReferencePages } from './reference-pages.ts';

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
