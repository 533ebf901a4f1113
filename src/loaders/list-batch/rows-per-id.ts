import type { BatchRows } from './batch-rows.ts';
import { Pause } from './pause.ts';

/** With more rows per id, one GET for each id costs less than the rows. */
export const maxRowsPerId = 32;
/** Pages have a quarter more rows than estimated: the next batch may lie a little deeper. */
export const headroom = 1.25;
const initialRowsPerId = 1.6;
const minShare = 0.1;
/** After a page without hits, the next page looks this many times deeper. */
const deeperAfterMiss = 4;
// The last 5 % of the hits may lie very deep. GETs for them cost less than the rows down to them.
const countedShare = 0.95;

type BatchHits = Pick<BatchRows<{ name: string }>, 'hits' | 'idCount' | 'nextPageToken'>;

/** An estimate of how many rows a page needs for each id of a batch. 75 ids in 150 rows make 2 rows per id. */
export class RowsPerId {
  value: number;
  /** For ids that another list names: the number of ids per row of that list. 0 while unknown. */
  idsPerRow = 0;
  /** After pages with less than a tenth of their ids, and where the ids lie too deep. */
  readonly pause = new Pause();
  readonly #ofProcess: RowsPerId | undefined;
  #hasTaught = false;

  /** @param ofProcess The estimate with which each token starts. */
  constructor(ofProcess?: RowsPerId) {
    this.#ofProcess = ofProcess;
    this.value = ofProcess?.value ?? initialRowsPerId;
  }

  rowsFor(idCount: number): number {
    return Math.ceil(idCount * this.value * headroom);
  }

  /** Learns from the pages of a batch. `rowsBefore`: the number of rows before the first expected hit. */
  learn({ hits, idCount, nextPageToken }: BatchHits, rowsBefore: number): void {
    const ofProcess = this.#ofProcess;
    if (hits.length < minShare * idCount) {
      if (nextPageToken !== undefined) this.value *= deeperAfterMiss;
      this.pause.noteFailure();
    } else {
      // A deeper batch counts at once, because missing ids cost GETs, and a less deep batch slowly.
      const counted = hits.slice(0, Math.ceil(countedShare * hits.length));
      const rows = (counted.at(-1) ?? 0) - rowsBefore + 1;
      this.#follow(Math.max(rows, 1) / counted.length, 1, 1 / 3);
      this.pause.noteSuccess();
      // One token changes the estimate of the process once, by at most a quarter.
      if (ofProcess !== undefined && !this.#hasTaught)
        ofProcess.#follow(Math.min(this.value, 2 * ofProcess.value), 1 / 4, 1 / 10);
      this.#hasTaught = true;
    }
    if (this.value <= maxRowsPerId) return;
    this.pause.start();
    this.value = ofProcess?.value ?? initialRowsPerId;
  }

  #follow(value: number, upShare: number, downShare: number): void {
    this.value += (value - this.value) * (value > this.value ? upShare : downShare);
  }
}
