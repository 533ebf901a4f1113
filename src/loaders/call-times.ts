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
  const gets = { count: 0, ms: 0 };
  // Decaying sums for a straight line through the pages' rows and times.
  const pages = { count: 0, rows: 0, ms: 0, rowsSquared: 0, rowsByMs: 0 };

  /** The line through the pages; undefined where they are too much alike to tell. */
  function slope(): number | undefined {
    const rows = pages.rows / pages.count;
    const variance = pages.rowsSquared / pages.count - rows * rows;
    if (variance < (leastSpread * rows) ** 2 || variance <= 0) return undefined;
    return (pages.rowsByMs / pages.count - (rows * pages.ms) / pages.count) / variance;
  }

  return {
    expected() {
      if (pages.count === 0) {
        const getMs = gets.count === 0 ? 1 : gets.ms / gets.count;
        return { getMs, pageMs: getMs, rowMs: getMs * guessedRow, isGuess: gets.count === 0 };
      }
      const rows = pages.rows / pages.count;
      const ms = pages.ms / pages.count;
      const likeGet = ms / (1 + rows * guessedRow);
      const getMs = gets.count === 0 ? likeGet : gets.ms / gets.count;
      // What a page takes beyond a get is put down to its rows, until pages of several sizes say better.
      const rowMs = slope() ?? (rows === 0 ? 0 : (ms - getMs) / rows);
      const bounded = Math.min(Math.max(rowMs, 0), rows === 0 ? 0 : ms / rows);
      return { getMs, pageMs: ms - bounded * rows, rowMs: bounded, isGuess: false };
    },
    sawGet(ms) {
      gets.count = gets.count * decay + 1;
      gets.ms = gets.ms * decay + ms;
    },
    sawPage(rows, ms) {
      pages.count = pages.count * decay + 1;
      pages.rows = pages.rows * decay + rows;
      pages.ms = pages.ms * decay + ms;
      pages.rowsSquared = pages.rowsSquared * decay + rows * rows;
      pages.rowsByMs = pages.rowsByMs * decay + rows * ms;
    },
  };
}
