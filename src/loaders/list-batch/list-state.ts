import { RowsPerId, SharedRowsPerId } from './rows-per-id.ts';

/** How long batches use GETs after trouble with the list. */
export const pauseMs = 30_000;
/** How long they do so after a refusal or incomplete rows, which do not change soon. One row is compared as often. */
export const longPauseMs = 600_000;

/** What all tokens share about one list. */
export class SharedListState {
  readonly now: () => number;
  readonly rowsPerId = byFilter(() => new SharedRowsPerId());
  #nextComparisonMs = Number.NEGATIVE_INFINITY;
  #incompleteUntilMs = Number.NEGATIVE_INFINITY;
  /** The first token in trouble since a page was read. */
  #firstInTrouble: ListState | undefined;
  #troubleUntilMs = Number.NEGATIVE_INFINITY;

  /** @param now A clock in milliseconds with any origin. */
  constructor(now: () => number) {
    this.now = now;
  }

  get isPaused(): boolean {
    return this.now() < this.#troubleUntilMs || this.hasIncompleteRows;
  }

  get hasIncompleteRows(): boolean {
    return this.now() < this.#incompleteUntilMs;
  }

  /** Whether to compare a row now: once in ten minutes, and after 30 seconds if a comparison had no result. */
  mayCompare(): boolean {
    if (this.now() < this.#nextComparisonMs) return false;
    this.#nextComparisonMs = this.now() + pauseMs;
    return true;
  }

  /** Records whether a row lacked fields of its record. Incomplete rows pause the list. */
  compared(isIncomplete: boolean): void {
    this.#nextComparisonMs = this.now() + longPauseMs;
    if (isIncomplete) this.#incompleteUntilMs = this.now() + longPauseMs;
  }

  /**
   * Pauses the list for all tokens once two are in trouble. One token may have a rate limit or a size of its own.
   * @returns whether two tokens were in trouble before.
   */
  noteTrouble(token: ListState): boolean {
    const wasPaused = this.#troubleUntilMs > Number.NEGATIVE_INFINITY;
    this.#firstInTrouble ??= token;
    if (this.#firstInTrouble !== token) this.#troubleUntilMs = this.now() + pauseMs;
    return wasPaused;
  }

  noteSuccess(): void {
    this.#firstInTrouble = undefined;
    this.#troubleUntilMs = Number.NEGATIVE_INFINITY;
  }
}

/** What earlier batches of one token have learned about one list. */
export class ListState {
  readonly shared: SharedListState;
  readonly rowsPerId: (filter: string) => RowsPerId;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #isInTrouble = false;

  constructor(shared: SharedListState) {
    this.shared = shared;
    this.rowsPerId = byFilter((filter) => new RowsPerId(shared.rowsPerId(filter)));
  }

  get isPaused(): boolean {
    return this.shared.now() < this.#pausedUntilMs || this.shared.isPaused;
  }

  pause(ms: number): void {
    this.#pausedUntilMs = this.shared.now() + ms;
  }

  /** A page failed as the calls of an overloaded service fail, but a GET worked. @returns whether this was so before. */
  noteTrouble(): boolean {
    const wasInTrouble = this.#isInTrouble;
    this.#isInTrouble = true;
    this.pause(pauseMs);
    return this.shared.noteTrouble(this) || wasInTrouble;
  }

  noteSuccess(): void {
    this.#isInTrouble = false;
    this.shared.noteSuccess();
  }
}

// There are few filters, but clients may combine order statuses freely.
const maxFilters = 100;

/** One value per filter of the list that names ids. Above 100 filters, all start anew. */
function byFilter<Value>(create: (filter: string) => Value): (filter: string) => Value {
  const values = new Map<string, Value>();
  return (filter) => {
    const value = values.get(filter) ?? create(filter);
    if (values.size >= maxFilters) values.clear();
    values.set(filter, value);
    return value;
  };
}
