import { type Asker, asking } from '../rest/asking.ts';
import type { Caller } from '../rest/caller.ts';
import type { Page, PageQuery } from '../rest/types.ts';
import type { Askers } from './askers.ts';
import type { Announcement } from './batch-parts.ts';
import { fewestForPage } from './batch-plan.ts';
import type { KnownCalls } from './call-costs.ts';
import { createGets, type Gets } from './gets.ts';
import { answerFromList, type ListedRecords } from './listed-batch.ts';
import { type PageReading, readPage } from './page-reading.ts';
import { batchLoader, type RecordLoader } from './record-loader.ts';
import type { Settled } from './settling.ts';

export interface ListedLoaderOptions<Json> extends ListedRecords {
  get(name: string, caller: Caller): Promise<Json>;
  /** The list that has the same records, newest first as a rule. */
  list(query: PageQuery, caller: Caller): Promise<Page<Json>>;
  /** The most rows that a page of it has. */
  maxPageSize: number;
  /** Whether pages may answer ids at all. */
  isListUsed: boolean;
}

/** Records that have a get endpoint and a list. */
export interface ListedLoader<Json> extends RecordLoader<Json> {
  knownCalls(): KnownCalls;
  /** Asks for the newest rows before it is known which of them are wanted. Those that are announced may be among them. */
  readAhead(rows: number): void;
  announce(announcement: Announcement): void;
}

/**
 * A loader that answers a batch of names from pages of their list as long as that is expected to pay (batch-plan.ts), and
 * asks for the rest by id. Whatever is wrong with the list, every name is answered as its get would answer it; but a page
 * that is refused as every call would be ends the batch.
 */
export function listedLoader<Json extends { name: string }>(
  options: ListedLoaderOptions<Json>,
): ListedLoader<Json> {
  return new Listed(options);
}

/** What is announced of most batches. */
const none: readonly Announcement[] = [];

class Listed<Json extends { name: string }> implements ListedLoader<Json> {
  readonly #options: ListedLoaderOptions<Json>;
  readonly #records: RecordLoader<Json>;
  #announcements = none;
  #ahead: { reading: PageReading<Json>; askers: Set<Asker> } | undefined;
  // What was on its way before something was forgotten must not be remembered.
  #generation = 0;

  constructor(options: ListedLoaderOptions<Json>) {
    this.#options = options;
    this.#records = batchLoader((names, askers) => this.#answer(names, askers));
  }

  load(name: string): Promise<Json | null> {
    return this.#records.load(name);
  }

  find(name: string): Json | Promise<Json | null> {
    return this.#records.find(name);
  }

  prime(rows: Page<Json>['rows']): void {
    if (!this.#options.history.rowCheck.areRowsLacking()) this.#records.prime(rows);
  }

  replace(name: string, record: Json): void {
    this.#forgetList();
    this.#records.replace(name, record);
  }

  clear(name: string): void {
    this.#forgetList();
    this.#records.clear(name);
  }

  clearAll(): void {
    this.#forgetList();
    this.#records.clearAll();
  }

  knownCalls(): KnownCalls {
    const { history, caller, maxPageSize } = this.#options;
    return { ...history.times.expected(), callsAtOnce: caller.callsPerOperation, maxPageSize };
  }

  readAhead(rows: number): void {
    if (!this.#isListFit() || this.#ahead !== undefined) return;
    const { observer, kind } = this.#options;
    observer.pageAhead(kind, 'asked');
    const asker = asking.getStore();
    const askers = new Set(asker === undefined ? [] : [asker]);
    this.#ahead = { reading: asking.run(askers, () => this.#read({ pageSize: rows })), askers };
  }

  announce(announcement: Announcement): void {
    this.#announcements = [...this.#announcements, announcement];
  }

  #answer(names: readonly string[], askers: Askers): Promise<Settled<Json>[]> {
    const { get, caller, history } = this.#options;
    const gets = createGets({ get, caller, askers, times: history.times });
    const heard = this.#announcements.length === 0 ? none : this.#hear(names);
    const readAhead = heard.length === 0 ? undefined : askers.onBehalf(names, () => this.#takeAhead());
    return readAhead === undefined && names.length < fewestForPage
      ? this.#getAll(names, gets)
      : this.#search(names, heard, readAhead, gets, askers);
  }

  /** What is announced of these names. */
  #hear(names: readonly string[]): readonly Announcement[] {
    const isHeard = (announcement: Announcement) => names.some((name) => announcement.names.has(name));
    const heard = this.#announcements.filter(isHeard);
    this.#announcements = this.#announcements.filter((announcement) => !heard.includes(announcement));
    return heard;
  }

  #takeAhead(): PageReading<Json> | undefined {
    if (this.#ahead === undefined) return undefined;
    const { reading, askers } = this.#ahead;
    const { observer, kind } = this.#options;
    this.#ahead = undefined;
    observer.pageAhead(kind, 'used');
    const asker = asking.getStore();
    if (asker !== undefined) askers.add(asker);
    return reading;
  }

  #getAll(names: readonly string[], gets: Gets<Json>): Promise<Settled<Json>[]> {
    const { observer, kind, history } = this.#options;
    observer.batch(kind, names.length, 'gets');
    return gets.all(names).then((answers) => {
      history.sawGets(answers);
      return answers;
    });
  }

  async #search(
    names: readonly string[],
    heard: readonly Announcement[],
    readAhead: PageReading<Json> | undefined,
    gets: Gets<Json>,
    askers: Askers,
  ): Promise<Settled<Json>[]> {
    const before = this.#generation;
    const { answers, rows } = await answerFromList(names, this.#options, {
      heard,
      readAhead,
      gets,
      knownCalls: this.knownCalls(),
      isListFit: () => this.#isListFit(),
      read: (query) => this.#read(query),
      askers,
    });
    if (this.#generation === before && this.#isListFit()) this.#records.prime(rows);
    return answers;
  }

  #isListFit(): boolean {
    const { isListUsed, history } = this.#options;
    return isListUsed && !history.rowCheck.areRowsLacking() && !history.trouble.isLeftAlone();
  }

  #read(query: PageQuery): PageReading<Json> {
    const { list, caller, history } = this.#options;
    return readPage(query, { list, caller, times: history.times });
  }

  #forgetList(): void {
    this.#generation += 1;
    this.#ahead?.reading.giveUp();
    this.#ahead = undefined;
    this.#announcements = none;
  }
}
