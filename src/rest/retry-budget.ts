/** How many calls may be made again, over all of the process: a share of those that are made. */
export interface RetryBudget {
  /** A call is made for the first time. */
  earn(): void;
  /** Takes what one retry costs, where there is enough. */
  take(): boolean;
}

export interface RetryBudgetOptions {
  /** How many retries one call earns. */
  share?: number;
  /** What there is at the start, and the most that is ever kept. */
  reserve?: number;
}

/**
 * While REST fails, it sees at most this share of calls more than it would without retries, beyond a reserve that lets the
 * few failures of good times be tried again at once.
 */
export function createRetryBudget({ share = 0.1, reserve = 10 }: RetryBudgetOptions = {}): RetryBudget {
  let left = reserve;
  return {
    earn() {
      left = Math.min(left + share, reserve);
    },
    take() {
      if (left < 1) return false;
      left -= 1;
      return true;
    },
  };
}
