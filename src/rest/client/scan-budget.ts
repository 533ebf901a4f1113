import { counted } from '../../base/counted.ts';
import { BudgetExceededError } from '../errors.ts';

/** The pages of lists that one operation may scan. */
export const maxScannedPages = 20;

/** Holds an operation up before it reads more pages of lists than the weight of its document tells. */
export interface PageGate {
  /** @returns what to wait for; undefined if the operation may read at once */
  takeMorePages(): Promise<void> | undefined;
}

/**
 * The pages that an operation reads of lists without an end in sight: for filters and counts that REST lacks, and of a
 * search or a whole list each page after the first. Each costs 100 points of the rate limit.
 */
export class ScanBudget {
  /** The pages taken so far. */
  used = 0;
  /** Set by the operation when it starts. Calls without an operation have none, and never wait. */
  gate: PageGate | undefined;
  /** Ends with the latest page of a search. Never rejected. */
  #latestRead: Promise<void> | undefined;

  /** Takes a page. @returns false if none is left. */
  take(): boolean {
    if (this.used >= maxScannedPages) return false;
    this.used += 1;
    return true;
  }

  /** What to wait for before a scan reads its next page; undefined if it may read at once, as the first page of all. */
  nextTurn(): Promise<void> | undefined {
    return this.used === 0 ? undefined : this.gate?.takeMorePages();
  }

  /**
   * Takes a page after the first one of a search, whose result is unknown without it. Such pages of an operation are read
   * one after the other: many at once would arrive together, and keep the event loop from others while they are parsed.
   * @param read reads the page
   * @throws ScanBudgetExceededError if none is left. The promise is rejected by the errors of `read`.
   */
  readInTurn<Page>(read: () => Promise<Page>): Promise<Page> {
    if (!this.take()) throw new ScanBudgetExceededError();
    const waits = [this.gate?.takeMorePages(), this.#latestRead].filter((wait) => wait !== undefined);
    const page = waits.length === 0 ? read() : Promise.all(waits).then(read);
    this.#latestRead = page.then(doNothing, doNothing);
    return page;
  }
}

function doNothing(): void {}

/** A search or the read of a whole list has not reached its end, so that its result is unknown. */
export class ScanBudgetExceededError extends BudgetExceededError {
  constructor() {
    super(
      `The search did not reach the end of the list: an operation may scan at most ${counted(maxScannedPages, 'page')}. ` +
        'Search in several operations, or read the list itself page by page.',
    );
  }
}
