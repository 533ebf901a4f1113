import type { CallContext } from '../../rest/client/call-context.ts';
import { currentFieldPath, type FieldPaths } from '../../rest/client/field-path.ts';
import type { Page, PageQuery } from '../../rest/types.ts';
import type { FieldPathLog } from '../field-path-log.ts';
import type { BatchWay, ListedKind, LoadingObserver } from '../loading-observer.ts';
import { batchLoader, type RecordLoader } from '../record-loader.ts';
import type { RecordResult } from '../result.ts';
import { settleAll } from '../result.ts';
import { ByKind, HitDepth, ProcessDepth } from './hit-depth.ts';
import { isPage, type ListScan, type PendingPage, readPage, scanList } from './list-scan.ts';
import {
  CallTimes,
  type CostModel,
  type ExpectedHits,
  minIdsForPage,
  type Plan,
  planFor,
  timeLimitMs,
  trialFor,
} from './planner.ts';
import { PointReads } from './point-reads.ts';
import { type ProcessCompleteness, RowCompleteness } from './row-completeness.ts';

/** What the tenants of the process share about one list: where their estimates start, and that rows were compared. */
export interface ProcessListState {
  readonly depths: ByKind<ProcessDepth>;
  readonly completeness: ProcessCompleteness;
}

export function createProcessListState(): ProcessListState {
  return {
    depths: new ByKind(() => new ProcessDepth()),
    completeness: { comparedAt: Number.NEGATIVE_INFINITY },
  };
}

/** Batches of ids that no list has named just before. */
const idsKind = 'ids';

const backOffMs = 10_000;

// A page that nobody has asked for yet is to answer half of the ids at least.
const minPrefetchShare = 0.5;
// How many ids follow is not known yet, so that a quarter more rows are asked for.
const prefetchMargin = 1.25;

/** What earlier operations of a tenant have shown of one list. */
export class ListState {
  readonly times = new CallTimes();
  readonly completeness: RowCompleteness;
  readonly depths: ByKind<HitDepth>;
  readonly #now: () => number;
  #backOffUntil = Number.NEGATIVE_INFINITY;

  /** @param now counts milliseconds from any start. */
  constructor(process = createProcessListState(), now = () => performance.now()) {
    this.completeness = new RowCompleteness(process.completeness, now);
    this.depths = new ByKind((kind) => new HitDepth(process.depths.of(kind), now));
    this.#now = now;
  }

  /** Whether pages may answer ids: no row lacks anything, and the last page came. */
  isUsable(): boolean {
    return this.#now() >= this.#backOffUntil && !this.completeness.isIncomplete();
  }

  /** Asks for no page for ten seconds, after one that failed, was late, or had no rows though the list goes on. */
  startBackOff(): void {
    this.#backOffUntil = this.#now() + backOffMs;
  }
}

/** Names that are about to be asked for, as the rows of another list have named them. */
export interface PrefetchHint extends ExpectedHits {
  names: ReadonlySet<string>;
  hitDepth: HitDepth;
}

export interface ListBatchLoaderOptions<Json> {
  get(name: string, callContext: CallContext): Promise<Json>;
  /** The list that has the same records, newest first as a rule. */
  list(query: PageQuery, callContext: CallContext): Promise<Page<Json>>;
  kind: ListedKind;
  /** The most rows that a page of it has. */
  maxPageSize: number;
  callContext: CallContext;
  /** Of the caller's tenant, for this list. */
  state: ListState;
  /** Whether pages may answer ids at all. */
  isListUsed: boolean;
  observer: LoadingObserver;
}

/** Records that have a get endpoint and a list. */
export interface ListBatchLoader<Json> extends RecordLoader<Json> {
  /** Asks for the page that so many ids would be answered from, where that is expected to answer half of them. */
  prefetch(count: number, expected: ExpectedHits): void;
  /** Tells of names before they are asked for. The page that was prefetched answers those of the first such batch. */
  addHint(hint: PrefetchHint): void;
}

/**
 * A loader that answers a batch of names from pages of their list where that is expected to pay (planner.ts), and asks for the
 * rest by id. Whatever is wrong with the list, every name is answered as its get would answer it. A page that is refused as
 * every call would be ends the batch.
 */
export function listBatchLoader<Json extends { name: string }>(
  options: ListBatchLoaderOptions<Json>,
): ListBatchLoader<Json> {
  return new BatchesFromList(options);
}

class BatchesFromList<Json extends { name: string }> implements ListBatchLoader<Json> {
  readonly #options: ListBatchLoaderOptions<Json>;
  readonly #records: RecordLoader<Json>;
  #hints: readonly PrefetchHint[] = [];
  #prefetched: { page: PendingPage<Json>; fieldPaths: Set<FieldPaths> } | undefined;
  // Pages that were under way before something was forgotten must not be remembered.
  #generation = 0;

  constructor(options: ListBatchLoaderOptions<Json>) {
    this.#options = options;
    this.#records = batchLoader((names, fieldPaths) => this.#loadBatch(names, fieldPaths));
  }

  load(name: string): Promise<Json | null> {
    return this.#records.load(name);
  }

  find(name: string): Json | Promise<Json | null> {
    return this.#records.find(name);
  }

  prime(rows: Page<Json>['rows']): void {
    if (!this.#options.state.completeness.isIncomplete()) this.#records.prime(rows);
  }

  replace(name: string, record: Json): void {
    this.#forgetList();
    this.#records.replace(name, record);
  }

  clear(name: string): void {
    this.#forgetList();
    this.#records.clear(name);
  }

  clearAll(): void {
    this.#forgetList();
    this.#records.clearAll();
  }

  addHint(hint: PrefetchHint): void {
    this.#hints = [...this.#hints, hint];
  }

  prefetch(count: number, expected: ExpectedHits): void {
    if (this.#prefetched !== undefined || !this.#isListUsable()) return;
    const { observer, kind, maxPageSize } = this.#options;
    const plan = planFor(count, expected, this.#costModel());
    if (plan === undefined || plan.rows > maxPageSize || plan.share < minPrefetchShare) return;
    observer.prefetchedPage(kind, 'asked');
    const fieldPath = currentFieldPath.getStore();
    const fieldPaths = new Set(fieldPath === undefined ? [] : [fieldPath]);
    const pageSize = Math.min(Math.ceil(plan.rows * prefetchMargin), maxPageSize);
    this.#prefetched = {
      page: currentFieldPath.run(fieldPaths, () => this.#read({ pageSize }, count)),
      fieldPaths,
    };
  }

  #loadBatch(names: readonly string[], fieldPaths: FieldPathLog): Promise<RecordResult<Json>[]> {
    const hint = this.#hints.length === 0 ? undefined : this.#takeHint(names);
    const prefetched = hint && fieldPaths.runForKeys(names, () => this.#takePrefetched());
    if (prefetched !== undefined || names.length >= minIdsForPage) {
      return this.#loadFromList(names, hint, prefetched, fieldPaths);
    }
    const { get, callContext, observer, kind } = this.#options;
    observer.batch(kind, names.length, 'gets');
    const read = (name: string) => get(name, callContext);
    return settleAll(names, (name) => fieldPaths.runForKey(name, read));
  }

  /** The hint that has named some of these. Of several, the first speaks for all. */
  #takeHint(names: readonly string[]): PrefetchHint | undefined {
    const hints = this.#hints.filter((hint) => names.some((name) => hint.names.has(name)));
    this.#hints = this.#hints.filter((hint) => !hints.includes(hint));
    return hints[0];
  }

  #takePrefetched(): PendingPage<Json> | undefined {
    if (this.#prefetched === undefined || this.#options.state.completeness.isIncomplete()) return undefined;
    const { page, fieldPaths } = this.#prefetched;
    const { observer, kind } = this.#options;
    this.#prefetched = undefined;
    observer.prefetchedPage(kind, 'used');
    const fieldPath = currentFieldPath.getStore();
    if (fieldPath !== undefined) fieldPaths.add(fieldPath);
    return page;
  }

  async #loadFromList(
    names: readonly string[],
    hint: PrefetchHint | undefined,
    prefetched: PendingPage<Json> | undefined,
    fieldPaths: FieldPathLog,
  ): Promise<RecordResult<Json>[]> {
    const { get, callContext, state, observer, kind, maxPageSize } = this.#options;
    const generation = this.#generation;
    const { rowsBefore, hitDepth } = hint ?? { rowsBefore: 0, hitDepth: state.depths.of(idsKind) };
    const plan = this.#isListUsable()
      ? planOrTrial(names.length, rowsBefore, hitDepth, this.#costModel())
      : undefined;
    const pointReads = new PointReads({ get, callContext, fieldPaths, times: state.times });
    const pendingScan = scanList<Json>(names, {
      plan,
      prefetched,
      maxPageSize,
      readsLeft: () => callContext.readsLeft(),
      read: (query, missing) => fieldPaths.runForKeys(missing, () => this.#read(query, missing.length)),
    });
    const canCompare = plan !== undefined && callContext.readsLeft() > 0;
    // Together with the page: where that lacks the record, the record is asked for anyway.
    const comparedName = canCompare ? state.completeness.startComparison(names) : undefined;
    if (comparedName !== undefined) pointReads.start(comparedName);

    const scan = await pendingScan;
    observer.batch(kind, names.length, wayOf(scan, plan));
    this.#learn(names.length, scan, rowsBefore, hitDepth);
    const { outcome } = scan;
    if (outcome instanceof Error) return names.map((name) => scan.rowOf(name) ?? outcome);
    const pointResults = scan.missingCount === 0 ? [] : await pointReads.all(scan.missingNames());
    // Another operation may have found meanwhile that rows lack something.
    const isCheckNeeded = comparedName !== undefined || state.completeness.isIncomplete();
    const limitMs = timeLimitMs(0, 1, this.#costModel());
    const replacements = isCheckNeeded
      ? await state.completeness.replacementRecords(scan.foundRows(), comparedName, pointReads, limitMs)
      : undefined;
    callContext.callLog.savedByList += names.length - pointReads.count;
    if (this.#generation === generation && this.#isListUsable()) this.#records.prime(scan.rows);
    let pointIndex = 0;
    return names.map((name) => {
      const row = scan.rowOf(name);
      if (row !== undefined) return replacements === undefined ? row : (replacements.get(name) ?? null);
      pointIndex += 1;
      return pointResults[pointIndex - 1] ?? null;
    });
  }

  #learn(idCount: number, scan: ListScan<Json>, rowsBefore: number, hitDepth: HitDepth): void {
    const { state } = this.#options;
    const { pageCount, outcome, hits, isAtEnd, rows } = scan;
    const isEmpty = isPage(outcome) && outcome.rows.length === 0 && !isAtEnd;
    if (outcome === 'failed' || outcome === 'timeout' || isEmpty) state.startBackOff();
    if (pageCount === 0) hitDepth.countBatchWithoutPage();
    else state.completeness.countPage();
    if (rows.length > 0 || isAtEnd) {
      hitDepth.learn({ idCount, hits, rowsBefore, rowsRead: rows.length, isWholeList: isAtEnd });
    }
  }

  #isListUsable(): boolean {
    const { isListUsed, state } = this.#options;
    return isListUsed && state.isUsable();
  }

  #costModel(): CostModel {
    const { state, callContext, maxPageSize } = this.#options;
    return { times: state.times, callsAtOnce: callContext.callsPerOperation, maxPageSize };
  }

  #read(query: PageQuery, idCount: number): PendingPage<Json> {
    const { list, callContext, state } = this.#options;
    const limitMs = timeLimitMs(query.pageSize, idCount, this.#costModel());
    return readPage(query, { list, callContext, times: state.times, limitMs });
  }

  #forgetList(): void {
    this.#generation += 1;
    this.#prefetched?.page.abort();
    this.#prefetched = undefined;
    this.#hints = [];
  }
}

function wayOf<Json extends { name: string }>(
  { pageCount, outcome, hits }: ListScan<Json>,
  plan: Plan | undefined,
): BatchWay {
  if (pageCount === 0) return 'gets';
  if (outcome === 'timeout') return 'timeout';
  if (!isPage(outcome)) return 'failed';
  if (hits.length === 0) return 'no rows';
  return plan?.isTrial === true ? 'trial' : 'page';
}

function planOrTrial(
  idCount: number,
  rowsBefore: number,
  hitDepth: HitDepth,
  costModel: CostModel,
): Plan | undefined {
  const plan = planFor(idCount, { rowsBefore, hitDepth }, costModel);
  return plan ?? (hitDepth.isTrialDue() ? trialFor(idCount, costModel) : undefined);
}
