import type { Cancellation } from './cancellation.ts';
import type { Away, FairQueue } from './fair-queue.ts';
import type { Tenant } from './tenant.ts';

/** The calls of one operation, each of which is made in its turn. */
export interface Turns {
  /**
   * Makes a call in its turn, unless `signal` gives it up before.
   * @throws OverloadedError where too many wait for theirs, and AbortedError.
   */
  run<Answer>(
    kind: 'read' | 'write',
    make: (away: Away) => Promise<Answer>,
    signal: Cancellation,
  ): Promise<Answer>;
  /** How many reads wait for their turn. */
  readsWaiting(): number;
}

/**
 * At most `maxAtOnce` calls of an operation are under way at a time. Those for which there is no place stand in the queue of
 * all, but no more than an eighth of as many at a time, so that many large operations don't fill it: each that has its turn
 * makes room for the next.
 */
export function createTurns(queue: FairQueue, tenant: Tenant, maxAtOnce: number): Turns {
  const maxQueued = Math.ceil(maxAtOnce / 8);
  // Those that are not in the queue yet, in their order.
  const starts: (() => void)[] = [];
  let queued = 0;
  let underWay = 0;
  let readsWaiting = 0;

  function mayQueue(): boolean {
    return queued + underWay < maxAtOnce && (queued < maxQueued || queue.hasPlace());
  }

  function queueNext(): void {
    while (starts.length > 0 && mayQueue()) {
      queued += 1;
      starts.shift()?.();
    }
  }

  return {
    run(kind, make, signal) {
      const ofReads = kind === 'read' ? 1 : 0;
      readsWaiting += ofReads;
      let isWaiting = true;
      const stopWaiting = () => {
        isWaiting = false;
        queued -= 1;
        readsWaiting -= ofReads;
      };
      const takeTurn = (away: Away) => {
        stopWaiting();
        underWay += 1;
        queueNext();
        return make(away);
      };
      const end = () => {
        if (isWaiting) stopWaiting();
        else underWay -= 1;
        queueNext();
      };
      const enter = () => {
        const answer = queue.run(tenant, kind, takeTurn, signal);
        answer.then(end, end);
        return answer;
      };
      if (starts.length === 0 && mayQueue()) {
        queued += 1;
        return enter();
      }
      const start = new Promise<void>((resolve) => {
        starts.push(resolve);
      });
      queueNext();
      return start.then(enter);
    },
    readsWaiting: () => readsWaiting,
  };
}
