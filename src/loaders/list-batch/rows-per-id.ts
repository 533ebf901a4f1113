/** With more rows per id, one GET for each id costs less than the rows. */
export const maxRowsPerId = 32;
const initialRowsPerId = 1.6;
/** Pages have a quarter more rows than estimated: the next batch may lie a little deeper. */
export const headroom = 1.25;
const minUsefulShare = 0.5;
const minShare = 0.1;
/** After a page without hits, the next page looks this many times deeper. */
const deeperAfterMiss = 4;
const maxMissesInARow = 2;
/** How long batches use GETs after trouble with the list, or after pages without hits. */
export const pauseMs = 30_000;
// The last 5 % of the hits may lie very deep. GETs for them cost less than the rows down to them.
const countedShare = 0.95;

/** The rows that were read for a batch. */
interface BatchRows {
  readonly idCount: number;
  /** The indexes of the rows that belong to the batch, ascending. */
  readonly hits: readonly number[];
  readonly rows: readonly unknown[];
  /** Whether the rows are the whole list. */
  readonly isAtEnd: boolean;
}

/**
 * A token's estimate of how many rows a page needs for each id of a batch. 75 ids within the newest 150 rows make 2 rows
 * per id. After two pages in a row with less than a tenth of their ids, batches use GETs for 30 seconds.
 */
export class RowsPerId {
  /** For ids that another list names: the number of ids per row of that list. 0 while unknown. */
  idsPerRow = 0;
  /** Whether the last batch found at least half of its ids in pages. */
  wasUseful = false;
  readonly #shared: SharedRowsPerId;
  #value: number;
  #hasTaught = false;
  #missesInARow = 0;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(shared: SharedRowsPerId) {
    this.#shared = shared;
    this.#value = shared.value;
  }

  isPaused(nowMs: number): boolean {
    return nowMs < this.#pausedUntilMs;
  }

  /** The number of rows that probably hold `idCount` ids. */
  rowsFor(idCount: number): number {
    return Math.ceil(idCount * this.#value * headroom);
  }

  /** Learns from the pages of a batch. `rowsBefore`: the number of rows before the first expected hit. */
  learn(batch: BatchRows, rowsBefore: number, nowMs: number): void {
    const share = batch.hits.length / batch.idCount;
    this.wasUseful = share >= minUsefulShare;
    this.#missesInARow = share < minShare ? this.#missesInARow + 1 : 0;
    if (share >= minShare) this.#approach(measure(batch, rowsBefore));
    else if (!batch.isAtEnd) this.#value *= deeperAfterMiss;
    if (this.wasUseful && !this.#hasTaught) {
      this.#hasTaught = true;
      this.#shared.learn(this.#value);
    }
    const isTooDeep = this.#value > maxRowsPerId;
    if (isTooDeep || this.#missesInARow >= maxMissesInARow) this.#pausedUntilMs = nowMs + pauseMs;
    if (isTooDeep) this.#value = this.#shared.value;
  }

  /** Follows a deeper batch at once, because missing ids cost GETs, and a less deep batch slowly. */
  #approach(measured: number): void {
    this.#value = measured > this.#value ? measured : this.#value + (measured - this.#value) / 3;
  }
}

function measure({ idCount, hits, rows, isAtEnd }: BatchRows, rowsBefore: number): number {
  const countedHits = Math.ceil(countedShare * hits.length);
  const reach = Math.max((hits[countedHits - 1] ?? 0) - rowsBefore + 1, 1) * (hits.length / countedHits);
  // Hits down to the last row read: the missing ids are assumed to follow with the same density.
  const isCutOff = hits.length < idCount && !isAtEnd && reach >= 0.9 * (rows.length - rowsBefore);
  return reach / (isCutOff ? hits.length : idCount);
}

/** The estimate with which new tokens start, learned from the first useful batch of each token. */
export class SharedRowsPerId {
  value = initialRowsPerId;

  /** One token changes the estimate by at most a quarter. */
  learn(rowsPerId: number): void {
    const bounded = Math.min(rowsPerId, 2 * this.value);
    this.value += (bounded - this.value) * (bounded > this.value ? 1 / 4 : 1 / 10);
  }
}
