import type { Caller } from '../rest/caller.ts';
import { BudgetExceededError } from '../rest/errors.ts';
import type { Page, PageQuery } from '../rest/types.ts';
import type { Askers } from './askers.ts';
import type { BatchHistory } from './batch-history.ts';
import {
  fewestForPage,
  hasPaid,
  type Knowledge,
  nextPageSize,
  patienceMs,
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

// A list that is late today is left alone, unless more ids are asked for than an operation should ask for one by one.
const mostAfterLate = 100;

// Before a service that answers within a few milliseconds, a pause of this process alone would make a page late, and cost
// a get for each id.
const leastPatienceMs = 50;

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
  let ahead: Promise<PageOutcome<Json>> | undefined;
  // What was on its way before something was forgotten must not be remembered.
  let generation = 0;

  /** That there is no page to be had is nobody's error, as ids can be asked for one by one. */
  async function readPage(query: PageQuery): Promise<PageOutcome<Json>> {
    const startedAt = performance.now();
    try {
      const page = await list(query);
      times.sawPage(page.rows.length, performance.now() - startedAt);
      shapes.sawRows(page.rows);
      return page;
    } catch (error) {
      return caller.signal.aborted || error instanceof BudgetExceededError ? 'given up' : 'failed';
    }
  }

  async function walkThrough(
    names: readonly string[],
    aheadPage: Promise<PageOutcome<Json>> | undefined,
    { onBehalf }: Askers,
  ): Promise<Walked<Json>> {
    const walk = createListWalk<Json>(names);
    const known = knowledge();
    let last: PageOutcome<Json> | 'late' | undefined;
    /** Whether it is worth looking further. */
    function take(page: Page<Json>): boolean {
      const { missing } = walk.state;
      const found = walk.take(page);
      return !walk.isAtEnd && hasPaid({ found, rows: page.rows.length, missing }, known);
    }

    let goesOn = true;
    if (aheadPage !== undefined) {
      walk.ask();
      last = await inTime(aheadPage, Math.max(patienceMs(names.length, known), leastPatienceMs));
      if (last === 'late') goesOn = names.length > mostAfterLate;
      else goesOn = isPage(last) && take(last);
    }
    const aheadOutcome = last;
    while (goesOn && isListFit()) {
      const { state, nextPageToken } = walk;
      const isTrial = state.pages === 0 && history.isTrialDue();
      const pageSize = nextPageSize(state, known) ?? (isTrial ? trialPageSize(state, known) : undefined);
      if (pageSize === undefined) break;
      walk.ask();
      const query = { pageSize, ...(nextPageToken !== undefined && { pageToken: nextPageToken }) };
      const missing = names.filter((name) => !walk.found.has(name));
      last = await onBehalf(missing, () => readPage(query));
      goesOn = isPage(last) && take(last);
    }
    return { walk, last, isAheadInVain: aheadOutcome !== undefined && !isPage(aheadOutcome) };
  }

  function learn(names: readonly string[], { walk, last, isAheadInVain }: Walked<Json>): void {
    if (names.length >= fewestForPage) history.sawBatch(walk.state.pages > 0);
    const wanted = new Set(names);
    const isHeard = (announcement: Announcement) => !announcement.names.isDisjointFrom(wanted);
    const heard = announcements.filter(isHeard);
    announcements = announcements.filter((announcement) => !isHeard(announcement));
    if (walk.state.pages === 0 || last === 'given up' || caller.signal.aborted) return;
    const indicesOf = (asked: readonly string[]) =>
      asked.flatMap((name) => walk.found.get(name)?.index ?? []);
    // A list that answers no page has none of the records; one that is late may have them all.
    if (last !== 'late') depths.saw(names.length, indicesOf(names));
    for (const { names: announced, onFound } of heard) {
      const asked = names.filter((name) => announced.has(name));
      onFound(asked.length, isAheadInVain ? [] : indicesOf(asked));
    }
  }

  const records = batchLoader<Json>(async (names, askers) => {
    const before = generation;
    const isAnnounced = announcements.some((announced) => names.some((name) => announced.names.has(name)));
    const aheadPage = isAnnounced ? ahead : undefined;
    if (isAnnounced) ahead = undefined;
    const walked = await walkThrough(names, aheadPage, askers);
    learn(names, walked);
    const { found, unwanted } = walked.walk;
    const answers = await getAll(
      names.filter((name) => !found.has(name)),
      askers,
    );
    // Perhaps it is only one of these gets that has shown what rows lack.
    if (!isListFit()) {
      const gotten = await getAll([...found.keys()], askers);
      return names.map((name) => answers.get(name) ?? gotten.get(name) ?? null);
    }
    caller.ledger.savedByList += found.size;
    if (generation === before) for (const row of unwanted) records.prime(row.name, row);
    return names.map((name) => found.get(name)?.row ?? answers.get(name) ?? null);
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

type PageOutcome<Json> = Page<Json> | 'failed' | 'given up';

function isPage<Json>(outcome: PageOutcome<Json> | 'late'): outcome is Page<Json> {
  return typeof outcome !== 'string';
}

interface Walked<Json> {
  walk: ListWalk<Json>;
  /** What came of the last page that was asked for. */
  last: PageOutcome<Json> | 'late' | undefined;
  /** Whether a page had been asked for ahead that was not there in time, or not at all. */
  isAheadInVain: boolean;
}

/** What is promised, or word that it is not there after so many milliseconds. */
function inTime<Value>(promise: Promise<Value>, ms: number): Promise<Value | 'late'> {
  return new Promise((resolve, reject) => {
    // A server that was busy until now has a look first at what has come in meanwhile.
    const timer = setTimeout(() => setImmediate(() => resolve('late')), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
