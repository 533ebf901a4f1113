import { pauseMs, RowsPerId, SharedRowsPerId } from './rows-per-id.ts';

/** How long batches use GETs after a refusal or incomplete rows, which do not change soon. One row is compared as often. */
export const longPauseMs = 600_000;

/**
 * A pause after trouble. After the pause, one batch tries the list. The others use GETs until that page is read, because
 * a list that hangs would stop all of them.
 */
class TroublePause {
  #untilMs = Number.NEGATIVE_INFINITY;
  #isTrying = false;

  isOver(nowMs: number): boolean {
    return nowMs >= this.#untilMs;
  }

  /** Starts the pause. @returns whether the list was in trouble before. */
  start(nowMs: number): boolean {
    const wasInTrouble = this.#untilMs !== Number.NEGATIVE_INFINITY;
    this.#untilMs = nowMs + pauseMs;
    this.#isTrying = false;
    return wasInTrouble;
  }

  /** Called before a batch reads a page. */
  tryPage(nowMs: number): void {
    if (this.#untilMs === Number.NEGATIVE_INFINITY) return;
    this.#untilMs = nowMs + pauseMs;
    this.#isTrying = true;
  }

  /** Ends the trouble, unless the page was requested before the trouble. */
  noteSuccess(): void {
    if (this.#isTrying) this.#untilMs = Number.NEGATIVE_INFINITY;
    this.#isTrying = false;
  }
}

/** What all tokens share about one list. */
export class SharedListState {
  readonly now: () => number;
  readonly rowsPerId = byFilter(() => new SharedRowsPerId());
  readonly trouble = new TroublePause();
  #nextComparisonMs = Number.NEGATIVE_INFINITY;
  #hasCompared = false;
  #incompleteUntilMs = Number.NEGATIVE_INFINITY;
  /** The first token in trouble since a page was read. */
  #firstInTrouble: ListState | undefined;

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

  /**
   * Pauses the list for all tokens once two are in trouble. One token may have a rate limit or a size of its own.
   * @returns whether the list was paused for all tokens before.
   */
  noteTrouble(token: ListState): boolean {
    this.#firstInTrouble ??= token;
    return this.#firstInTrouble !== token && this.trouble.start(this.now());
  }

  noteSuccess(): void {
    this.#firstInTrouble = undefined;
    this.trouble.noteSuccess();
  }
}

/** What earlier batches of one token have learned about one list. */
export class ListState {
  readonly shared: SharedListState;
  readonly rowsPerId: (filter: string) => RowsPerId;
  readonly #trouble = new TroublePause();
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
    if (!this.#trouble.isOver(nowMs) || !shared.trouble.isOver(nowMs)) return false;
    this.#trouble.tryPage(nowMs);
    shared.trouble.tryPage(nowMs);
    return true;
  }

  pause(ms: number): void {
    this.#pausedUntilMs = this.shared.now() + ms;
  }

  /** A page failed as the calls of an overloaded service fail, but a GET worked. @returns whether this was so before. */
  noteTrouble(): boolean {
    const wasInTrouble = this.#trouble.start(this.shared.now());
    return this.shared.noteTrouble(this) || wasInTrouble;
  }

  noteSuccess(): void {
    this.#trouble.noteSuccess();
    this.shared.noteSuccess();
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
