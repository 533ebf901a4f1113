import { type Asker, asking } from '../rest/asking.ts';
import type { Caller } from '../rest/caller.ts';
import type { Page, PageQuery } from '../rest/types.ts';
import type { BatchHistory } from './batch-history.ts';
import { type Announcement, type BatchPart, learn, partsOf, shareWithin } from './batch-parts.ts';
import { fewestForPage, patienceMs } from './batch-plan.ts';
import type { KnownCalls } from './call-costs.ts';
import { createGets } from './gets.ts';
import { type Searched, searchList } from './list-search.ts';
import type { BatchWay, ListedKind, LoadingObserver } from './loading-observer.ts';
import { isPage, type PageReading, readPage } from './page-reading.ts';
import { batchLoader, type RecordLoader } from './record-loader.ts';
import { answersInPlaceOf } from './row-check.ts';

export interface ListedLoaderOptions<Json> {
  get(name: string, caller: Caller): Promise<Json>;
  /** The list that has the same records, newest first as a rule. */
  list(query: PageQuery, caller: Caller): Promise<Page<Json>>;
  kind: ListedKind;
  /** The most rows that a page of it has. */
  maxPageSize: number;
  caller: Caller;
  /** Of the caller's tenant, for this resource. */
  history: BatchHistory;
  /** Whether pages may answer ids at all. */
  isListUsed: boolean;
  observer: LoadingObserver;
}

// Of a batch's gets, which are alike.
const mostLookedAt = 5;

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
  const { get, list, kind, maxPageSize, caller, history, isListUsed, observer } = options;
  const knownCalls = (): KnownCalls => ({
    ...history.times.expected(),
    callsAtOnce: caller.callsPerOperation,
    maxPageSize,
  });
  const isListFit = () => isListUsed && !history.rowCheck.areRowsLacking() && !history.trouble.isLeftAlone();
  let announcements: Announcement[] = [];
  let ahead: { reading: PageReading<Json>; askers: Set<Asker> } | undefined;
  // What was on its way before something was forgotten must not be remembered.
  let generation = 0;

  const read = (query: PageQuery) => readPage(query, { list, caller, times: history.times });

  /** What is announced of a batch, and the page that was asked for in its place. */
  function begin(names: readonly string[]) {
    const isHeard = (announcement: Announcement) => names.some((name) => announcement.names.has(name));
    const heard = announcements.filter(isHeard);
    announcements = announcements.filter((announcement) => !isHeard(announcement));
    const taken = heard.length > 0 ? ahead : undefined;
    if (taken !== undefined) {
      ahead = undefined;
      observer.pageAhead(kind, 'used');
      const asker = asking.getStore();
      if (asker !== undefined) taken.askers.add(asker);
    }
    return { heard, readAhead: taken?.reading };
  }

  const records = batchLoader<Json>(async (names, askers) => {
    const before = generation;
    const gets = createGets({ get, caller, askers, times: history.times });
    const { heard, readAhead } = askers.onBehalf(names, () => begin(names));
    if (readAhead === undefined && names.length < fewestForPage) {
      observer.batch(kind, names.length, 'gets');
      const answers = await gets.all(names);
      sawGets(answers);
      return names.map((name) => answers.get(name) ?? null);
    }
    const { times, trouble, rowCheck } = history;
    const parts = partsOf(names, heard, history.whereabouts);
    const knowledge = { ...knownCalls(), shareWithin: (rowsPerId: number) => shareWithin(parts, rowsPerId) };
    const searching = searchList(names, {
      knowledge,
      ahead: readAhead,
      isTrialDue: parts.some(({ whereabouts }) => whereabouts.isTrialDue()),
      mayRead: isListFit,
      readsLeft: caller.readsLeft,
      read: (query, missing) => askers.onBehalf(missing, () => read(query)),
      gets,
      times,
      trouble,
    });
    const isCheckDue =
      names.length >= fewestForPage && isListFit() && caller.readsLeft() > 0 && rowCheck.isDue();
    const nameToCheck = isCheckDue ? rowCheck.begin(names) : undefined;
    // At the same time as the page: if that lacks it, it has to be asked for anyway.
    if (nameToCheck !== undefined) gets.begin(nameToCheck);

    const searched = await searching;
    const { walk, outcome } = searched;
    const { found } = walk;
    observer.batch(kind, names.length, wayOf(searched));
    learnFrom(parts, searched);
    if (outcome instanceof Error) return names.map((name) => found.get(name)?.row ?? outcome);
    const answers = await gets.all(names.filter((name) => !found.has(name)));
    sawGets(answers);
    if (walk.state.pages > 0) rowCheck.sawRows(walk.rows);
    if (nameToCheck !== undefined) {
      const rows = new Map([...found].map(([name, { row }]) => [name, row]));
      const check = { preferred: nameToCheck, patienceMs: patienceMs(0, 1, knowledge), gets, rowCheck };
      for (const [name, answer] of (await answersInPlaceOf(rows, check)) ?? []) answers.set(name, answer);
    }
    caller.ledger.savedByList += names.length - gets.count();
    if (generation === before && isListFit()) for (const row of walk.rows) records.prime(row.name, row);
    return names.map((name) => {
      const answer = answers.get(name);
      return answer === undefined ? (found.get(name)?.row ?? null) : answer;
    });
  });

  function sawGets(answers: ReadonlyMap<string, Json | null | Error>): void {
    for (const answer of answers.values().take(mostLookedAt)) {
      if (answer !== null && !(answer instanceof Error)) history.rowCheck.sawGet(answer);
    }
  }

  function learnFrom(parts: readonly BatchPart[], { walk }: Searched<Json>): void {
    if (walk.state.pages === 0) {
      for (const { names, whereabouts } of parts)
        if (names.length >= fewestForPage) whereabouts.wentWithout();
    } else if (walk.state.rowsRead > 0 || walk.isAtEnd) {
      for (const part of parts) learn(part, walk, walk.isAtEnd);
    }
  }

  function forgetList(): void {
    generation += 1;
    ahead?.reading.giveUp();
    ahead = undefined;
    announcements = [];
  }

  return {
    load: records.load,
    prime(name, record) {
      if (!history.rowCheck.areRowsLacking()) records.prime(name, record);
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
    knownCalls,
    readAhead(rows) {
      if (!isListFit() || ahead !== undefined) return;
      observer.pageAhead(kind, 'asked');
      const asker = asking.getStore();
      const askers = new Set(asker === undefined ? [] : [asker]);
      ahead = { reading: asking.run(askers, () => read({ pageSize: rows })), askers };
    },
    announce(announcement) {
      announcements.push(announcement);
    },
  };
}

function wayOf<Json extends { name: string }>({ walk, outcome, isTrial }: Searched<Json>): BatchWay {
  if (walk.state.pages === 0) return 'gets';
  if (outcome === 'late') return 'late';
  if (!isPage(outcome)) return 'failed';
  if (walk.found.size === 0) return 'in vain';
  return isTrial ? 'trial' : 'page';
}
