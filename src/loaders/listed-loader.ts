import type { Caller } from '../rest/caller.ts';
import { BudgetExceededError } from '../rest/errors.ts';
import type { Page, PageQuery } from '../rest/types.ts';
import type { Askers } from './askers.ts';
import type { BatchHistory } from './batch-history.ts';
import {
  expectedMs,
  fewestForPage,
  hasPaid,
  type Knowledge,
  nextPageSize,
  trialPageSize,
} from './batch-plan.ts';
import { createListWalk, type ListWalk } from './list-walk.ts';
import { batchLoader, nullOrError, type RecordLoader } from './record-loader.ts';

export interface ListedLoaderOptions<Json> {
  get(name: string): Promise<Json>;
  /** The list that has the same records, newest first as a rule. */
  list(query: PageQuery): Promise<Page<Json>>;
  /** The most rows that a page of it has. */
  maxPageSize: number;
  caller: Caller;
  /** Of the caller's tenant, for this resource. */
  history: BatchHistory;
  /** Whether pages may answer ids at all. */
  isListUsed: boolean;
}

/** Names that are about to be asked for. */
export interface Announcement {
  names: ReadonlySet<string>;
  /** Told how many of them were asked for, and in which rows of the list those were that it had. */
  onFound(asked: number, indices: readonly number[]): void;
}

/** Records that have a get endpoint and a list. */
export interface ListedLoader<Json> extends RecordLoader<Json> {
  knowledge(): Knowledge;
  /** Asks for the newest rows before it is known which of them are wanted. Those that are announced may be among them. */
  readAhead(rows: number): void;
  announce(announcement: Announcement): void;
}

/**
 * A loader that answers a batch of names from pages of their list as long as that is expected to pay (batch-plan.ts), and
 * asks for the rest by id. Whatever is wrong with the list, every name is answered as its get would answer it.
 */
export function listedLoader<Json extends { name: string }>(
  options: ListedLoaderOptions<Json>,
): ListedLoader<Json> {
  const { get, list, maxPageSize, caller, history, isListUsed } = options;
  const { times, depths, shapes } = history;
  const knowledge = () => history.known(caller.callsPerOperation, maxPageSize);
  const isListFit = () => isListUsed && !shapes.areRowsLacking;
  let announcements: Announcement[] = [];
  let ahead: Promise<Page<Json> | undefined> | undefined;
  // What was on its way before something was forgotten must not be remembered.
  let generation = 0;

  /** The page, or undefined where there is none to be had; that is nobody's error, as ids can be asked for one by one. */
  async function readPage(query: PageQuery): Promise<Page<Json> | undefined> {
    const startedAt = performance.now();
    try {
      const page = await list(query);
      times.sawPage(page.rows.length, performance.now() - startedAt);
      shapes.sawRows(page.rows);
      return page;
    } catch (error) {
      // No page is as good as one without any of the records, unless it was this operation's own doing.
      const isOwnDoing = caller.signal.aborted || error instanceof BudgetExceededError;
      return isOwnDoing ? undefined : { rows: [], nextPageToken: undefined };
    }
  }

  async function walkThrough(
    names: readonly string[],
    aheadPage: Promise<Page<Json> | undefined> | undefined,
    { onBehalf }: Askers,
  ): Promise<Walked<Json>> {
    const walk = createListWalk<Json>(names);
    const known = knowledge();
    /** Whether to look further. */
    function take(page: Page<Json>): boolean {
      const { missing } = walk.state;
      const found = walk.take(page);
      return !walk.isAtEnd && hasPaid({ found, rows: page.rows.length, missing }, known);
    }

    let goesOn = true;
    let isLate = false;
    if (aheadPage !== undefined) {
      walk.ask();
      const page = await inTime(aheadPage, expectedMs(names.length, known));
      isLate = page === undefined;
      if (page !== undefined) goesOn = take(page);
    }
    while (goesOn && isListFit()) {
      const { state, nextPageToken } = walk;
      const isTrial = state.pages === 0 && history.isTrialDue();
      const pageSize = nextPageSize(state, known) ?? (isTrial ? trialPageSize(state, known) : undefined);
      if (pageSize === undefined) break;
      walk.ask();
      const query = { pageSize, ...(nextPageToken !== undefined && { pageToken: nextPageToken }) };
      const missing = names.filter((name) => !walk.found.has(name));
      const page = await onBehalf(missing, () => readPage(query));
      goesOn = page !== undefined && take(page);
    }
    return { walk, isLate };
  }

  function learn(names: readonly string[], { walk, isLate }: Walked<Json>): void {
    if (names.length >= fewestForPage) history.sawBatch(walk.state.pages > 0);
    const heard = announcements.filter((announcement) => !announcement.names.isDisjointFrom(new Set(names)));
    announcements = announcements.filter((announcement) => !heard.includes(announcement));
    if (walk.state.pages === 0 || caller.signal.aborted) return;
    const indicesOf = (asked: readonly string[]) =>
      asked.flatMap((name) => walk.found.get(name)?.index ?? []);
    if (walk.isBegun) depths.saw(names.length, indicesOf(names));
    for (const { names: announced, onFound } of heard) {
      const asked = names.filter((name) => announced.has(name));
      onFound(asked.length, isLate ? [] : indicesOf(asked));
    }
  }

  const records = batchLoader<Json>(async (names, askers) => {
    const before = generation;
    const isAnnounced = announcements.some(({ names: announced }) =>
      names.some((name) => announced.has(name)),
    );
    const aheadPage = isAnnounced ? ahead : undefined;
    if (isAnnounced) ahead = undefined;
    const walked = await walkThrough(names, aheadPage, askers);
    learn(names, walked);
    const isFit = isListFit();
    if (isFit && generation === before) {
      for (const row of walked.walk.unwanted) records.prime(row.name, row);
    }
    const found = isFit ? walked.walk.found : new Map<string, { row: Json }>();
    caller.ledger.savedByList += found.size;
    const missing = names.filter((name) => !found.has(name));
    const gotten = await getAll(missing, askers);
    return names.map((name) => found.get(name)?.row ?? gotten.get(name) ?? null);
  });

  async function getAll(names: readonly string[], { onBehalf }: Askers) {
    const startedAt = performance.now();
    const answers = await Promise.all(names.map((name) => nullOrError(onBehalf([name], () => get(name)))));
    // A call that has failed says nothing about how long one takes.
    if (!answers.some((answer) => answer instanceof Error)) {
      times.sawGets(names.length, caller.callsPerOperation, performance.now() - startedAt);
    }
    for (const answer of answers) {
      if (answer !== null && !(answer instanceof Error)) shapes.sawGet(answer);
    }
    return new Map(names.map((name, index) => [name, answers[index] ?? null]));
  }

  function forgetList(): void {
    generation += 1;
    ahead = undefined;
    announcements = [];
  }

  return {
    load: records.load,
    prime(name, record) {
      if (!shapes.areRowsLacking) records.prime(name, record);
    },
    replace(name, record) {
      forgetList();
      records.replace(name, record);
    },
    clear(name) {
      forgetList();
      records.clear(name);
    },
    clearAll() {
      forgetList();
      records.clearAll();
    },
    knowledge,
    readAhead(rows) {
      if (isListFit()) ahead ??= readPage({ pageSize: rows });
    },
    announce(announcement) {
      announcements.push(announcement);
    },
  };
}

interface Walked<Json> {
  walk: ListWalk<Json>;
  /** Whether a page that had been asked for ahead was not there in time. */
  isLate: boolean;
}

/** What is promised, or undefined where it is not there after so many milliseconds. */
function inTime<Value>(promise: Promise<Value>, ms: number): Promise<Value | undefined> {
  return new Promise((resolve, reject) => {
    // A server that was busy until now has a look first at what has come in meanwhile.
    const timer = setTimeout(() => setImmediate(() => resolve(undefined)), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
