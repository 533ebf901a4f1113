/**
 * Loads batches of ids, from list pages if pages cost less than one GET per id
 * (docs/decisions/0007-list-pages-for-batches.md). The steps of a batch:
 * 1. Plan (planner.ts): estimate from the hit depth how many list rows to read, and compare the cost with GETs.
 * 2. Scan (list-scan.ts): read the planned pages from the newest row on. A row with one of the ids is a hit.
 * 3. Point reads (point-reads.ts): send one GET for each id without a hit.
 * 4. Learn (hit-depth.ts): record how deep in the list the hits were, for the next plan.
 * row-completeness.ts sometimes compares a row with its GET. Rows that lack fields turn list pages off for a while.
 * prefetch.ts requests the first page early, together with the page of orders that names the ids.
 * A batch costs at most 1.2 calls per id, even if the list holds none of its ids.
 */

import type { Page, PageQuery } from '../../rest/api-types.ts';
import type { CallContext } from '../../rest/client/call-context.ts';
import { currentFieldPath, type FieldPathLog, type FieldPaths } from '../../rest/client/field-path.ts';
import type { BatchWay, ListedKind, LoadingObserver } from '../loading-observer.ts';
import { batchLoader, type RecordLoader, type RecordResult, settleAll } from '../record-loader.ts';
import type { HitDepth } from './hit-depth.ts';
import { isPage, type ListScan, type PendingPage, readPage, scanList } from './list-scan.ts';
import type { ListState } from './list-state.ts';
import {
  type CostModel,
  type ExpectedHits,
  minIdsForPage,
  type Plan,
  planFor,
  timeLimitMs,
  trialFor,
} from './planner.ts';
import { PointReads } from './point-reads.ts';

/** Batches without a prefetch hint share one hit depth under this name. */
const idsKind = 'ids';

// A page is prefetched only if it is expected to hold at least half of the ids.
const minPrefetchShare = 0.5;
// The number of ids is an estimate, so a prefetched page has a quarter more rows than planned.
const prefetchMargin = 1.25;

/** Names found in rows of another list. The operation will probably load them soon. */
export interface PrefetchHint extends ExpectedHits {
  names: ReadonlySet<string>;
  hitDepth: HitDepth;
}

/** The endpoints, limits and state that a list-batch loader uses. */
export interface ListBatchLoaderOptions<Json> {
  get(name: string, callContext: CallContext): Promise<Json>;
  /** Reads a page of the list of the same records. The newest record usually comes first. */
  list(query: PageQuery, callContext: CallContext): Promise<Page<Json>>;
  kind: ListedKind;
  /** The most rows of one page ("List query parameters"). */
  maxPageSize: number;
  callContext: CallContext;
  /** The tenant's state for this list. */
  state: ListState;
  /** Whether the settings allow pages to serve batches. */
  isListUsed: boolean;
  observer: LoadingObserver;
}

/** A loader of records that have both a GET endpoint and a list endpoint. */
export interface ListBatchLoader<Json> extends RecordLoader<Json> {
  /** Requests the page planned for `count` ids, if the page is expected to hold at least half of them. */
  prefetch(count: number, expected: ExpectedHits): void;
  /** Adds names that will probably be loaded. The first batch with one of them uses the prefetched page. */
  addHint(hint: PrefetchHint): void;
}

/**
 * Creates the list-batch loader of one operation. Each name gets the result of its GET, even if the list fails.
 * An error that all calls would meet now, such as 401 or 429, ends the batch: names not found yet get that error.
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
  // Counts invalidations. A page requested before an invalidation must not prime records after it.
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

  /** Removes the hints that contain any of these names, and returns the first of them. */
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
    // Sent in parallel with the page. If the page lacks the record, the GET is needed anyway.
    const comparedName = canCompare ? state.completeness.startComparison(names) : undefined;
    if (comparedName !== undefined) pointReads.start(comparedName);

    const scan = await pendingScan;
    observer.batch(kind, names.length, wayOf(scan, plan));
    this.#learn(names.length, scan, rowsBefore, hitDepth);
    const { outcome } = scan;
    if (outcome instanceof Error) return names.map((name) => scan.rowOf(name) ?? outcome);
    const pointResults = scan.missingCount === 0 ? [] : await pointReads.all(scan.missingNames());
    // Another operation may have found incomplete rows in the meantime.
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
