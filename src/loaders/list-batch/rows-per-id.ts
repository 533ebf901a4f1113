import { Pause } from './pause.ts';

/** With more rows per id, one GET for each id costs less than the rows. */
export const maxRowsPerId = 32;
/** Pages have a quarter more rows than estimated: the next batch may lie a little deeper. */
export const headroom = 1.25;
const initialRowsPerId = 1.6;
const minUsefulShare = 0.5;
const minShare = 0.1;
/** After a page without hits, the next page looks this many times deeper. */
const deeperAfterMiss = 4;
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

/** An estimate of how many rows a page needs for each id of a batch. 75 ids in 150 rows make 2 rows per id. */
export class RowsPerId {
  value: number;
  /** For ids that another list names: the number of ids per row of that list. 0 while unknown. */
  idsPerRow = 0;
  /** Whether the last batch found at least half of its ids in pages. */
  wasUseful = false;
  /** After pages with less than a tenth of their ids, and where the ids lie too deep. */
  readonly pause: Pause;
  readonly #ofProcess: RowsPerId | undefined;
  #hasTaught = false;

  /**
   * @param now A clock in milliseconds with any origin.
   * @param ofProcess The estimate with which each token starts.
   */
  constructor(now: () => number, ofProcess?: RowsPerId) {
    this.pause = new Pause(now);
    this.#ofProcess = ofProcess;
    this.value = ofProcess?.value ?? initialRowsPerId;
  }

  /** The number of rows that probably hold `idCount` ids. */
  rowsFor(idCount: number): number {
    return Math.ceil(idCount * this.value * headroom);
  }

  /** Learns from the pages of a batch. `rowsBefore`: the number of rows before the first expected hit. */
  learn(batch: BatchRows, rowsBefore: number): void {
    const share = batch.hits.length / batch.idCount;
    this.wasUseful = share >= minUsefulShare;
    if (share < minShare) {
      if (!batch.isAtEnd) this.value *= deeperAfterMiss;
      this.pause.noteFailure();
    } else {
      // A deeper batch counts at once, because missing ids cost GETs, and a less deep batch slowly.
      this.#follow(measure(batch, rowsBefore), 1, 1 / 3);
      this.pause.noteSuccess();
    }
    const ofProcess = this.#ofProcess;
    if (this.wasUseful && !this.#hasTaught && ofProcess !== undefined) {
      this.#hasTaught = true;
      // One token changes the estimate of the process by at most a quarter.
      ofProcess.#follow(Math.min(this.value, 2 * ofProcess.value), 1 / 4, 1 / 10);
    }
    if (this.value <= maxRowsPerId) return;
    this.pause.start();
    this.value = ofProcess?.value ?? initialRowsPerId;
  }

  #follow(value: number, upShare: number, downShare: number): void {
    this.value += (value - this.value) * (value > this.value ? upShare : downShare);
  }
}

function measure({ idCount, hits, rows, isAtEnd }: BatchRows, rowsBefore: number): number {
  const countedHits = Math.ceil(countedShare * hits.length);
  const reach = Math.max((hits[countedHits - 1] ?? 0) - rowsBefore + 1, 1) * (hits.length / countedHits);
  // Hits down to the last row read: the missing ids are assumed to follow with the same density.
  const isCutOff = hits.length < idCount && !isAtEnd && reach >= 0.9 * (rows.length - rowsBefore);
  return reach / (isCutOff ? hits.length : idCount);
}
