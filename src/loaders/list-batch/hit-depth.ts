import { fewestForPage, leastShare, trialDepth } from './planner.ts';

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
  #batchesWithout = 0;
  #readAt: number;

  constructor(process: ProcessDepth, now: () => number) {
    this.#process = process;
    this.#now = now;
    this.#readAt = now();
    this.depth = process.depth;
  }

  /** Learns from a batch for which rows were read. */
  learn(batch: ReadBatch): void {
    const rows = batch.rowsRead - batch.rowsBefore;
    this.#readAt = this.#now();
    this.#batchesWithout = 0;
    if (rows <= 0 && batch.hits.length === 0 && !batch.isWholeList) return;
    const share = batch.hits.length / batch.asked;
    this.wasUseful = share >= leastUseful;
    if (share < leastShare) {
      const mayBeDeeper = this.share > 0 && !batch.isWholeList && rows < trialDepth * batch.asked;
      this.#batchesWithout = mayBeDeeper ? batchesPerTrial : 0;
      this.share = 0;
      return;
    }
    const { depth, isCutOff } = depthOf(batch);
    this.#batchesWithout = 0;
    const shareWithin = isCutOff ? 1 : share;
    this.share = this.share === 0 ? shareWithin : this.share + (shareWithin - this.share) * weight;
    this.depth = depth > this.depth ? depth : this.depth + (depth - this.depth) * weight;
    if (this.#isFirst && this.wasUseful && batch.asked >= fewestForPage) this.#process.learn(depth);
    this.#isFirst = false;
  }

  /** Counts a batch that was answered without a page. */
  countWithout(): void {
    this.#batchesWithout += 1;
  }

  /**
   * Whether a batch is to read the list although that is not expected to pay: after a batch that may have been deeper than
   * it was looked for, each twentieth batch without a page, and after ten minutes.
   */
  isTrialDue(): boolean {
    return this.#batchesWithout + 1 >= batchesPerTrial || this.#now() - this.#readAt >= msPerTrial;
  }
}

/** A batch for which rows of the list were read. */
export interface ReadBatch {
  /** How many ids it has. */
  asked: number;
  /** The rows that have its ids, counted from 0, in ascending order. */
  hits: readonly number[];
  /** How many rows of the list come before the first that may have one. */
  rowsBefore: number;
  rowsRead: number;
  /** Whether the list has no more rows than those. */
  isWholeList: boolean;
}

const depthAtFirst = 2;
const leastUseful = 0.5;
// Ten batches of the same depth bring the estimate there.
const weight = 1 / 3;
// What tenants show differs more than the batches of one.
const weightUp = 1 / 4;
const weightDown = 1 / 10;
const batchesPerTrial = 20;
const msPerTrial = 600_000;
// The last twentieth of the hits may lie anywhere, and gets answer that for less than rows up to there.
const countedHits = 0.95;

/** The depth that a batch has shown, and whether its ids go on below the rows that were read. */
function depthOf({ asked, hits, rowsBefore, rowsRead, isWholeList }: ReadBatch) {
  const counted = Math.ceil(countedHits * hits.length);
  const reach = Math.max((hits[counted - 1] ?? 0) - rowsBefore + 1, 1) * (hits.length / counted);
  // Hits up to the last row that was read: the ids that are missing are taken to follow just as densely.
  const isCutOff = hits.length < asked && !isWholeList && reach >= 0.9 * (rowsRead - rowsBefore);
  return { depth: isCutOff ? reach / hits.length : reach / asked, isCutOff };
}

/** Where the estimates of new tenants start, for one kind of batch: at what the first batches of others have shown. */
export class ProcessDepth {
  depth = depthAtFirst;

  /** @param depth that the first batch of a tenant has shown; one alone moves the estimate by a quarter at most. */
  learn(depth: number): void {
    const bounded = Math.min(depth, 2 * this.depth);
    this.depth += (bounded - this.depth) * (bounded > this.depth ? weightUp : weightDown);
  }
}

// There are few kinds, but a client may combine the statuses of orders as it likes.
const maxKinds = 100;

/** What is kept for each kind of batch. Beyond a hundred kinds, the oldest are forgotten. */
export class ByKind<Kept> {
  readonly #kinds = new Map<string, Kept>();
  readonly #make: (kind: string) => Kept;

  constructor(make: (kind: string) => Kept) {
    this.#make = make;
  }

  of(kind: string): Kept {
    const known = this.#kinds.get(kind);
    if (known !== undefined) return known;
    const [oldest] = this.#kinds.size >= maxKinds ? this.#kinds.keys() : [];
    if (oldest !== undefined) this.#kinds.delete(oldest);
    const made = this.#make(kind);
    this.#kinds.set(kind, made);
    return made;
  }
}
