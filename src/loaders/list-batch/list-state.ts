import { pauseMs, RowsPerId, SharedRowsPerId } from './rows-per-id.ts';

/** How long batches use GETs after a refusal or incomplete rows, which do not change soon. One row is compared as often. */
export const longPauseMs = 600_000;

// A service that fails now and then fails a page now and then. GETs for all ids would make it slower.
const failuresOfToken = 2;
const failuresOfTokens = 3;

/**
 * The failures of a list in a row, while GETs worked, and the pause after too many. After the pause, one batch tries the
 * list. The others use GETs until that page is read, because a list that hangs would stop all of them.
 */
class Trouble {
  readonly #maxFailures: number;
  #failures = 0;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #isTrying = false;

  constructor(maxFailures: number) {
    this.#maxFailures = maxFailures;
  }

  isPaused(nowMs: number): boolean {
    return nowMs < this.#pausedUntilMs;
  }

  /** A page failed. @returns whether batches now use GETs. */
  noteFailure(nowMs: number): boolean {
    this.#failures += 1;
    if (this.#failures < this.#maxFailures) return false;
    this.#pausedUntilMs = nowMs + pauseMs;
    this.#isTrying = false;
    return true;
  }

  /** Called before a batch reads a page. */
  noteRequest(nowMs: number): void {
    if (this.#failures < this.#maxFailures) return;
    this.#pausedUntilMs = nowMs + pauseMs;
    this.#isTrying = true;
  }

  /** A page was read. A page that was requested before the pause does not end it. */
  noteSuccess(): void {
    if (this.#failures >= this.#maxFailures && !this.#isTrying) return;
    this.#failures = 0;
    this.#pausedUntilMs = Number.NEGATIVE_INFINITY;
  }
}

/** What all tokens share about one list. */
export class SharedListState {
  readonly now: () => number;
  readonly rowsPerId = byFilter(() => new SharedRowsPerId());
  readonly trouble = new Trouble(failuresOfTokens);
  #nextComparisonMs = Number.NEGATIVE_INFINITY;
  #hasCompared = false;
  #incompleteUntilMs = Number.NEGATIVE_INFINITY;
  #lastInTrouble: ListState | undefined;

  /** @param now A clock in milliseconds with any origin. */
  constructor(now: () => number) {
    this.now = now;
  }

  get hasIncompleteRows(): boolean {
    return this.now() < this.#incompleteUntilMs;
  }

  /**
   * Whether to compare a row now. Before the first result, each batch compares one: no batch uses rows that nobody has
   * compared. Then one in ten minutes, and after 30 seconds if a comparison had no result.
   */
  mayCompare(): boolean {
    if (this.now() < this.#nextComparisonMs) return false;
    if (this.#hasCompared) this.#nextComparisonMs = this.now() + pauseMs;
    return true;
  }

  /** Records whether a row lacked fields of its record: undefined if the record could not be read. */
  compared(isIncomplete: boolean | undefined): void {
    this.#hasCompared = true;
    this.#nextComparisonMs = this.now() + (isIncomplete === undefined ? pauseMs : longPauseMs);
    if (isIncomplete) this.#incompleteUntilMs = this.now() + longPauseMs;
  }

  /** Failures of one token in a row count once: it may have a rate limit or a size of its own. */
  noteFailure(token: ListState): boolean {
    const isOther = this.#lastInTrouble !== token;
    this.#lastInTrouble = token;
    return isOther && this.trouble.noteFailure(this.now());
  }
}

/** What earlier batches of one token have learned about one list. */
export class ListState {
  readonly shared: SharedListState;
  readonly rowsPerId: (filter: string) => RowsPerId;
  readonly #trouble = new Trouble(failuresOfToken);
  #pausedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(shared: SharedListState) {
    this.shared = shared;
    this.rowsPerId = byFilter((filter) => new RowsPerId(shared.rowsPerId(filter)));
  }

  /** Whether a batch may read a page now. A caller that gets true reads the page. */
  mayReadPage(): boolean {
    const { shared } = this;
    const nowMs = shared.now();
    if (nowMs < this.#pausedUntilMs || shared.hasIncompleteRows) return false;
    if (this.#trouble.isPaused(nowMs) || shared.trouble.isPaused(nowMs)) return false;
    this.#trouble.noteRequest(nowMs);
    shared.trouble.noteRequest(nowMs);
    return true;
  }

  pause(ms: number): void {
    this.#pausedUntilMs = this.shared.now() + ms;
  }

  /** A page failed as the calls of an overloaded service fail, but a GET worked. @returns whether batches now use GETs. */
  noteFailure(): boolean {
    const isPaused = this.#trouble.noteFailure(this.shared.now());
    return this.shared.noteFailure(this) || isPaused;
  }

  noteSuccess(): void {
    this.#trouble.noteSuccess();
    this.shared.trouble.noteSuccess();
  }
}

// There are few filters, but clients may combine order statuses freely.
const maxFilters = 100;

/** One value per filter of the list that names ids. Above 100 filters, all values are dropped. */
function byFilter<Value>(create: (filter: string) => Value): (filter: string) => Value {
  const values = new Map<string, Value>();
  return (filter) => {
    const value = values.get(filter) ?? create(filter);
    if (values.size >= maxFilters) values.clear();
    values.set(filter, value);
    return value;
  };
}
