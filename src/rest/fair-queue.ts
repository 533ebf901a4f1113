import type { Tenant } from './tenant.ts';

/** Lets calls through in turns, so that no tenant's many keep another's few waiting. */
export interface FairQueue {
  run<Answer>(tenant: Tenant, call: () => Promise<Answer>): Promise<Answer>;
}

/** A queue that has at most `maxConcurrency` calls under way. Of those that wait, each tenant's first has its turn. */
export function createFairQueue(maxConcurrency: number): FairQueue {
  // A tenant stands in the order in which its turn comes; one without waiting calls is not there.
  const waiting = new Map<Tenant, (() => void)[]>();
  let running = 0;

  function next(): void {
    running -= 1;
    const [turn] = waiting;
    if (turn === undefined) return;
    const [tenant, calls] = turn;
    const start = calls.shift();
    waiting.delete(tenant);
    if (calls.length > 0) waiting.set(tenant, calls);
    start?.();
  }

  function turnOf(tenant: Tenant): Promise<void> | undefined {
    if (running < maxConcurrency) {
      running += 1;
      return undefined;
    }
    return new Promise((resolve) => {
      const calls = waiting.get(tenant) ?? [];
      waiting.set(tenant, calls);
      calls.push(() => {
        running += 1;
        resolve();
      });
    });
  }

  return {
    async run(tenant, call) {
      await turnOf(tenant);
      try {
        return await call();
      } finally {
        next();
      }
    },
  };
}
