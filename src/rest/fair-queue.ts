import { OverloadedError } from './errors.ts';
import { type InLine, Line } from './line.ts';
import type { QueuedCall } from './queued-call.ts';
import type { Tenant } from './tenant.ts';

/** Lets calls through in turns, so that no tenant's many keep another's few waiting. */
export interface FairQueue {
  /** How many calls wait for their turn. */
  waiting(): number;
  /** Whether a call would have its turn at once. */
  hasPlace(): boolean;
  /** Begins a call as soon as its turn comes, perhaps at once. @returns why it can't, where too many wait. */
  enter(tenant: Tenant, call: QueuedCall): OverloadedError | undefined;
  /** Takes out a call that waits. */
  remove(tenant: Tenant, call: QueuedCall): void;
  /** A call that has begun gives its place to the next one. */
  next(): void;
}

/** The calls of a tenant that wait for their turn. */
class Waiting implements InLine<Waiting> {
  before: Waiting | undefined;
  after: Waiting | undefined;
  readonly tenant: Tenant;
  readonly #writes = new Line<QueuedCall>();
  readonly #reads = new Line<QueuedCall>();

  constructor(tenant: Tenant) {
    this.tenant = tenant;
  }

  get count(): number {
    return this.#writes.length + this.#reads.length;
  }

  lineOf({ kind }: QueuedCall): Line<QueuedCall> {
    return kind === 'write' ? this.#writes : this.#reads;
  }

  takeFirst(): QueuedCall | undefined {
    return this.#writes.takeFirst() ?? this.#reads.takeFirst();
  }
}

/**
 * A queue that has at most `maxConcurrency` calls under way, and `maxWaiting` that wait, half of these of one tenant. Each
 * tenant's first has its turn: its writes in their order, and then its reads.
 */
export function createFairQueue(maxConcurrency: number, maxWaiting = Number.POSITIVE_INFINITY): FairQueue {
  const maxWaitingOfOne = Math.ceil(maxWaiting / 2);
  // A tenant without waiting calls is in neither of these.
  const waiting = new Map<Tenant, Waiting>();
  const turns = new Line<Waiting>();
  let running = 0;
  let waitingNow = 0;
  let isPassingOn = false;

  const hasPlace = () => running < maxConcurrency && waitingNow === 0;

  function begin(call: QueuedCall): void {
    running += 1;
    call.begin();
  }

  function takeNext(): QueuedCall | undefined {
    const own = turns.takeFirst();
    if (own === undefined) return undefined;
    waitingNow -= 1;
    const call = own.takeFirst();
    // Behind the others, if it has more.
    if (own.count > 0) turns.add(own);
    else waiting.delete(own.tenant);
    return call;
  }

  function refusal(own: Waiting | undefined): OverloadedError | undefined {
    if (waitingNow >= maxWaiting) return new OverloadedError(maxWaiting, 'all tokens');
    const isFull = own !== undefined && own.count >= maxWaitingOfOne;
    return isFull ? new OverloadedError(maxWaitingOfOne, 'this token') : undefined;
  }

  return {
    waiting: () => waitingNow,
    hasPlace,
    enter(tenant, call) {
      if (hasPlace()) {
        begin(call);
        return undefined;
      }
      let own = waiting.get(tenant);
      const refused = refusal(own);
      if (refused !== undefined) return refused;
      if (own === undefined) {
        own = new Waiting(tenant);
        waiting.set(tenant, own);
        turns.add(own);
      }
      own.lineOf(call).add(call);
      waitingNow += 1;
      return undefined;
    },
    remove(tenant, call) {
      const own = waiting.get(tenant);
      if (own === undefined) return;
      own.lineOf(call).remove(call);
      waitingNow -= 1;
      if (own.count > 0) return;
      waiting.delete(tenant);
      turns.remove(own);
    },
    next() {
      running -= 1;
      // One that ends as it begins comes back here: its place is passed on below, and not from within it.
      if (isPassingOn) return;
      isPassingOn = true;
      try {
        while (running < maxConcurrency) {
          const call = takeNext();
          if (call === undefined) break;
          begin(call);
        }
      } finally {
        isPassingOn = false;
      }
    },
  };
}
