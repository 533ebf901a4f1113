import { isJsonObject } from '../../base/json-object.ts';
import { RecentlyWritten } from './recently-written.ts';

// With one failure or two, a service that fails now and then would get GETs for all ids, which would make it slower.
const failuresToPauseAll = 3;

/** What all tokens share about one list. */
export class SharedListState {
  readonly rowsPerId = byFilter(() => new RowsPerId());
  /** No batch reads a page while it is on: rows of the list lack fields that records have. */
  readonly incompleteRows = new Pause();
  /** While it is on, no row is compared. Until the first result each batch compares one, so that no batch uses unknown rows. */
  readonly comparisonPause = new Pause();
  /** The pause of all tokens, after failed pages of several ones. */
  readonly pause = new Pause(failuresToPauseAll);
  #lastInTrouble: ListState | undefined;

  /** Compares a row with its record. Where the row lacks fields, no token uses the list for ten minutes. */
  async compare(row: object, pendingRecord: Promise<object>): Promise<void> {
    const record = await pendingRecord.catch(() => undefined);
    this.comparisonPause.start(record === undefined ? shortPauseMs : longPauseMs);
    if (record !== undefined && lacksFields(row, record)) this.incompleteRows.start(longPauseMs);
  }

  /** Failures of one token in a row count once: it may have a rate limit or a size of its own. */
  noteFailure(token: ListState): void {
    if (token !== this.#lastInTrouble) this.pause.noteFailure();
    this.#lastInTrouble = token;
  }
}

/** What earlier batches of one token have learned about one list. */
export class ListState {
  readonly shared: SharedListState;
  readonly rowsPerId = byFilter((filter) => new RowsPerId(this.shared.rowsPerId(filter)));
  /** The pause of this token, after its own failed pages. */
  readonly pause = new Pause();
  readonly written = new RecentlyWritten();

  constructor(shared: SharedListState) {
    this.shared = shared;
  }

  /** Asks to read a page for a batch now. @returns true if the caller must read the page, and note how it ends */
  claimPage(): boolean {
    if (this.shared.incompleteRows.isOn || this.isPaused) return false;
    this.pause.startAfterFailures();
    this.shared.pause.startAfterFailures();
    return true;
  }

  /** Whether batches use GETs, because pages of the list have failed. */
  get isPaused(): boolean {
    return this.pause.isOn || this.shared.pause.isOn;
  }

  noteFailure(): void {
    this.pause.noteFailure();
    this.shared.noteFailure(this);
  }

  noteSuccess(): void {
    this.pause.noteSuccess();
    this.shared.pause.noteSuccess();
  }
}

/**
 * One value for each filter of the list whose rows name the ids, such as the orders for a list of shipments. Seven statuses,
 * searched or not, make at most 257 filters.
 */
function byFilter<Value>(create: (filter: string) => Value): (filter: string) => Value {
  const values = new Map<string, Value>();
  return (filter) => {
    const value = values.get(filter) ?? create(filter);
    values.set(filter, value);
    return value;
  };
}

/** How long batches use GETs after trouble that may be over soon. */
export const shortPauseMs = 30_000;
/** How long batches use GETs after a refusal or incomplete rows, which do not change soon. */
export const longPauseMs = 600_000;

/** A time in which something is not done, such as pages being read. It starts at once, or after failures in a row. */
export class Pause {
  readonly #maxFailures: number;
  #failures = 0;
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(maxFailures = 2) {
    this.#maxFailures = maxFailures;
  }

  get isOn(): boolean {
    return performance.now() < this.#untilMs;
  }

  start(durationMs = shortPauseMs): void {
    this.#untilMs = performance.now() + durationMs;
  }

  /** Only a success sets the count to zero. So after a pause, the first failure starts the next pause. */
  noteFailure(): void {
    this.#failures += 1;
    this.startAfterFailures();
  }

  /**
   * Called before a batch reads a page: if failures have started the last pause, the next one starts. So after a pause, one
   * batch tries the list. The others use GETs, because a list that hangs would stop all of them.
   */
  startAfterFailures(): void {
    if (this.#failures >= this.#maxFailures) this.start();
  }

  noteSuccess(): void {
    this.#failures = 0;
    this.#untilMs = Number.NEGATIVE_INFINITY;
  }
}

/** With more rows per id, one GET for each id costs less than the rows. */
export const maxRowsPerId = 32;
/** Pages have a quarter more rows than estimated: the next batch may lie a little deeper. */
export const headroom = 1.25;
const initialRowsPerId = 1.6;
const minFraction = 0.1;
/** After a page without hits, the next page looks this many times deeper. */
const deeperAfterMiss = 4;
// The last 5 % of the hits may lie very deep. GETs for them cost less than the rows down to them.
const countedFraction = 0.95;

/** An estimate of how many rows a page needs for each id of a batch. 75 ids in 150 rows make 2 rows per id. */
export class RowsPerId {
  value: number;
  /** For shipments that orders name: how many shipments a requested order had in the last page of orders. 0 while unknown. */
  shipmentsPerOrder = 0;
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
  learn(
    batch: { hits: readonly number[]; idCount: number; nextPageToken: string | undefined },
    rowsBefore: number,
  ): void {
    const { hits, idCount, nextPageToken } = batch;
    const ofProcess = this.#ofProcess;
    if (hits.length < minFraction * idCount) {
      if (nextPageToken !== undefined) this.value *= deeperAfterMiss;
      this.pause.noteFailure();
    } else {
      // A deeper batch counts at once, because missing ids cost GETs, and a less deep batch slowly.
      const counted = hits.slice(0, Math.ceil(countedFraction * hits.length));
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

  #follow(value: number, upFraction: number, downFraction: number): void {
    this.value += (value - this.value) * (value > this.value ? upFraction : downFraction);
  }
}

/** Whether a field is set in a record and empty in its row, unless the record changed between the two reads. */
function lacksFields(row: object, record: object): boolean {
  const [before, after] = [row, record].map((each) => Reflect.get(each, 'updateTime') ?? undefined);
  const hasChanged = before !== undefined && after !== undefined && before !== after;
  return !hasChanged && lacks(row, record);
}

/** Arrays in a record are not compared, because their lengths differ. */
function lacks(row: object, record: object): boolean {
  return Object.entries(record).some(([field, value]) => {
    const rowValue: unknown = Reflect.get(row, field);
    if (value === null || value === undefined) return false;
    if (rowValue === null || rowValue === undefined) return true;
    return isJsonObject(value) && isJsonObject(rowValue) && lacks(rowValue, value);
  });
}
