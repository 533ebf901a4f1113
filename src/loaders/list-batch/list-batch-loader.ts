import type { Page, PageQuery } from '../../rest/api-types.ts';
import type { CallContext } from '../../rest/client/call-context.ts';
import {
  AbortedError,
  InvalidResponseError,
  isOfOneOperation,
  isUnauthenticated,
  isUnreadable,
  StatusError,
} from '../../rest/errors.ts';
import { isOfGateway } from '../../rest/gateway-statuses.ts';
import type { ListedKind, LoadingObserver } from '../loading-observer.ts';
import { RecordLoader, type RecordResult, settleAll } from '../record-loader.ts';
import {
  headroom,
  type ListState,
  longPauseMs,
  maxRowsPerId,
  type RowsPerId,
  shortPauseMs,
} from './list-state.ts';

/** Smaller batches use GETs: one page without hits would cost more than 1.2 calls per id. */
const minIdsForPage = 5;
const minIdsPerPage = 10;

/** Where in the list the records of a batch are expected. */
export interface ListPosition {
  rowsBefore: number;
  rowsPerId: RowsPerId;
}

export interface ListBatchLoaderOptions<Json> {
  get(name: string, callContext: CallContext): Promise<Json>;
  list(query: PageQuery, callContext: CallContext): Promise<Page<Json>>;
  isRowComplete(row: Json): boolean;
  kind: ListedKind;
  maxPageSize: number;
  callContext: CallContext;
  state: ListState;
  isListUsed: boolean;
  observer: LoadingObserver | undefined;
}

type Read<Json> = (name: string) => RecordResult<Json> | Promise<RecordResult<Json>>;

/**
 * Loads batches of ids: reads one page of the list, then sends a GET for each id that the page lacks
 * (docs/design/how-a-batch-becomes-a-page.md). A slow page is waited for. If a page fails as under overload, one GET tries
 * whether the service responds. The other ids get the error of the page, until such failures turn the list off for a while.
 *
 * Records that this token wrote lately are read by their ids, because a list may still have their old rows.
 */
export class ListBatchLoader<Json extends { name: string }> extends RecordLoader<Json> {
  readonly #options: ListBatchLoaderOptions<Json>;
  /** Records that the next batch reads by their ids. */
  readonly #byId = new Set<string>();
  #expected: ListPosition | undefined;
  #prefetched: { page: Promise<Page<Json>>; generation: number } | undefined;

  constructor(options: ListBatchLoaderOptions<Json>) {
    super((names) => this.#loadBatch(names));
    this.#options = options;
  }

  override prime(rows: Page<Json>['rows'], generation: number): void {
    const { state, isRowComplete } = this.#options;
    if (state.shared.incompleteRows.isOn) return;
    const usableRows = rows.filter(
      (row) => !(row instanceof InvalidResponseError) && isRowComplete(row) && !state.written.has(row.name),
    );
    super.prime(usableRows, generation);
  }

  /** Replaces a record by the response to a write. */
  override replace(name: string, record: Json): void {
    this.noteWritten(name);
    super.replace(name, record);
  }

  /** Notes that this token has written a record, so that it is read by its id for 30 seconds. */
  noteWritten(name: string): void {
    this.#options.state.written.note(name);
  }

  /**
   * Loads a record, by its id if it is not known yet: for a write that depends on its fields. A row of the list may be older
   * than a write of another token.
   */
  loadById(name: string): Promise<Json | null> {
    this.#byId.add(name);
    return this.load(name);
  }

  /** The next batch is read from this position, and uses the prefetched page. */
  expect(position: ListPosition): void {
    this.#expected = position;
  }

  /**
   * Requests the page for a number of ids that are not known yet, if they will probably fit in one page.
   * @param source the call that finds out the ids. If it fails, nobody needs the page, which is then not read.
   */
  prefetch(idCount: number, position: ListPosition, source: Promise<unknown>): void {
    const { list, callContext, observer, kind, maxPageSize } = this.#options;
    const pageSize = position.rowsBefore + position.rowsPerId.rowsFor(idCount);
    if (this.#prefetched || pageSize > maxPageSize || !this.#claimPage(idCount, position)) return;
    // A page whose source fails at once is never requested.
    source.then(
      () => observer?.prefetchedPage(kind, 'asked'),
      () => {},
    );
    const page = list({ pageSize }, callContext.whileSucceeding(source));
    // The batch that uses the page handles the error.
    page.catch(() => {});
    this.#prefetched = { page, generation: this.generation };
  }

  async #loadBatch(names: readonly string[]): Promise<RecordResult<Json>[]> {
    const { get, callContext, state, observer, kind } = this.#options;
    const written = names.filter((name) => state.written.has(name));
    // Other fields need reads too. An old row is then better than none.
    const mayBeOld = written.length > callContext.readsLeft() / 2;
    const isById = new Set(mayBeOld ? [] : written);
    for (const name of names) if (this.#byId.has(name)) isById.add(name);
    this.#byId.clear();
    if (isById.size === 0) return this.#loadListed(names);
    observer?.batch(kind, isById.size, 'gets');
    const byId = names.filter((name) => isById.has(name));
    const records = settleAll(byId, (name) => get(name, callContext));
    const others = names.filter((name) => !isById.has(name));
    if (others.length === 0) {
      this.#expected = undefined;
      this.#prefetched = undefined;
      return records;
    }
    const [recordsById, otherRecords] = await Promise.all([records, this.#loadListed(others)]);
    const results = { byId: recordsById.values(), others: otherRecords.values() };
    return names.map((name) => results[isById.has(name) ? 'byId' : 'others'].next().value ?? null);
  }

  async #loadListed(names: readonly string[]): Promise<RecordResult<Json>[]> {
    const { get, callContext, state, isRowComplete, observer, kind } = this.#options;
    const { generation } = this;
    const position = this.#expected ?? { rowsBefore: 0, rowsPerId: state.rowsPerId('ids') };
    const prefetched = this.#takePrefetched();
    if (prefetched === undefined && !this.#claimPage(names.length, position)) {
      observer?.batch(kind, names.length, 'gets');
      return settleAll(names, (name) => get(name, callContext));
    }
    const compared = this.#startComparison(names);
    // The compared record is read already.
    const read = (name: string) => (name === compared?.name ? compared.record : get(name, callContext));
    const batch = new BatchRows<Json>(names, isRowComplete);
    const error = await this.#readPages(batch, position, prefetched);
    const way = batch.hits.length === 0 ? 'no rows' : 'page';
    observer?.batch(kind, names.length, error === undefined ? way : 'failed');
    const comparedRow = compared && batch.rowByName.get(compared.name);
    if (compared && comparedRow) await state.shared.compare(comparedRow, compared.record);
    this.prime(batch.rows, generation);
    // The comparison may have found that the rows lack fields. Then none is used.
    const rows = state.shared.incompleteRows.isOn ? new Map<string, Json>() : batch.rowByName;
    const missing = names.filter((name) => !rows.has(name));
    callContext.callLog.savedByList += names.length - missing.length;
    // The record that was compared needed its GET.
    if (compared && rows.has(compared.name)) callContext.callLog.savedByList -= 1;
    const readMissing =
      error === undefined ? read : await this.#readerAfter(error, missing, read, compared?.name);
    return settleAll(names, (name) => rows.get(name) ?? readMissing(name));
  }

  /** Asks to read a page for so many ids. @returns true if the page must be read: see `ListState.claimPage` */
  #claimPage(idCount: number, { rowsBefore, rowsPerId }: ListPosition): boolean {
    const { isListUsed, state } = this.#options;
    if (!isListUsed || idCount < minIdsForPage || rowsBefore > maxRowsPerId * idCount) return false;
    return !rowsPerId.pause.isOn && state.claimPage();
  }

  /** The prefetched page, if ids are expected in it and nothing was written since it was requested. */
  #takePrefetched(): Promise<Page<Json>> | undefined {
    const { observer, kind } = this.#options;
    const prefetched = this.#expected && this.#prefetched;
    this.#expected = undefined;
    this.#prefetched = undefined;
    if (prefetched?.generation !== this.generation) return undefined;
    observer?.prefetchedPage(kind, 'used');
    return prefetched.page;
  }

  async #readPages(
    batch: BatchRows<Json>,
    { rowsBefore, rowsPerId }: ListPosition,
    prefetched: Promise<Page<Json>> | undefined,
  ): Promise<Error | undefined> {
    const { list, callContext, state, maxPageSize } = this.#options;
    const expectedRows = rowsPerId.rowsFor(batch.idCount);
    const maxPages = Math.max(1, Math.floor(batch.idCount / minIdsPerPage));
    let pending: Promise<Page<Json> | undefined> | undefined = prefetched?.catch((error: unknown) => {
      // The list that asked for this page has failed, which may be another list than that of these ids.
      if (error instanceof AbortedError && !callContext.signal.aborted) return undefined;
      throw error;
    });
    try {
      for (let pageCount = 1; pageCount <= maxPages; pageCount += 1) {
        const { nextPageToken: pageToken, hits, rows, missing } = batch;
        const rowsPast = rows.length - rowsBefore;
        const missingCount = missing.size;
        // Beyond the expected rows, the missing ids are assumed to have the density of the hits so far.
        const rowsForMissing = Math.ceil((rowsPast / Math.max(hits.length, 1)) * missingCount * headroom);
        const rowsNeeded = rowsPast >= expectedRows ? rowsForMissing : expectedRows - rowsPast;
        const query = { pageSize: Math.min(rowsNeeded, maxPageSize), pageToken };
        const taken = pending && (await pending);
        batch.add(taken ?? (await list(query, callContext)));
        pending = undefined;
        state.noteSuccess();
        // A page that ends before half of the expected rows may have few ids.
        const isJudged = batch.rows.length - rowsBefore >= Math.min(expectedRows, maxPageSize) / 2;
        // A further page is worth its call only after a page with at least a quarter of the ids that it should have.
        const mayGoOn = !isJudged || (missingCount - missing.size) * 4 >= missingCount;
        if (batch.nextPageToken === undefined || missing.size < minIdsForPage || !mayGoOn) break;
      }
      rowsPerId.learn(batch, rowsBefore);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error : new Error('a page failed', { cause: error });
    }
  }

  /** How the missing ids are read after a page has failed: by GET, or not at all. */
  async #readerAfter(
    error: Error,
    missing: readonly string[],
    read: Read<Json>,
    comparedName: string | undefined,
  ): Promise<Read<Json>> {
    const { state } = this.#options;
    const fail = () => error;
    // GETs would meet this error, too.
    if (isUnauthenticated(error) || isOfOneOperation(error)) return fail;
    const pauseMs = pauseAfter(error);
    if (pauseMs !== undefined) {
      state.pause.start(pauseMs);
      return read;
    }
    // As under overload: one GET tells whether the service responds. The GET of the compared record is there already.
    const probedName = missing.find((name) => name === comparedName) ?? missing[0] ?? '';
    const [probed = null] = await settleAll([probedName], read);
    if (probed instanceof Error) return fail;
    state.noteFailure();
    // Until enough failures in a row have started a pause, the other ids have the error of the page.
    const readOthers = state.isPaused ? read : fail;
    return (name) => (name === probedName ? probed : readOthers(name));
  }

  /**
   * Requests the record of one id, in parallel with the page, if it is time to find out whether rows of the list lack
   * fields that records have.
   */
  #startComparison(names: readonly string[]): { name: string; record: Promise<Json> } | undefined {
    const { get, state, callContext } = this.#options;
    const name = names[Math.floor(names.length / 2)];
    // The page needs a read of the budget, too.
    const mayRead = callContext.readsLeft() >= 2;
    if (name === undefined || !mayRead || state.shared.comparisonPause.isOn) return undefined;
    const record = get(name, callContext);
    // The batch handles the error.
    record.catch(() => {});
    return { name, record };
  }
}

/** The rows that were read for one batch, and which of them are its records: the hits. */
class BatchRows<Row extends { name: string }> {
  /** In list order, including invalid rows. */
  rows: Page<Row>['rows'] = [];
  /** The indexes of the hits in `rows`, ascending. */
  readonly hits: number[] = [];
  readonly rowByName = new Map<string, Row>();
  readonly missing: Set<string>;
  readonly idCount: number;
  nextPageToken: string | undefined;
  readonly #isRowComplete: (row: Row) => boolean;

  constructor(names: readonly string[], isRowComplete: (row: Row) => boolean) {
    this.idCount = names.length;
    this.missing = new Set(names);
    this.#isRowComplete = isRowComplete;
  }

  add({ rows, nextPageToken }: Page<Row>): void {
    for (const [index, row] of rows.entries()) {
      if (row instanceof InvalidResponseError) continue;
      if (!this.missing.has(row.name) || !this.#isRowComplete(row)) continue;
      this.missing.delete(row.name);
      this.rowByName.set(row.name, row);
      this.hits.push(this.rows.length + index);
    }
    this.rows = this.rows.length === 0 ? rows : this.rows.concat(rows);
    this.nextPageToken = nextPageToken;
  }
}

/** How long GETs replace a list that is refused or broken. Undefined: one GET finds out whether REST is overloaded. */
function pauseAfter(error: Error): number | undefined {
  if (isUnreadable(error)) return shortPauseMs;
  if (!(error instanceof StatusError)) return undefined;
  const { status } = error;
  if (status === 429 || isOfGateway(status)) return undefined;
  return status >= 400 && status <= 499 ? longPauseMs : shortPauseMs;
}
