import type { Page, PageQuery } from '../../rest/api-types.ts';
import type { CallContext } from '../../rest/client/call-context.ts';
import {
  CircuitOpenError,
  DeadlineError,
  InvalidResponseError,
  ResponseTooLargeError,
  StatusError,
  UnavailableError,
} from '../../rest/errors.ts';
import type { BatchWay, ListedKind, LoadingObserver } from '../loading-observer.ts';
import { BatchLoader, type RecordResult, settleAll } from '../record-loader.ts';
import { ListScan, lacksFields } from './list-scan.ts';
import { type ListState, longPauseMs } from './list-state.ts';
import { headroom, maxRowsPerId, pauseMs, type RowsPerId } from './rows-per-id.ts';

/** Smaller batches use GETs: one page without hits would cost more than 1.2 calls per id. */
const minIdsForPage = 5;
const minIdsPerPage = 10;

/** Where in the list the records of a batch are expected. */
export interface ListPosition {
  /** The number of list rows before the first expected record. */
  rowsBefore: number;
  rowsPerId: RowsPerId;
}

/** The endpoints, limits and state that a list-batch loader uses. */
export interface ListBatchLoaderOptions<Json> {
  get(name: string, callContext: CallContext): Promise<Json>;
  /** Reads a page of the list of the same records. The newest record usually comes first. */
  list(query: PageQuery, callContext: CallContext): Promise<Page<Json>>;
  /** Whether a row can stand for its record. */
  isRowComplete(row: Json): boolean;
  kind: ListedKind;
  /** The most rows of one page ("List query parameters"). */
  maxPageSize: number;
  callContext: CallContext;
  state: ListState;
  /** Whether the settings allow pages to serve batches. */
  isListUsed: boolean;
  observer: LoadingObserver;
}

/**
 * Loads batches of ids: reads one page of the list, then sends a GET for each id that the page lacks
 * (docs/decisions/0021-one-page-for-a-batch.md). A slow page is waited for. A page that fails as the calls of an
 * overloaded service fail is not replaced by GETs, so trouble makes no more calls than health.
 */
export class ListBatchLoader<Json extends { name: string }> extends BatchLoader<Json> {
  readonly #options: ListBatchLoaderOptions<Json>;
  #expected: ListPosition | undefined;
  #prefetched: Promise<Page<Json>> | undefined;
  // Counts invalidations. A page requested before an invalidation must not prime records after it.
  #generation = 0;

  constructor(options: ListBatchLoaderOptions<Json>) {
    super((names) => this.#loadBatch(names));
    this.#options = options;
  }

  override prime(rows: Page<Json>['rows']): void {
    const { state, isRowComplete } = this.#options;
    if (state.shared.hasIncompleteRows) return;
    const isUsable = (row: (typeof rows)[number]) =>
      row instanceof InvalidResponseError || isRowComplete(row);
    super.prime(rows.every(isUsable) ? rows : rows.filter(isUsable));
  }

  override replace(name: string, record: Json): void {
    this.#forgetList();
    super.replace(name, record);
  }

  override clear(name: string): void {
    this.#forgetList();
    super.clear(name);
  }

  override clearAll(): void {
    this.#forgetList();
    super.clearAll();
  }

  /** The next batch is read from this position, and uses the prefetched page. */
  expect(position: ListPosition): void {
    this.#expected = position;
  }

  /** Requests the page for `idCount` ids before the ids are known, if the ids will probably fit in one page. */
  prefetch(idCount: number, position: ListPosition): void {
    const { list, callContext, observer, kind, maxPageSize } = this.#options;
    const pageSize = position.rowsBefore + position.rowsPerId.rowsFor(idCount);
    if (this.#prefetched !== undefined || pageSize > maxPageSize) return;
    if (!this.#mayReadPage(idCount, position)) return;
    observer.prefetchedPage(kind, 'asked');
    this.#prefetched = list({ pageSize }, callContext);
    // The batch that uses the page handles the error.
    this.#prefetched.catch(() => {});
  }

  #loadBatch(names: readonly string[]): Promise<RecordResult<Json>[]> {
    const { get, callContext, state, observer, kind } = this.#options;
    const position = this.#expected ?? { rowsBefore: 0, rowsPerId: state.rowsPerId('ids') };
    const prefetched = this.#expected && this.#prefetched;
    if (prefetched !== undefined) observer.prefetchedPage(kind, 'used');
    this.#forgetPosition();
    if (prefetched !== undefined || this.#mayReadPage(names.length, position)) {
      return this.#loadFromList(names, position, prefetched);
    }
    observer.batch(kind, names.length, 'gets');
    const read = (name: string) => get(name, callContext);
    return settleAll(names, read);
  }

  #mayReadPage(idCount: number, { rowsBefore, rowsPerId }: ListPosition): boolean {
    const { isListUsed, state } = this.#options;
    if (!isListUsed || idCount < minIdsForPage || rowsBefore > maxRowsPerId * idCount) return false;
    return !rowsPerId.isPaused(state.shared.now()) && state.mayReadPage();
  }

  async #loadFromList(
    names: readonly string[],
    position: ListPosition,
    prefetched: Promise<Page<Json>> | undefined,
  ): Promise<RecordResult<Json>[]> {
    const { get, list, callContext, state, isRowComplete, observer, kind } = this.#options;
    const generation = this.#generation;
    const reads = new Map<string, Promise<Json>>();
    const read = (name: string) => {
      const pending = reads.get(name) ?? get(name, callContext);
      reads.set(name, pending);
      return pending;
    };
    const comparedName = this.#startComparison(names, read);
    const scan = new ListScan<Json>(names, isRowComplete);
    const error = await this.#readPages(scan, position, prefetched, (query) => list(query, callContext));
    observer.batch(kind, names.length, wayOf(scan.hits.length, error));
    if (comparedName !== undefined) await this.#compare(scan.rowOf(comparedName), read(comparedName));
    const areRowsUsable = !state.shared.hasIncompleteRows;
    if (this.#generation === generation) this.prime(scan.rows);
    const missing = areRowsUsable ? scan.missingNames() : names;
    const results =
      error === undefined ? await settleAll(missing, read) : await this.#afterFailure(error, missing, read);
    if (areRowsUsable) callContext.callLog.savedByList += savedCalls(scan, comparedName);
    let index = 0;
    return names.map((name) => {
      const row = areRowsUsable ? scan.rowOf(name) : undefined;
      if (row !== undefined) return row;
      index += 1;
      return results[index - 1] ?? null;
    });
  }

  /** Reads pages into the scan, and learns from them. @returns the error of the last page, if any. */
  async #readPages(
    scan: ListScan<Json>,
    { rowsBefore, rowsPerId }: ListPosition,
    prefetched: Promise<Page<Json>> | undefined,
    readPage: (query: PageQuery) => Promise<Page<Json>>,
  ): Promise<unknown> {
    const { state, maxPageSize } = this.#options;
    const expectedRows = rowsPerId.rowsFor(scan.idCount);
    const maxPages = Math.max(1, Math.floor(scan.idCount / minIdsPerPage));
    let pending = prefetched;
    try {
      for (let pageCount = 1; pageCount <= maxPages; pageCount += 1) {
        const rowsPast = scan.rows.length - rowsBefore;
        const { nextPageToken: pageToken, missingCount, hits } = scan;
        // Beyond the expected rows, the missing ids are assumed to have the density of the hits so far.
        const rowsForMissing = Math.ceil((rowsPast / Math.max(hits.length, 1)) * missingCount * headroom);
        const isBeyond = rowsPast >= expectedRows;
        const pageSize = Math.min(isBeyond ? rowsForMissing : expectedRows - rowsPast, maxPageSize);
        const page = await (pending ??
          readPage(pageToken === undefined ? { pageSize } : { pageSize, pageToken }));
        pending = undefined;
        const hitCount = scan.add(page);
        state.noteSuccess();
        // A page that ends before half of the expected rows may have few ids.
        const isJudged = scan.rows.length - rowsBefore >= Math.min(expectedRows, maxPageSize) / 2;
        const mayGoOn = !isJudged || hitCount * 4 >= missingCount;
        if (scan.isAtEnd || scan.missingCount < minIdsForPage || !mayGoOn) break;
      }
      rowsPerId.learn(scan, rowsBefore, state.shared.now());
      return undefined;
    } catch (error) {
      return error;
    }
  }

  /** The results of the ids that a failed page leaves. `read` sends the GET of an id. */
  async #afterFailure(
    error: unknown,
    names: readonly string[],
    read: (name: string) => Promise<Json>,
  ): Promise<RecordResult<Json>[]> {
    const { state } = this.#options;
    const pageError = error instanceof Error ? error : new Error('a page failed', { cause: error });
    const reaction = reactionTo(error);
    if (reaction === 'fail') return names.map(() => pageError);
    if (reaction !== 'probe') {
      state.pause(reaction.pauseMs);
      return settleAll(names, read);
    }
    const [probed = null] = await settleAll(names.slice(0, 1), read);
    if (probed instanceof Error) return names.map(() => pageError);
    const others = names.slice(1);
    const results = state.noteFailure() ? await settleAll(others, read) : others.map(() => pageError);
    return [probed, ...results];
  }

  /** Requests the record of one id, if its row is to be compared. Sent in parallel with the page. */
  #startComparison(names: readonly string[], read: (name: string) => Promise<Json>): string | undefined {
    const { state, callContext } = this.#options;
    const name = names[Math.floor(names.length / 2)];
    // The page needs a read of the budget, too.
    if (name === undefined || callContext.readsLeft() < 2 || !state.shared.mayCompare()) return undefined;
    // `#compare` and the batch handle the error.
    read(name).catch(() => {});
    return name;
  }

  /** Compares a row with its record. Without a row, the record is one that the batch lacks anyway. */
  async #compare(row: Json | undefined, pendingRecord: Promise<Json>): Promise<void> {
    if (row === undefined) return;
    const record = await pendingRecord.catch(() => undefined);
    this.#options.state.shared.compared(record && lacksFields(row, record));
  }

  #forgetList(): void {
    this.#generation += 1;
    this.#forgetPosition();
  }

  #forgetPosition(): void {
    this.#prefetched = undefined;
    this.#expected = undefined;
  }
}

const overloadStatuses: readonly number[] = [408, 429, 502, 503, 504];

/**
 * What a batch does after the error of a page. `probe`: the service may be overloaded, so one GET finds out. A pause:
 * GETs replace the list for this time. `fail`: GETs would meet this error, too.
 */
function reactionTo(error: unknown): 'probe' | { pauseMs: number } | 'fail' {
  if (error instanceof StatusError) {
    const { status } = error;
    if (overloadStatuses.includes(status)) return 'probe';
    if (status === 401) return 'fail';
    return { pauseMs: status >= 400 && status <= 499 ? longPauseMs : pauseMs };
  }
  if (error instanceof InvalidResponseError || error instanceof ResponseTooLargeError) return { pauseMs };
  const isSilent = [UnavailableError, DeadlineError, CircuitOpenError].some((type) => error instanceof type);
  return isSilent ? 'probe' : 'fail';
}

/** The hits in place of GETs. The record that was compared needed its GET. */
function savedCalls<Json extends { name: string }>(scan: ListScan<Json>, comparedName = ''): number {
  return scan.hits.length - (scan.rowOf(comparedName) === undefined ? 0 : 1);
}

function wayOf(hitCount: number, error: unknown): BatchWay {
  if (error !== undefined) return 'failed';
  return hitCount === 0 ? 'no rows' : 'page';
}
