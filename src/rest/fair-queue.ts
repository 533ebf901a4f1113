import { OverloadedError } from './errors.ts';
import type { Tenant } from './tenant.ts';

/** Lets calls through in turns, so that no tenant's many keep another's few waiting. */
export interface FairQueue {
  /** How many calls wait for their turn. */
  waiting(): number;
  /** The error of a call of this tenant that can neither be made now nor wait; undefined where it can. */
  refusal(tenant: Tenant): OverloadedError | undefined;
  /** Makes a call in its turn. @throws OverloadedError where it can't wait for one. */
  run<Answer>(tenant: Tenant, kind: 'read' | 'write', call: () => Promise<Answer>): Promise<Answer>;
}

/** The calls of a tenant that wait for their turn. */
type Waiting = Record<'read' | 'write', (() => void)[]>;

/**
 * A queue that has at most `maxConcurrency` calls under way, and `maxWaiting` that wait, half of these of one tenant. Each
 * tenant's first has its turn: its writes in their order, and then its reads.
 */
export function createFairQueue(maxConcurrency: number, maxWaiting = Number.POSITIVE_INFINITY): FairQueue {
  const maxWaitingOfOne = Math.ceil(maxWaiting / 2);
  // A tenant stands in the order in which its turn comes; one without waiting calls is not there.
  const waiting = new Map<Tenant, Waiting>();
  let running = 0;
  let waitingNow = 0;

  function next(): void {
    running -= 1;
    const [turn] = waiting;
    if (turn === undefined) return;
    waitingNow -= 1;
    const [tenant, calls] = turn;
    const start = calls.write.shift() ?? calls.read.shift();
    waiting.delete(tenant);
    if (calls.write.length + calls.read.length > 0) waiting.set(tenant, calls);
    start?.();
  }

  function refusal(tenant: Tenant): OverloadedError | undefined {
    if (running < maxConcurrency) return undefined;
    if (waitingNow >= maxWaiting) return new OverloadedError(maxWaiting, 'all tokens');
    const own = waiting.get(tenant);
    const isFull = own !== undefined && own.read.length + own.write.length >= maxWaitingOfOne;
    return isFull ? new OverloadedError(maxWaitingOfOne, 'this token') : undefined;
  }

  function turnOf(tenant: Tenant, kind: 'read' | 'write'): Promise<void> | undefined {
    if (running < maxConcurrency) {
      running += 1;
      return undefined;
    }
    const refused = refusal(tenant);
    if (refused !== undefined) throw refused;
    waitingNow += 1;
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
    waiting: () => waitingNow,
    refusal,
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
