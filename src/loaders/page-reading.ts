import type { Caller } from '../rest/caller.ts';
import { Canceller } from '../rest/cancellation.ts';
import { BudgetExceededError, isMetByAllCalls, NotNeededError } from '../rest/errors.ts';
import type { Page, PageQuery } from '../rest/types.ts';
import type { CallTimesSeen } from './call-times.ts';
import type { BegunGet } from './gets.ts';

/**
 * What came of a page: its rows; no page; none in time; the error that every other call of this caller would meet now;
 * or nothing, as its caller has given up, or may make no more calls.
 */
export type PageOutcome<Row> = Page<Row> | 'failed' | 'late' | 'given up' | Error;

/** A page under way, for which there is another way. */
export interface PageReading<Row> {
  /** How many rows it was asked for. */
  rows: number;
  /** When its call has left. Stays open where it never does. */
  left: Promise<void>;
  /** Never rejects. */
  outcome: Promise<PageOutcome<Row>>;
  /** Nobody wants it any more: its call is ended. */
  giveUp(): void;
}

export interface PageReader<Row> {
  list(query: PageQuery, caller: Caller): Promise<Page<Row>>;
  caller: Caller;
  /** Learns how long pages take, from when they have left. */
  times: CallTimesSeen;
}

const notNeeded = new NotNeededError('there is another way to the rows of a page');

export function readPage<Row>(query: PageQuery, { list, caller, times }: PageReader<Row>): PageReading<Row> {
  const canceller = new Canceller();
  const giveUp = () => canceller.abort(notNeeded);
  const follow = () => canceller.abort(caller.signal.reason);
  if (caller.signal.aborted) follow();
  caller.signal.addEventListener('abort', follow);
  const left = Promise.withResolvers<void>();
  let ms: number | undefined;
  const ownCaller: Caller = {
    ...caller,
    signal: canceller,
    left: left.resolve,
    heard(entry) {
      caller.heard(entry);
      ms = entry.durationMs;
    },
  };

  async function read(): Promise<PageOutcome<Row>> {
    try {
      const page = await list(query, ownCaller);
      if (ms !== undefined) times.sawPage(page.rows.length, ms);
      return page;
    } catch (error) {
      if (canceller.aborted || error instanceof BudgetExceededError) return 'given up';
      return isMetByAllCalls(error) ? error : 'failed';
    } finally {
      caller.signal.removeEventListener('abort', follow);
    }
  }
  return { rows: query.pageSize, left: left.promise, outcome: read(), giveUp };
}

export function isPage<Row>(outcome: PageOutcome<Row> | undefined): outcome is Page<Row> {
  return typeof outcome === 'object' && !(outcome instanceof Error);
}

export interface Patience {
  /** How long a page is expected to take at most, in milliseconds. */
  ms: number;
  /** How long a get is expected to take, in milliseconds; undefined where none is known. */
  getMs: number | undefined;
  times: CallTimesSeen;
  /** Asks for one of the records by id. */
  askForOne(): BegunGet<unknown> | undefined;
}

/** Anew each time: one for all would keep the rows of everybody who has waited for it. */
const never = () => new Promise<never>(() => {});

/**
 * A page, or `late` where it is the list that is slow. After so long a get tells: while that is under way too, the whole
 * service is slow, and the page is waited for. Where it is answered, the page has as many times longer as that took longer
 * than it should. Where it has not even left after as long again, the page may be what keeps it waiting.
 */
export async function inTime<Row>(
  { left, outcome, giveUp }: PageReading<Row>,
  { ms, getMs, times, askForOne }: Patience,
): Promise<PageOutcome<Row>> {
  // As long as it waits for its turn, a get would too.
  await Promise.race([left, outcome]);
  const startedAt = performance.now();
  const first = await Promise.race([outcome, lateAfter(ms, outcome)]);
  if (first !== 'late') return first;

  const get = askForOne();
  const isQuicker = async () => {
    await get?.answer;
    const answeredAt = performance.now();
    const gotMs = answeredAt - (get?.leftAt() ?? answeredAt);
    const slowdown = getMs === undefined ? 1 : Math.max(gotMs / getMs, 1);
    return lateAfter(Math.max(startedAt + ms * slowdown - answeredAt, 0), outcome);
  };
  const isStuck = async () => {
    const late = await lateAfter(ms, outcome);
    return get?.leftAt() === undefined ? late : never();
  };
  const second = await Promise.race([outcome, isQuicker(), isStuck()]);
  if (second === 'late') giveUp();
  const leftAt = second === 'late' ? undefined : get?.leftAt();
  // However much longer it would have taken, it has taken as long as that.
  if (leftAt !== undefined) times.sawGet(Math.max(performance.now() - leftAt, getMs ?? 0));
  return second;
}

/** Word after so many milliseconds that it is late, unless what is waited for has come. */
function lateAfter(ms: number, outcome: Promise<unknown>): Promise<'late'> {
  return new Promise((resolve) => {
    // A server that was busy until now first reads what has come in meanwhile, which it is told at the end of that round.
    const late = () => resolve('late');
    const timer = setTimeout(() => setImmediate(() => setImmediate(late)), ms);
    outcome.finally(() => clearTimeout(timer));
  });
}
