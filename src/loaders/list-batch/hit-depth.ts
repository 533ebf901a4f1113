import { minIdsForPage, minShare, trialDepth } from './planner.ts';

/**
 * Where in their list the ids of one kind of batch are expected: a moving estimate, learned from earlier batches of the kind.
 * A depth is rows of the list for each id of the batch: 75 ids within the newest 150 rows are within 2. Measured so, what
 * small batches show holds for large ones.
 */
export class HitDepth {
  /** Rows for each id within which the ids are that the list has. */
  depth: number;
  /** The share of a batch's ids that the list has within that depth. */
  share = 1;
  /** Whether the last page that was read answered at least half of its batch. */
  wasUseful = false;
  /** For ids that rows of another list name: how many each row has named lately; 0 while that is unknown. */
  idsPerRow = 0;
  readonly #process: ProcessDepth;
  readonly #now: () => number;
  #isFirst = true;
  #batchesWithoutPage = 0;
  #lastReadAt: number;

  constructor(process: ProcessDepth, now: () => number) {
    this.#process = process;
    this.#now = now;
    this.#lastReadAt = now();
    this.depth = process.depth;
  }

  /** Learns from a batch for which rows were read. */
  learn(batch: ReadBatch): void {
    const rows = batch.rowsRead - batch.rowsBefore;
    this.#lastReadAt = this.#now();
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

  /** Counts a batch that was answered without a page. */
  countBatchWithoutPage(): void {
    this.#batchesWithoutPage += 1;
  }

  /**
   * Whether a batch is to read the list although that is not expected to pay: after a batch that may have been deeper than
   * it was looked for, each twentieth batch without a page, and after ten minutes.
   */
  isTrialDue(): boolean {
    return (
      this.#batchesWithoutPage + 1 >= batchesPerTrial || this.#now() - this.#lastReadAt >= trialIntervalMs
    );
  }
}

/** A batch for which rows of the list were read. */
export interface ReadBatch {
  /** How many ids it has. */
  idCount: number;
  /** The rows that have its ids, counted from 0, in ascending order. */
  hits: readonly number[];
  /** How many rows of the list come before the first that may have one. */
  rowsBefore: number;
  rowsRead: number;
  /** Whether the list has no more rows than those. */
  isWholeList: boolean;
}

const initialDepth = 2;
const minUsefulShare = 0.5;
// Ten batches of the same depth bring the estimate there.
const weight = 1 / 3;
// What tenants show differs more than the batches of one.
const weightUp = 1 / 4;
const weightDown = 1 / 10;
const batchesPerTrial = 20;
const trialIntervalMs = 600_000;
// The last twentieth of the hits may lie anywhere, and gets answer that for less than rows up to there.
const countedShare = 0.95;

/** The depth that a batch has shown, and whether its ids go on below the rows that were read. */
function depthOf({ idCount, hits, rowsBefore, rowsRead, isWholeList }: ReadBatch) {
  const countedHits = Math.ceil(countedShare * hits.length);
  const reach = Math.max((hits[countedHits - 1] ?? 0) - rowsBefore + 1, 1) * (hits.length / countedHits);
  // Hits up to the last row that was read: the ids that are missing are taken to follow just as densely.
  const isCutOff = hits.length < idCount && !isWholeList && reach >= 0.9 * (rowsRead - rowsBefore);
  return { depth: isCutOff ? reach / hits.length : reach / idCount, isCutOff };
}

/** Where the estimates of new tenants start, for one kind of batch: at what the first batches of others have shown. */
export class ProcessDepth {
  depth = initialDepth;

  /** @param depth that the first batch of a tenant has shown; one alone moves the estimate by a quarter at most. */
  learn(depth: number): void {
    const bounded = Math.min(depth, 2 * this.depth);
    this.depth += (bounded - this.depth) * (bounded > this.depth ? weightUp : weightDown);
  }
}

// There are few kinds, but a client may combine the statuses of orders as it likes.
const maxKinds = 100;

/** What is kept for each kind of batch. Beyond a hundred kinds, the oldest are forgotten. */
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
