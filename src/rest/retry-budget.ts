import type { Tenant } from './tenant.ts';

/** How many calls may be made again, over all of the process: a share of those that are made. */
export interface RetryBudget {
  /** A call is made for the first time. */
  earn(): void;
  /** Takes what one retry costs, where there is enough and this tenant has not taken half of it all. */
  take(tenant: Tenant): boolean;
}

export interface RetryBudgetOptions {
  /** How many retries one call earns. */
  share?: number;
  /** The most that is ever kept. */
  reserve?: number;
  /** What there is at the start; all of the reserve when left out. */
  atStart?: number;
}

/**
 * While REST fails, it sees at most this share of calls more than it would without retries, beyond a reserve that lets the
 * few failures of good times be tried again at once.
 */
export function createRetryBudget({
  share = 0.1,
  reserve = 10,
  atStart = reserve,
}: RetryBudgetOptions = {}): RetryBudget {
  const reserveOfOne = Math.ceil(reserve / 2);
  // Who has taken what is missing, in the order in which it is earned back.
  const takers: string[] = Array.from({ length: reserve - atStart }, () => '');
  let earned = 0;
  return {
    earn() {
      if (takers.length === 0) return;
      earned += share;
      if (earned < 1) return;
      takers.shift();
      earned = takers.length === 0 ? 0 : earned - 1;
    },
    take({ id }) {
      if (takers.length >= reserve) return false;
      let own = 0;
      for (const taker of takers) if (taker === id) own += 1;
      if (own >= reserveOfOne) return false;
      takers.push(id);
      return true;
    },
  };
}
