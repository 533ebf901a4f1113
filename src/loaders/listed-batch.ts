import type { Caller } from '../rest/caller.ts';
import type { Page, PageQuery } from '../rest/types.ts';
import type { Askers } from './askers.ts';
import type { BatchHistory } from './batch-history.ts';
import { type Announcement, type BatchPart, learn, partsOf, shareWithin } from './batch-parts.ts';
import { fewestForPage, patienceMs } from './batch-plan.ts';
import type { KnownCalls } from './call-costs.ts';
import type { Gets } from './gets.ts';
import { type Searched, searchList } from './list-search.ts';
import type { BatchWay, ListedKind, LoadingObserver } from './loading-observer.ts';
import { isPage, type PageReading } from './page-reading.ts';
import { answersInPlaceOf } from './row-check.ts';
import type { Settled } from './settling.ts';

/** Records that have a get endpoint and a list, and who asks for them. */
export interface ListedRecords {
  kind: ListedKind;
  caller: Caller;
  /** Of the caller's tenant, for this resource. */
  history: BatchHistory;
  observer: LoadingObserver;
}

/** How a batch of them can be answered. */
export interface BatchWays<Json> {
  /** What is announced of it. */
  heard: readonly Announcement[];
  /** The page that was asked for in its place. */
  readAhead: PageReading<Json> | undefined;
  gets: Gets<Json>;
  knownCalls: KnownCalls;
  /** Whether a page may be asked for. */
  isListFit(): boolean;
  read(query: PageQuery): PageReading<Json>;
  askers: Askers;
}

export interface AnsweredBatch<Json> {
  /** In the order of the names. */
  answers: Settled<Json>[];
  /** All rows that have come, those that nobody has asked for among them. */
  rows: Page<Json>['rows'];
}

/** Answers a batch from pages of their list as long as that is expected to pay (batch-plan.ts), and the rest by id. */
export async function answerFromList<Json extends { name: string }>(
  names: readonly string[],
  { kind, caller, history, observer }: ListedRecords,
  { heard, readAhead, gets, knownCalls, isListFit, read, askers }: BatchWays<Json>,
): Promise<AnsweredBatch<Json>> {
  const { times, trouble, rowCheck } = history;
  const parts = partsOf(names, heard, history.whereabouts);
  const knowledge = { ...knownCalls, shareWithin: (rowsPerId: number) => shareWithin(parts, rowsPerId) };
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
  observer.batch(kind, names.length, wayOf(searched));
  learnFrom(parts, searched);
  if (outcome instanceof Error) {
    return { answers: names.map((name) => walk.rowOf(name) ?? outcome), rows: [] };
  }
  const got = await gets.all(walk.missing());
  history.sawGets(got);
  if (walk.state.pages > 0) rowCheck.sawRows(walk.rows);
  let inPlace: ReadonlyMap<string, Settled<Json>> | undefined;
  if (nameToCheck !== undefined) {
    const check = { preferred: nameToCheck, patienceMs: patienceMs(0, 1, knowledge), gets, rowCheck };
    inPlace = await answersInPlaceOf(walk.found(), check);
  }
  caller.ledger.savedByList += names.length - gets.count();

  let next = 0;
  const answers = names.map((name) => {
    const whole = inPlace?.get(name);
    const answer = whole === undefined ? walk.rowOf(name) : whole;
    if (answer !== undefined) return answer;
    next += 1;
    return got[next - 1] ?? null;
  });
  return { answers, rows: walk.rows };
}

function learnFrom<Json extends { name: string }>(
  parts: readonly BatchPart[],
  { walk }: Searched<Json>,
): void {
  if (walk.state.pages === 0) {
    for (const { names, whereabouts } of parts) if (names.length >= fewestForPage) whereabouts.wentWithout();
  } else if (walk.state.rowsRead > 0 || walk.isAtEnd) {
    for (const part of parts) learn(part, walk, walk.isAtEnd);
  }
}

function wayOf<Json extends { name: string }>({ walk, outcome, isTrial }: Searched<Json>): BatchWay {
  if (walk.state.pages === 0) return 'gets';
  if (outcome === 'late') return 'late';
  if (!isPage(outcome)) return 'failed';
  if (walk.state.missing === walk.state.asked) return 'in vain';
  return isTrial ? 'trial' : 'page';
}
