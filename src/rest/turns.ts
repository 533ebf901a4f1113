import type { FairQueue } from './fair-queue.ts';
import { Line } from './line.ts';
import type { QueuedCall } from './queued-call.ts';
import type { Tenant } from './tenant.ts';

/**
 * The calls of one operation, at most `maxAtOnce` of which are under way at a time. Those for which there is no place stand
 * in the queue of all, but no more than an eighth of as many at a time, so that many large operations don't fill it: each
 * that has its turn makes room for the next.
 */
export class Turns {
  readonly queue: FairQueue;
  readonly tenant: Tenant;
  readonly #maxAtOnce: number;
  readonly #maxQueued: number;
  /** Those that are not in the queue of all yet. */
  readonly #held = new Line<QueuedCall>();
  #queued = 0;
  #underWay = 0;
  #isQueueing = false;

  constructor(queue: FairQueue, tenant: Tenant, maxAtOnce: number) {
    this.queue = queue;
    this.tenant = tenant;
    this.#maxAtOnce = maxAtOnce;
    this.#maxQueued = Math.ceil(maxAtOnce / 8);
  }

  /** Has a call made in its turn, which may come at once. It is refused where too many wait for theirs. */
  add(call: QueuedCall): void {
    call.turns = this;
    call.stage = 'in the operation';
    this.#held.add(call);
    this.queueNext();
  }

  /** Puts as many into the queue of all as may stand there. */
  queueNext(): void {
    // Also those that end as they begin come here, and are not to do so from within each other.
    if (this.#isQueueing) return;
    this.#isQueueing = true;
    try {
      while (this.#mayQueue()) {
        const call = this.#held.takeFirst();
        if (call === undefined) break;
        this.#enter(call);
      }
    } finally {
      this.#isQueueing = false;
    }
  }

  /** A call has its turn. */
  began(call: QueuedCall): void {
    this.#stopWaiting(call);
    call.stage = 'under way';
    this.#underWay += 1;
  }

  /** The turn of a call is over. */
  ended(call: QueuedCall): void {
    call.stage = 'away from it';
    this.#underWay -= 1;
    this.queueNext();
  }

  /** Takes out a call, if it still waits. */
  remove(call: QueuedCall): void {
    if (call.stage === 'in the operation') this.#held.remove(call);
    else if (call.stage === 'among all') this.queue.remove(this.tenant, call);
    else return;
    this.#stopWaiting(call);
    this.queueNext();
  }

  #mayQueue(): boolean {
    const { queue } = this;
    return (
      this.#queued + this.#underWay < this.#maxAtOnce && (this.#queued < this.#maxQueued || queue.hasPlace())
    );
  }

  #enter(call: QueuedCall): void {
    if (call.isGivenUp) {
      this.#stopWaiting(call);
      return;
    }
    this.#queued += 1;
    call.stage = 'among all';
    const refused = this.queue.enter(this.tenant, call);
    if (refused === undefined) return;
    this.#stopWaiting(call);
    call.refuse(refused);
  }

  #stopWaiting(call: QueuedCall): void {
    if (call.stage === 'among all') this.#queued -= 1;
    call.stage = 'away from it';
  }
}
