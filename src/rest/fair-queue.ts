import type { Cancellation } from './cancellation.ts';
import { AbortedError, OverloadedError } from './errors.ts';
import type { Tenant } from './tenant.ts';

/**
 * Leaves the place of a call to others during a pause, and queues for it again.
 * @throws what the pause does, and OverloadedError and AbortedError where no turn comes any more; the place is then gone.
 */
export type Away = (pause: () => Promise<void>, signal: Cancellation) => Promise<void>;

/** Lets calls through in turns, so that no tenant's many keep another's few waiting. */
export interface FairQueue {
  /** How many calls wait for their turn. */
  waiting(): number;
  /** Whether a call would have its turn at once. */
  hasPlace(): boolean;
  /**
   * Makes a call in its turn. One that still waits when `signal` is aborted leaves its place; what has begun goes on.
   * @throws OverloadedError where it can't wait for one, AbortedError where it is given up before.
   */
  run<Answer>(
    tenant: Tenant,
    kind: 'read' | 'write',
    call: (away: Away) => Promise<Answer>,
    signal?: Cancellation,
  ): Promise<Answer>;
}

/** The calls of a tenant that wait for their turn, in their order. */
type Waiting = Record<'read' | 'write', Set<() => void>>;

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
    const [tenant, calls] = turn;
    const kind = calls.write.size > 0 ? 'write' : 'read';
    const [start] = calls[kind];
    if (start === undefined) return;
    leave(tenant, calls, kind, start);
    // Behind the others, if it has more.
    if (waiting.delete(tenant)) waiting.set(tenant, calls);
    start();
  }

  function leave(tenant: Tenant, calls: Waiting, kind: 'read' | 'write', start: () => void): void {
    calls[kind].delete(start);
    waitingNow -= 1;
    if (calls.write.size + calls.read.size === 0) waiting.delete(tenant);
  }

  function refusal(tenant: Tenant): OverloadedError | undefined {
    if (waitingNow >= maxWaiting) return new OverloadedError(maxWaiting, 'all tokens');
    const own = waiting.get(tenant);
    const isFull = own !== undefined && own.read.size + own.write.size >= maxWaitingOfOne;
    return isFull ? new OverloadedError(maxWaitingOfOne, 'this token') : undefined;
  }

  function turnOf(
    tenant: Tenant,
    kind: 'read' | 'write',
    signal: Cancellation | undefined,
  ): Promise<void> | undefined {
    if (signal?.aborted) throw givenUp(signal);
    if (running < maxConcurrency) {
      running += 1;
      return undefined;
    }
    const refused = refusal(tenant);
    if (refused !== undefined) throw refused;
    waitingNow += 1;
    return new Promise((resolve, reject) => {
      const calls = waiting.get(tenant) ?? { read: new Set(), write: new Set() };
      waiting.set(tenant, calls);
      const start = () => {
        signal?.removeEventListener('abort', giveUp);
        running += 1;
        resolve();
      };
      const giveUp = () => {
        leave(tenant, calls, kind, start);
        reject(givenUp(signal));
      };
      calls[kind].add(start);
      signal?.addEventListener('abort', giveUp);
    });
  }

  function inTurn<Answer>(
    tenant: Tenant,
    kind: 'read' | 'write',
    call: (away: Away) => Promise<Answer>,
  ): Promise<Answer> {
    let hasTurn = true;
    const away: Away = async (pause, pausedFor) => {
      hasTurn = false;
      next();
      await pause();
      await turnOf(tenant, kind, pausedFor);
      hasTurn = true;
    };
    const end = () => {
      if (hasTurn) next();
    };
    try {
      const answer = call(away);
      answer.then(end, end);
      return answer;
    } catch (error) {
      end();
      return Promise.reject(error);
    }
  }

  return {
    waiting: () => waitingNow,
    hasPlace: () => running < maxConcurrency,
    // No async function: most calls have their turn at once, and need not wait for it to come.
    run(tenant, kind, call, signal) {
      try {
        const turn = turnOf(tenant, kind, signal);
        return turn === undefined ? inTurn(tenant, kind, call) : turn.then(() => inTurn(tenant, kind, call));
      } catch (error) {
        return Promise.reject(error);
      }
    },
  };
}

function givenUp(signal: Cancellation | undefined): AbortedError {
  return new AbortedError('A call to REST was given up before its turn came', { cause: signal?.reason });
}
