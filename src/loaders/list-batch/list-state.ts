import { longPauseMs, Pause, shortPauseMs } from './pause.ts';
import { lacksFields } from './row-comparison.ts';
import { RowsPerId } from './rows-per-id.ts';

// A service that fails now and then fails a page now and then. GETs for all ids would make it slower.
const failuresOfTokens = 3;

/** What all tokens share about one list. */
export class SharedListState {
  readonly rowsPerId = byFilter(() => new RowsPerId());
  readonly incompleteRows = new Pause();
  /** On from the first result. Until then each batch compares a row, so that no batch uses rows that nobody compared. */
  readonly comparisons = new Pause();
  readonly pause = new Pause(failuresOfTokens);
  #lastInTrouble: ListState | undefined;

  /** Compares a row with its record. Where the row lacks fields, no token uses the list for ten minutes. */
  async compare(row: object, pendingRecord: Promise<object>): Promise<void> {
    const record = await pendingRecord.catch(() => undefined);
    this.comparisons.start(record === undefined ? shortPauseMs : longPauseMs);
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
  readonly pause = new Pause();

  constructor(shared: SharedListState) {
    this.shared = shared;
  }

  /** Whether a batch may read a page now. A caller that gets true reads the page. */
  mayReadPage(): boolean {
    const pauses = [this.pause, this.shared.pause];
    if (this.shared.incompleteRows.isOn || pauses.some(({ isOn }) => isOn)) return false;
    for (const pause of pauses) pause.noteTry();
    return true;
  }

  /** @returns whether batches now use GETs. */
  noteFailure(): boolean {
    this.pause.noteFailure();
    this.shared.noteFailure(this);
    return this.pause.isOn || this.shared.pause.isOn;
  }

  noteSuccess(): void {
    this.pause.noteSuccess();
    this.shared.pause.noteSuccess();
  }
}

/** One value per filter of the list that names ids. Seven statuses, searched or not, make at most 257 filters. */
function byFilter<Value>(create: (filter: string) => Value): (filter: string) => Value {
  const values = new Map<string, Value>();
  return (filter) => {
    const value = values.get(filter) ?? create(filter);
    values.set(filter, value);
    return value;
  };
}
