/**
 * Step 2 of a list batch: reads list pages from the newest row on, and looks for the ids of the batch (hits).
 * GETs can replace every page. So pages have a time limit, and most of their errors do not fail the batch.
 */

import { CancelSource } from '../../concurrency/cancellation.ts';
import type { Page, PageQuery } from '../../rest/api-types.ts';
import type { CallContext } from '../../rest/client/call-context.ts';
import type { CallLogEntry } from '../../rest/client/call-log.ts';
import {
  BudgetExceededError,
  failsAllCalls,
  InvalidResponseError,
  NotNeededError,
} from '../../rest/errors.ts';
import { type CallTimes, maxPagesFor, minIdsForPage, type Plan } from './planner.ts';

/**
 * The outcome of a page request: the page, `failed`, `timeout`, or `aborted`. A page is aborted if the operation
 * ends or has no reads left. An Error is an error that every other call of the operation would meet now.
 */
export type PageOutcome<Row> = Page<Row> | 'failed' | 'timeout' | 'aborted' | Error;

/** A requested page. */
export interface PendingPage<Row> {
  /** The requested number of rows. */
  pageSize: number;
  /** Never rejects. */
  outcome: Promise<PageOutcome<Row>>;
  /** Aborts the call, because the page is no longer needed. */
  abort(): void;
}

/** The list endpoint, the call context and the time limit of one page. */
export interface PageReader<Row> {
  list(query: PageQuery, callContext: CallContext): Promise<Page<Row>>;
  callContext: CallContext;
  /** Records how long pages take after their calls were sent. */
  times: CallTimes;
  /** The time limit of the page after its call was sent, in milliseconds. */
  limitMs: number;
}

const notNeeded = new NotNeededError('there is another way to the rows of a page');

/** Requests a page, and aborts the call at the time limit. */
export function readPage<Row>(query: PageQuery, reader: PageReader<Row>): PendingPage<Row> {
  const { list, callContext, times, limitMs } = reader;
  const cancelSource = new CancelSource();
  let timer: NodeJS.Timeout | undefined;
  let isTimedOut = false;
  let durationMs: number | undefined;
  const abort = () => cancelSource.abort(notNeeded);
  const abortWithContext = () => cancelSource.abort(callContext.signal.reason);
  function abortAtTimeLimit(): void {
    isTimedOut = true;
    abort();
  }
  const observedContext: CallContext = {
    ...callContext,
    signal: cancelSource,
    onCallSent() {
      // After a busy period, timers run before arrived responses are read. Two more rounds let such a response win.
      timer = setTimeout(() => setImmediate(() => setImmediate(abortAtTimeLimit)), limitMs);
    },
    onCallFinished(entry: CallLogEntry) {
      callContext.onCallFinished(entry);
      durationMs = entry.durationMs;
    },
  };

  async function read(): Promise<PageOutcome<Row>> {
    try {
      const page = await list(query, observedContext);
      if (durationMs !== undefined) times.observePage(page.rows.length, durationMs);
      return page;
    } catch (error) {
      if (isTimedOut) return 'timeout';
      if (cancelSource.aborted || error instanceof BudgetExceededError) return 'aborted';
      return failsAllCalls(error) ? error : 'failed';
    } finally {
      clearTimeout(timer);
      callContext.signal.removeEventListener('abort', abortWithContext);
    }
  }
  if (callContext.signal.aborted) abortWithContext();
  callContext.signal.addEventListener('abort', abortWithContext);
  return { pageSize: query.pageSize, outcome: read(), abort };
}

/** Whether the outcome is a page. */
export function isPage<Row>(outcome: PageOutcome<Row> | undefined): outcome is Page<Row> {
  return typeof outcome === 'object' && !(outcome instanceof Error);
}

const noIndex = -1;
/** From this expected share on, pages probably hold the whole batch. */
const highShare = 0.9;

/** The rows read for one batch, and which of them are records of the batch (hits). */
export class ListScan<Row extends { name: string }> {
  /** All rows read so far in list order, including invalid rows. */
  rows: Page<Row>['rows'] = [];
  /** The indexes of the hits in `rows`. */
  readonly hits: number[] = [];
  /** The number of requested pages. */
  pageCount = 0;
  /** The outcome of the last page. */
  outcome: PageOutcome<Row> | undefined;
  nextPageToken: string | undefined;
  isAtEnd = false;
  readonly #names: readonly string[];
  /** The row index of each name. Numbers: one object per name would cost more than the rest of the scan. */
  readonly #indexByName = new Map<string, number>();

  constructor(names: readonly string[]) {
    this.#names = names;
    for (const name of names) this.#indexByName.set(name, noIndex);
  }

  /** The row of a name, or undefined if no row with this name was read. */
  rowOf(name: string): Row | undefined {
    const index = this.#indexByName.get(name);
    // Only valid rows have an index.
    return index === undefined || index === noIndex ? undefined : (this.rows[index] as Row);
  }

  /** All hits by name, in list order. */
  foundRows(): Map<string, Row> {
    const rows = this.hits.map((index) => this.rows[index] as Row); // Only valid rows are hits.
    return new Map(rows.map((row) => [row.name, row]));
  }

  get missingCount(): number {
    return this.#indexByName.size - this.hits.length;
  }

  /** The names without a hit so far. */
  missingNames(): readonly string[] {
    if (this.hits.length === 0) return this.#names;
    if (this.missingCount === 0) return [];
    return this.#names.filter((name) => this.#indexByName.get(name) === noIndex);
  }

  /** Waits for a page, and adds its rows and hits. */
  async addPage(page: PendingPage<Row>): Promise<void> {
    this.pageCount += 1;
    this.outcome = await page.outcome;
    if (!isPage(this.outcome)) return;
    const { rows, nextPageToken } = this.outcome;
    let index = this.rows.length;
    for (const row of rows) {
      // An invalid row is no hit, so its record is read by a GET.
      if (!(row instanceof InvalidResponseError) && this.#indexByName.get(row.name) === noIndex) {
        this.#indexByName.set(row.name, index);
        this.hits.push(index);
      }
      index += 1;
    }
    this.rows = this.rows.length === 0 ? rows : this.rows.concat(rows);
    this.nextPageToken = nextPageToken;
    this.isAtEnd = nextPageToken === undefined;
  }
}

/** What one scan reads. */
export interface ScanOptions<Row> {
  /** The rows to read. Undefined: only the prefetched page, if any. */
  plan: Plan | undefined;
  /** A page requested before the names of the batch were known. */
  prefetched: PendingPage<Row> | undefined;
  /** The most rows of one page. */
  maxPageSize: number;
  /** The rest of the operation's read budget. */
  readsLeft(): number;
  read(query: PageQuery, missing: readonly string[]): PendingPage<Row>;
}

/** Reads the planned rows. Stops after a page that has less than half of its expected hits. */
export async function scanList<Row extends { name: string }>(
  names: readonly string[],
  { plan, prefetched, maxPageSize, readsLeft, read }: ScanOptions<Row>,
): Promise<ListScan<Row>> {
  const scan = new ListScan<Row>(names);
  if (prefetched !== undefined) {
    await scan.addPage(prefetched);
    if (scan.outcome === 'timeout' || scan.outcome === 'aborted') return scan;
    // A failed prefetch must not fail the batch.
    if (!isPage(scan.outcome)) scan.outcome = 'failed';
  }
  if (plan === undefined) return scan;
  const maxPages = maxPagesFor(names.length);
  let maxRows = maxPageSize;
  let isAsExpected = true;
  while (!scan.isAtEnd && isAsExpected && scan.missingCount >= minIdsForPage) {
    const rowsLeft = plan.rows - scan.rows.length;
    if (rowsLeft <= 0 || scan.pageCount + Math.ceil(rowsLeft / maxRows) > maxPages) break;
    // If the read budget just covers the GETs, a page without hits would leave one id unread.
    if (readsLeft() === scan.missingCount && plan.share < highShare) break;
    const hitsBefore = scan.hits.length;
    const firstRelevantRow = Math.max(scan.rows.length, plan.rowsBefore);
    const pageSize = Math.min(rowsLeft, maxRows);
    const { nextPageToken } = scan;
    const query = nextPageToken === undefined ? { pageSize } : { pageSize, pageToken: nextPageToken };
    await scan.addPage(read(query, scan.missingNames()));
    if (!isPage(scan.outcome)) break;
    // A list that returned fewer rows than requested will probably do so again.
    if (scan.outcome.rows.length < pageSize) maxRows = Math.max(scan.outcome.rows.length, 1);
    const plannedPart = Math.max(scan.rows.length - firstRelevantRow, 0) / (plan.rows - plan.rowsBefore);
    isAsExpected = scan.hits.length - hitsBefore >= (plannedPart * plan.share * names.length) / 2;
  }
  return scan;
}
