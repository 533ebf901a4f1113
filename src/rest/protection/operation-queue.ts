import type { Cancellation } from '../../concurrency/cancellation.ts';
import type { FairQueue, QueueEntry } from '../../concurrency/fair-queue.ts';
import { LinkedList } from '../../concurrency/linked-list.ts';
import type { Tenant } from '../../concurrency/tenant.ts';
import type { RestCall } from '../call.ts';
import { abortedError } from '../errors.ts';

/** The slots of all calls. */
export type CallQueue = FairQueue<Tenant, Slot>;

/** The slot of a call, or its wait for one, in the queue of its operation and then in that of all. */
export abstract class Slot implements QueueEntry<Slot> {
  before: Slot | undefined;
  after: Slot | undefined;
  state: 'none' | 'held' | 'queued' | 'taken' = 'none';
  /** Of the operation that has asked for it last. */
  queue: OperationQueue | undefined;
  /** Taken in place of this one, since the call came back from a pause. */
  #again: Slot | undefined;

  abstract readonly call: RestCall;
  /** The slot is taken, perhaps before `acquire` returns. Releases it once the call has ended. Never throws. */
  abstract start(): void;
  /** No slot comes. Never throws. */
  abstract refuse(error: Error): void;

  get weight(): number {
    return 1;
  }

  granted(): void {
    this.queue?.granted(this);
  }

  /** Gives the slot to the next call, if it is taken. */
  release(): void {
    this.#again?.release();
    this.queue?.release(this);
  }

  /** Waits for a slot no more, if it does. */
  leave(): void {
    this.queue?.leave(this);
  }

  /** Acquires the slot again, once it was released. @throws OverloadedError and AbortedError where there is none. */
  async acquireAgain(signal: Cancellation): Promise<void> {
    this.#again = await this.queue?.slotFor(this.call, signal);
  }
}

/** For a call that waits with a promise. */
class PromisedSlot extends Slot {
  readonly call: RestCall;
  readonly #signal: Cancellation;
  readonly #resolve: (slot: Slot) => void;
  readonly #reject: (error: unknown) => void;

  constructor(
    call: RestCall,
    signal: Cancellation,
    resolve: (slot: Slot) => void,
    reject: (error: unknown) => void,
  ) {
    super();
    this.call = call;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  start(): void {
    this.#signal.removeEventListener('abort', this);
    this.#resolve(this);
  }

  refuse(error: Error): void {
    this.#signal.removeEventListener('abort', this);
    this.#reject(error);
  }

  /** The call is given up while it waits. */
  handleEvent(): void {
    this.leave();
    this.#reject(abortedError(this.call, this.#signal));
  }
}

/**
 * The slots of one operation. At most `maxTaken` of its calls run, and an eighth as many wait in the queue of all, so that
 * one large operation does not fill it: the others are held here.
 */
export class OperationQueue {
  readonly #calls: CallQueue;
  readonly #tenant: Tenant;
  readonly #maxTaken: number;
  readonly #maxQueued: number;
  readonly #held = new LinkedList<Slot>();
  #queued = 0;
  #taken = 0;
  #isAdvancing = false;

  constructor(calls: CallQueue, tenant: Tenant, maxTaken: number) {
    this.#calls = calls;
    this.#tenant = tenant;
    this.#maxTaken = maxTaken;
    this.#maxQueued = Math.ceil(maxTaken / 8);
  }

  /** Starts a call once it has a slot: before this returns while there is room. It is refused where too many wait. */
  acquire(slot: Slot): void {
    slot.queue = this;
    slot.state = 'held';
    this.#held.add(slot);
    this.#advance();
  }

  /**
   * The same with a promise of the slot, for the caller to release.
   * @throws OverloadedError where too many wait, and AbortedError as soon as `signal` gives the call up.
   */
  slotFor(call: RestCall, signal: Cancellation): Promise<Slot> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) throw abortedError(call, signal);
      const slot = new PromisedSlot(call, signal, resolve, reject);
      signal.addEventListener('abort', slot);
      this.acquire(slot);
    });
  }

  granted(slot: Slot): void {
    slot.state = 'taken';
    this.#queued -= 1;
    this.#taken += 1;
    slot.start();
    this.#advance();
  }

  release(slot: Slot): void {
    if (slot.state !== 'taken') return;
    slot.state = 'none';
    this.#taken -= 1;
    this.#calls.release(slot);
    this.#advance();
  }

  leave(slot: Slot): void {
    if (slot.state === 'held') {
      this.#held.remove(slot);
    } else if (slot.state === 'queued') {
      this.#calls.remove(this.#tenant, slot);
      this.#queued -= 1;
    } else return;
    slot.state = 'none';
    this.#advance();
  }

  /** Has as many wait in the queue of all as may. */
  #advance(): void {
    // A call that ends as it starts comes back here, and is not to start others from within it.
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    try {
      while (this.#mayQueue()) {
        const slot = this.#held.shift();
        if (slot === undefined) break;
        this.#enqueue(slot);
      }
    } finally {
      this.#isAdvancing = false;
    }
  }

  #mayQueue(): boolean {
    if (this.#queued + this.#taken >= this.#maxTaken) return false;
    return this.#queued < this.#maxQueued || this.#calls.hasRoom;
  }

  #enqueue(slot: Slot): void {
    slot.state = 'queued';
    this.#queued += 1;
    const refused = this.#calls.acquire(this.#tenant, slot);
    if (refused === undefined) return;
    slot.state = 'none';
    this.#queued -= 1;
    slot.refuse(refused);
  }
}
