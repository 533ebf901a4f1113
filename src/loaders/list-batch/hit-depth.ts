/**
 * Step 4 of a list batch: learns how deep in the list the ids of a batch are.
 *
 * The hit depth is the number of list rows per id: 75 ids within the newest 150 rows have the depth 2. Measured per
 * id, the depth of small batches also holds for large batches.
 */

import { minIdsForPage, minShare, trialDepth } from './planner.ts';

/** A tenant's estimated hit depth for one kind of batch, as a moving average over earlier batches. */
export class HitDepth {
  /** How many rows per id must be read to find the ids that the list holds. */
  depth: number;
  /** The share of a batch's ids that the list holds within `depth`. */
  share = 1;
  /** Whether the last scan found at least half of its batch. */
  wasUseful = false;
  /** For ids named by rows of another list: the number of ids per row on the last page. 0 while unknown. */
  idsPerRow = 0;
  readonly #process: ProcessDepth;
  readonly #now: () => number;
  #isFirst = true;
  #batchesWithoutPage = 0;
  #lastReadAtMs: number;

  constructor(process: ProcessDepth, now: () => number) {
    this.#process = process;
    this.#now = now;
    this.#lastReadAtMs = now();
    this.depth = process.depth;
  }

  /** Updates the estimate from the scan of a batch. */
  learn(batch: ReadBatch): void {
    const rows = batch.rowsRead - batch.rowsBefore;
    this.#lastReadAtMs = this.#now();
    this.#batchesWithoutPage = 0;
    if (rows <= 0 && batch.hits.length === 0 && !batch.isWholeList) return;
    const share = batch.hits.length / batch.idCount;
    this.wasUseful = share >= minUsefulShare;
    if (share < minShare) {
      const mayBeDeeper = this.share > 0 && !batch.isWholeList && rows < trialDepth * batch.idCount;
      this.#batchesWithoutPage = mayBeDeeper ? batchesPerTrial : 0;
      this.share = 0;
      return;
    }
    const { depth, isCutOff } = depthOf(batch);
    this.#batchesWithoutPage = 0;
    const shareWithin = isCutOff ? 1 : share;
    this.share = this.share === 0 ? shareWithin : this.share + (shareWithin - this.share) * weight;
    this.depth = depth > this.depth ? depth : this.depth + (depth - this.depth) * weight;
    if (this.#isFirst && this.wasUseful && batch.idCount >= minIdsForPage) this.#process.learn(depth);
    this.#isFirst = false;
  }

  /** Counts a batch that read no page. */
  countBatchWithoutPage(): void {
    this.#batchesWithoutPage += 1;
  }

  /**
   * Whether the next batch should read the list although no saving is expected (a trial). A trial is due after a
   * scan that may have been too shallow, for each twentieth batch without a page, and after ten minutes without one.
   */
  isTrialDue(): boolean {
    return (
      this.#batchesWithoutPage + 1 >= batchesPerTrial || this.#now() - this.#lastReadAtMs >= trialIntervalMs
    );
  }
}

/** The scan of one batch: which list rows were read, and which of them were hits. */
export interface ReadBatch {
  /** The number of ids in the batch. */
  idCount: number;
  /** The list indexes of the hits, from 0, ascending. */
  hits: readonly number[];
  /** The number of list rows before the first possible hit. */
  rowsBefore: number;
  rowsRead: number;
  /** Whether the rows read are the whole list. */
  isWholeList: boolean;
}

const initialDepth = 2;
const minUsefulShare = 0.5;
// After about ten batches of equal depth, the estimate has reached that depth.
const weight = 1 / 3;
// Smaller weights for `ProcessDepth`: tenants differ more than the batches of one tenant.
const weightUp = 1 / 4;
const weightDown = 1 / 10;
const batchesPerTrial = 20;
const trialIntervalMs = 600_000;
// The last 5 % of the hits may lie very deep. GETs for them cost less than the rows down to them.
const countedShare = 0.95;

/** The depth of one batch, and whether more hits are expected below the rows read. */
function depthOf({ idCount, hits, rowsBefore, rowsRead, isWholeList }: ReadBatch) {
  const countedHits = Math.ceil(countedShare * hits.length);
  const reach = Math.max((hits[countedHits - 1] ?? 0) - rowsBefore + 1, 1) * (hits.length / countedHits);
  // Hits down to the last row read: the missing ids are assumed to follow with the same density.
  const isCutOff = hits.length < idCount && !isWholeList && reach >= 0.9 * (rowsRead - rowsBefore);
  return { depth: isCutOff ? reach / hits.length : reach / idCount, isCutOff };
}

/** The initial hit depth of new tenants for one kind of batch, learned from the first batch of each tenant. */
export class ProcessDepth {
  depth = initialDepth;

  /** @param depth The depth of a tenant's first batch. One tenant changes the estimate by at most a quarter. */
  learn(depth: number): void {
    const bounded = Math.min(depth, 2 * this.depth);
    this.depth += (bounded - this.depth) * (bounded > this.depth ? weightUp : weightDown);
  }
}

// There are few kinds, but clients may combine order statuses freely.
const maxKinds = 100;

/** One value per kind of batch. Above 100 kinds, the oldest value is dropped. */
export class ByKind<Value> {
  readonly #kinds = new Map<string, Value>();
  readonly #create: (kind: string) => Value;

  constructor(create: (kind: string) => Value) {
    this.#create = create;
  }

  of(kind: string): Value {
    const existing = this.#kinds.get(kind);
    if (existing !== undefined) return existing;
    const [oldest] = this.#kinds.size >= maxKinds ? this.#kinds.keys() : [];
    if (oldest !== undefined) this.#kinds.delete(oldest);
    const created = this.#create(kind);
    this.#kinds.set(kind, created);
    return created;
  }
}
