import { CancelSource } from '../../concurrency/cancellation.ts';
import type { CallContext } from '../../rest/client/call-context.ts';
import type { CallLogEntry } from '../../rest/client/call-log.ts';
import {
  BudgetExceededError,
  InvalidResponseError,
  isMetByAllCalls,
  NotNeededError,
} from '../../rest/errors.ts';
import type { Page, PageQuery } from '../../rest/types.ts';
import { type CallTimes, maxPagesFor, minIdsForPage, type Plan } from './planner.ts';

/**
 * What came of a page: its rows; none, as it failed; none within its time limit; the error that every other call of this
 * caller would meet now; or none, as the caller has given up or may make no more calls.
 */
export type PageOutcome<Row> = Page<Row> | 'failed' | 'timeout' | 'aborted' | Error;

/** A page that was asked for. */
export interface PendingPage<Row> {
  /** How many rows it was asked for. */
  pageSize: number;
  /** Never rejects. */
  outcome: Promise<PageOutcome<Row>>;
  /** Ends its call, as nobody needs it any more. */
  abort(): void;
}

export interface PageReader<Row> {
  list(query: PageQuery, callContext: CallContext): Promise<Page<Row>>;
  callContext: CallContext;
  /** Learns how long pages take once they have left their queue. */
  times: CallTimes;
  /** How long the page is waited for once it has left its queue, in milliseconds. */
  limitMs: number;
}

const notNeeded = new NotNeededError('there is another way to the rows of a page');

/** Asks for a page whose rows can also be had by gets, so that it ends at its time limit. */
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
      // A process that was busy until now first reads what has come in, which is handled at the end of that round.
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
      return isMetByAllCalls(error) ? error : 'failed';
    } finally {
      clearTimeout(timer);
      callContext.signal.removeEventListener('abort', abortWithContext);
    }
  }
  if (callContext.signal.aborted) abortWithContext();
  callContext.signal.addEventListener('abort', abortWithContext);
  return { pageSize: query.pageSize, outcome: read(), abort };
}

export function isPage<Row>(outcome: PageOutcome<Row> | undefined): outcome is Page<Row> {
  return typeof outcome === 'object' && !(outcome instanceof Error);
}

const noIndex = -1;
/** A share of a batch that is expected to answer it. */
const highShare = 0.9;

/** Looks for the records of a batch in a list, from its newest row on. */
export class ListScan<Row extends { name: string }> {
  /** All rows that have come, the broken ones among them. */
  rows: Page<Row>['rows'] = [];
  /** The rows that hold a name of the batch, counted from 0. */
  readonly hits: number[] = [];
  /** How many pages have been asked for. */
  pageCount = 0;
  /** What came of the last of them. */
  outcome: PageOutcome<Row> | undefined;
  nextPageToken: string | undefined;
  isAtEnd = false;
  readonly #names: readonly string[];
  /** The row of each name: numbers, as an object for each would cost more than the rest of the scan. */
  readonly #indexByName = new Map<string, number>();

  constructor(names: readonly string[]) {
    this.#names = names;
    for (const name of names) this.#indexByName.set(name, noIndex);
  }

  /** The row of a name, unless none has come. */
  rowOf(name: string): Row | undefined {
    const index = this.#indexByName.get(name);
    // Only rows that are records have an index.
    return index === undefined || index === noIndex ? undefined : (this.rows[index] as Row);
  }

  /** The rows of all names that have one, in the order of the list. */
  foundRows(): Map<string, Row> {
    const rows = this.hits.map((index) => this.rows[index] as Row); // Only rows that are records are hits.
    return new Map(rows.map((row) => [row.name, row]));
  }

  get missingCount(): number {
    return this.#indexByName.size - this.hits.length;
  }

  /** The names that no row had so far. */
  missingNames(): readonly string[] {
    if (this.hits.length === 0) return this.#names;
    if (this.missingCount === 0) return [];
    return this.#names.filter((name) => this.#indexByName.get(name) === noIndex);
  }

  /** Waits for a page, and looks for the names in it. */
  async addPage(page: PendingPage<Row>): Promise<void> {
    this.pageCount += 1;
    this.outcome = await page.outcome;
    if (!isPage(this.outcome)) return;
    const { rows, nextPageToken } = this.outcome;
    let index = this.rows.length;
    for (const row of rows) {
      // A broken row is no record: what it should have been is asked for by id.
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

export interface ScanOptions<Row> {
  /** What to read; undefined for nothing beyond `prefetched`. */
  plan: Plan | undefined;
  /** A page that was asked for before it was known what is wanted of it. */
  prefetched: PendingPage<Row> | undefined;
  /** The most rows of a page. */
  maxPageSize: number;
  /** How many reads the operation may still make. */
  readsLeft(): number;
  read(query: PageQuery, missing: readonly string[]): PendingPage<Row>;
}

/** Reads the rows of the plan, as long as each page has at least half of what the plan expects of it. */
export async function scanList<Row extends { name: string }>(
  names: readonly string[],
  { plan, prefetched, maxPageSize, readsLeft, read }: ScanOptions<Row>,
): Promise<ListScan<Row>> {
  const scan = new ListScan<Row>(names);
  if (prefetched !== undefined) {
    await scan.addPage(prefetched);
    if (scan.outcome === 'timeout' || scan.outcome === 'aborted') return scan;
    // What was not asked for must not fail what was.
    if (!isPage(scan.outcome)) scan.outcome = 'failed';
  }
  if (plan === undefined) return scan;
  const maxPages = maxPagesFor(names.length);
  let maxRows = maxPageSize;
  let isAsExpected = true;
  while (!scan.isAtEnd && isAsExpected && scan.missingCount >= minIdsForPage) {
    const rowsLeft = plan.rows - scan.rows.length;
    if (rowsLeft <= 0 || scan.pageCount + Math.ceil(rowsLeft / maxRows) > maxPages) break;
    // Where the reads that are left just suffice for gets, a page without result would leave an id without.
    if (readsLeft() === scan.missingCount && plan.share < highShare) break;
    const hitsBefore = scan.hits.length;
    const firstRelevantRow = Math.max(scan.rows.length, plan.rowsBefore);
    const pageSize = Math.min(rowsLeft, maxRows);
    const { nextPageToken } = scan;
    const query = nextPageToken === undefined ? { pageSize } : { pageSize, pageToken: nextPageToken };
    await scan.addPage(read(query, scan.missingNames()));
    if (!isPage(scan.outcome)) break;
    // A list that gives fewer rows than it is asked for will do so again.
    if (scan.outcome.rows.length < pageSize) maxRows = Math.max(scan.outcome.rows.length, 1);
    const plannedPart = Math.max(scan.rows.length - firstRelevantRow, 0) / (plan.rows - plan.rowsBefore);
    isAsExpected = scan.hits.length - hitsBefore >= (plannedPart * plan.share * names.length) / 2;
  }
  return scan;
}
