/** How long calls are expected to take, in milliseconds. */
export interface CallTimes {
  /** A get by id. */
  getMs: number;
  /** A page of a list before its rows. */
  pageMs: number;
  /** Each row of a page on top of that. */
  rowMs: number;
  /** Whether no call has been seen yet, so that these are only what they are to each other. */
  isGuess: boolean;
}

/** What is known of the times of one resource's calls. What is older counts less. */
export interface CallTimesSeen {
  expected(): CallTimes;
  /** A get has taken so long, or several at once have on average. */
  sawGet(ms: number): void;
  sawPage(rows: number, ms: number): void;
}

// The weights of older observations then add up to 20.
const decay = 0.95;
// Where only one of the two is known, a page is taken to be a get that grows by this much of it with each row.
const guessedRow = 1 / 200;
// Pages of less variety than this, relative to their size, don't tell what a row takes.
const leastSpread = 0.1;

export function createCallTimes(): CallTimesSeen {
  return new TimesSeen();
}

/** A class, as each tenant that is remembered has some. */
class TimesSeen implements CallTimesSeen {
  #getCount = 0;
  #getMs = 0;
  /** Most tenants have asked for no page. */
  #pages: PagesSeen | undefined;

  expected(): CallTimes {
    const seenGetMs = this.#getCount === 0 ? undefined : this.#getMs / this.#getCount;
    if (this.#pages === undefined) {
      const getMs = seenGetMs ?? 1;
      return { getMs, pageMs: getMs, rowMs: getMs * guessedRow, isGuess: seenGetMs === undefined };
    }
    return this.#pages.expected(seenGetMs);
  }

  sawGet(ms: number): void {
    this.#getCount = this.#getCount * decay + 1;
    this.#getMs = this.#getMs * decay + ms;
  }

  sawPage(rows: number, ms: number): void {
    this.#pages ??= new PagesSeen();
    this.#pages.saw(rows, ms);
  }
}

/** Decaying sums for a straight line through the pages' rows and times, of one at least. */
class PagesSeen {
  #count = 0;
  #rows = 0;
  #ms = 0;
  #rowsSquared = 0;
  #rowsByMs = 0;

  /** `seenGetMs`: what a get takes, where any has been seen. */
  expected(seenGetMs: number | undefined): CallTimes {
    const rows = this.#rows / this.#count;
    const ms = this.#ms / this.#count;
    const likeGet = ms / (1 + rows * guessedRow);
    const getMs = seenGetMs ?? likeGet;
    // What a page takes beyond a get is put down to its rows, until pages of several sizes say better.
    const rowMs = this.#slope() ?? (rows === 0 ? 0 : (ms - getMs) / rows);
    const bounded = Math.min(Math.max(rowMs, 0), rows === 0 ? 0 : ms / rows);
    return { getMs, pageMs: ms - bounded * rows, rowMs: bounded, isGuess: false };
  }

  saw(rows: number, ms: number): void {
    this.#count = this.#count * decay + 1;
    this.#rows = this.#rows * decay + rows;
    this.#ms = this.#ms * decay + ms;
    this.#rowsSquared = this.#rowsSquared * decay + rows * rows;
    this.#rowsByMs = this.#rowsByMs * decay + rows * ms;
  }

  /** The line through the pages; undefined where they are too much alike to tell. */
  #slope(): number | undefined {
    const rows = this.#rows / this.#count;
    const variance = this.#rowsSquared / this.#count - rows * rows;
    if (variance < (leastSpread * rows) ** 2 || variance <= 0) return undefined;
    return (this.#rowsByMs / this.#count - (rows * this.#ms) / this.#count) / variance;
  }
}
