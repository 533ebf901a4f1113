import type { Tenant } from './tenant.ts';

/** Lets calls through in turns, so that no tenant's many keep another's few waiting. */
export interface FairQueue {
  run<Answer>(tenant: Tenant, kind: 'read' | 'write', call: () => Promise<Answer>): Promise<Answer>;
}

/** The calls of a tenant that wait for their turn. */
type Waiting = Record<'read' | 'write', (() => void)[]>;

/**
 * A queue that has at most `maxConcurrency` calls under way. Of those that wait, each tenant's first has its turn: its
 * writes in their order, and then its reads.
 */
export function createFairQueue(maxConcurrency: number): FairQueue {
  // A tenant stands in the order in which its turn comes; one without waiting calls is not there.
  const waiting = new Map<Tenant, Waiting>();
  let running = 0;

  function next(): void {
    running -= 1;
    const [turn] = waiting;
    if (turn === undefined) return;
    const [tenant, calls] = turn;
    const start = calls.write.shift() ?? calls.read.shift();
    waiting.delete(tenant);
    if (calls.write.length + calls.read.length > 0) waiting.set(tenant, calls);
    start?.();
  }

  function turnOf(tenant: Tenant, kind: 'read' | 'write'): Promise<void> | undefined {
    if (running < maxConcurrency) {
      running += 1;
      return undefined;
    }
    return new Promise((resolve) => {
      const calls = waiting.get(tenant) ?? { read: [], write: [] };
      waiting.set(tenant, calls);
      calls[kind].push(() => {
        running += 1;
        resolve();
      });
    });
  }

  return {
    async run(tenant, kind, call) {
      await turnOf(tenant, kind);
      try {
        return await call();
      } finally {
        next();
      }
    },
  };
}
