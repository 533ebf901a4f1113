import type { Caller } from '../rest/caller.ts';
import { BudgetExceededError, isMetByAllCalls } from '../rest/errors.ts';
import type { Page, PageQuery } from '../rest/types.ts';

/**
 * What came of a page: its rows; no page; none in time; the error that every other call of this caller would meet now;
 * or nothing, as its caller has given up, or may make no more calls.
 */
export type PageOutcome<Row> = Page<Row> | 'failed' | 'late' | 'given up' | Error;

/** A page under way, for which there is another way. */
export interface PageReading<Row> {
  /** How many rows it was asked for. */
  rows: number;
  /** Never rejects. */
  outcome: Promise<PageOutcome<Row>>;
  /** Nobody wants it any more: its call is ended. */
  giveUp(): void;
}

export function readPage<Row>(
  list: (query: PageQuery, signal: AbortSignal) => Promise<Page<Row>>,
  query: PageQuery,
  caller: Caller,
): PageReading<Row> {
  const controller = new AbortController();
  const giveUp = () => controller.abort();
  if (caller.signal.aborted) giveUp();
  caller.signal.addEventListener('abort', giveUp, { once: true });

  async function read(): Promise<PageOutcome<Row>> {
    try {
      return await list(query, controller.signal);
    } catch (error) {
      if (controller.signal.aborted || error instanceof BudgetExceededError) return 'given up';
      return isMetByAllCalls(error) ? error : 'failed';
    } finally {
      caller.signal.removeEventListener('abort', giveUp);
    }
  }
  return { rows: query.pageSize, outcome: read(), giveUp };
}

export function isPage<Row>(outcome: PageOutcome<Row> | undefined): outcome is Page<Row> {
  return typeof outcome === 'object' && !(outcome instanceof Error);
}

/**
 * A page, or `late` where it takes longer than so many milliseconds and than a get that is then asked for. Where not even
 * that is answered, the page is left time for ten times as long: such is a service that is slow as a whole, but the get may
 * also be kept waiting by the page itself.
 */
export async function inTime<Row>(
  { outcome, giveUp }: PageReading<Row>,
  patienceMs: number,
  askForOne: () => Promise<unknown>,
): Promise<PageOutcome<Row>> {
  const late = 'late';
  const first = await Promise.race([outcome, after(patienceMs, outcome)]);
  if (first !== late) return first;
  const answered = askForOne().then(
    () => late,
    () => late,
  ) as Promise<'late'>; // Whatever came, it came first.
  const second = await Promise.race([outcome, answered, after(9 * patienceMs, outcome)]);
  if (second === late) giveUp();
  return second;
}

/** Word after so many milliseconds that it is late, unless what is waited for has come. */
function after(ms: number, outcome: Promise<unknown>): Promise<'late'> {
  return new Promise((resolve) => {
    // A server that was busy until now has a look first at what has come in meanwhile.
    const timer = setTimeout(() => setImmediate(() => resolve('late')), ms);
    outcome.finally(() => clearTimeout(timer));
  });
}
