import type { PageQuery } from '../rest/types.ts';
import {
  expectedLeft,
  isAsExpected,
  type Knowledge,
  nextPageSize,
  patienceMs,
  trialPageSize,
} from './batch-plan.ts';
import type { CallTimesSeen } from './call-times.ts';
import type { Gets } from './gets.ts';
import type { ListTrouble } from './list-trouble.ts';
import { createListWalk, type ListWalk } from './list-walk.ts';
import { inTime, isPage, type PageOutcome, type PageReading } from './page-reading.ts';

export interface ListSearch<Row> {
  knowledge: Knowledge;
  /** A page that was asked for before it was known what is wanted of it. */
  ahead: PageReading<Row> | undefined;
  /** Whether a page is to be tried that is not expected to pay. */
  isTrialDue: boolean;
  /** Whether a page may be asked for. */
  mayRead(): boolean;
  /** How many calls are left. */
  readsLeft(): number;
  read(query: PageQuery, missing: readonly string[]): PageReading<Row>;
  gets: Gets<Row>;
  times: CallTimesSeen;
  trouble: ListTrouble;
}

export interface Searched<Row> {
  walk: ListWalk<Row>;
  /** What came of the last page that was asked for. */
  outcome: PageOutcome<Row> | undefined;
  /** Whether a page was tried that was not expected to pay. */
  isTrial: boolean;
}

const mostLeft = 0.1;

/** Looks for the names of a batch in pages of their list, as long as that is expected to pay (batch-plan.ts). */
export async function searchList<Row extends { name: string }>(
  names: readonly string[],
  { knowledge, ahead, isTrialDue, mayRead, readsLeft, read, gets, times, trouble }: ListSearch<Row>,
): Promise<Searched<Row>> {
  const walk = createListWalk<Row>(names);
  let known = knowledge;
  let outcome: PageOutcome<Row> | undefined;
  let isTrial = false;

  /** Whether it is worth looking further. */
  async function take(reading: PageReading<Row>): Promise<boolean> {
    const before = walk.state;
    walk.ask();
    outcome = await inTime(reading, {
      ms: patienceMs(reading.rows, before.missing, known),
      getMs: known.isGuess ? undefined : known.getMs,
      times,
      askForOne() {
        const [name] = walk.missing();
        return name === undefined ? undefined : gets.begin(name);
      },
    });
    if (outcome === 'given up') return false;
    if (!isPage(outcome)) {
      trouble.failed();
      return false;
    }
    trouble.answered();
    const rows = outcome.rows.length;
    const found = walk.take(outcome);
    // A list that gives fewer rows than it is asked for will do so again.
    if (rows < reading.rows) known = { ...known, maxPageSize: Math.max(rows, 1) };
    return !walk.isAtEnd && isAsExpected({ found, rows }, before, known);
  }

  let goesOn = ahead === undefined || (await take(ahead));
  // What was not asked for must not fail what was.
  if (outcome === 'failed' || outcome instanceof Error) {
    outcome = 'failed';
    goesOn = true;
  }
  while (goesOn) {
    const { state, nextPageToken } = walk;
    const trialSize = isTrialDue && state.pages === 0 ? trialPageSize(state, known) : undefined;
    const expectedSize = nextPageSize(state, known);
    const pageSize = expectedSize ?? trialSize;
    if (pageSize === undefined || !mayRead()) break;
    // Where all could just be asked for by id, a page in vain would leave the last of them without.
    if (readsLeft() === state.missing && expectedLeft(pageSize, state, known) > mostLeft * state.missing)
      break;
    isTrial ||= expectedSize === undefined;
    const query = { pageSize, ...(nextPageToken !== undefined && { pageToken: nextPageToken }) };
    goesOn = await take(read(query, walk.missing()));
  }
  return { walk, outcome, isTrial };
}
