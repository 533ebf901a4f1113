import type { Cancellation } from '../../concurrency/cancellation.ts';
import { type FairQueue, QueueEntry } from '../../concurrency/fair-queue.ts';
import { LinkedList } from '../../concurrency/linked-list.ts';
import type { Owner } from '../../concurrency/owner.ts';
import type { RestCall } from '../call.ts';
import { abortedError, OverloadedError } from '../errors.ts';

/**
 * A call's request for a slot, and the slot itself once it is granted.
 * Its states in order: `idle`, `backlog` (of its operation), `queued` (in the shared queue), `granted`, `idle`.
 */
export abstract class Slot extends QueueEntry {
  declare before: Slot | undefined;
  declare after: Slot | undefined;
  state: 'idle' | 'backlog' | 'queued' | 'granted' = 'idle';
  /** The queue that acquires this slot. A shared read gets the queue of another operation when its leader changes. */
  operationQueue: OperationQueue | undefined;
  /** The slot that the call holds instead of this one after a back-off. */
  #reacquired: Slot | undefined;

  abstract readonly call: RestCall;
  /**
   * Called when the slot is granted, perhaps before `acquire` returns. Must not throw.
   * The call releases the slot when the call ends.
   */
  abstract start(): void;
  /** Called instead of `start` if too many calls wait. Must not throw. */
  abstract refuse(error: Error): void;

  get weight(): number {
    return 1;
  }

  get owner(): Owner {
    if (this.operationQueue === undefined) throw new Error('Only a slot in a queue has an owner.');
    return this.operationQueue.owner;
  }

  onSlotGranted(): void {
    this.operationQueue?.onSlotGranted(this);
  }

  /** Releases the slot. Does nothing if the slot is not granted. */
  release(): void {
    this.#reacquired?.release();
    this.operationQueue?.release(this);
  }

  /** Stops waiting for the slot. Does nothing if the slot does not wait. */
  leave(): void {
    this.operationQueue?.remove(this);
  }

  /** Waits for a slot again, after the call released this one. @throws OverloadedError, AbortedError */
  async reacquire(signal: Cancellation): Promise<void> {
    this.#reacquired = await this.operationQueue?.acquireSlot(this.call, signal);
  }
}

/** A slot that settles a promise. */
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

  /** Handles the abort of the call while it waits. */
  handleEvent(): void {
    this.leave();
    this.#reject(abortedError(this.call, this.#signal));
  }
}

/**
 * Acquires slots for the calls of one operation. An acquired slot first joins the operation's backlog.
 * The backlog drains into the shared queue, which grants the slot.
 * At most `maxConcurrent` calls of the operation run, and at most an eighth of that number wait in the shared queue.
 * One large operation therefore cannot fill the shared queue (docs/decisions/0009-fair-queue.md).
 */
export class OperationQueue {
  readonly owner: Owner;
  readonly #sharedQueue: FairQueue;
  readonly #maxConcurrent: number;
  readonly #maxQueued: number;
  readonly #backlog = new LinkedList<Slot>();
  #queuedCount = 0;
  #grantedCount = 0;
  #isDraining = false;

  constructor(sharedQueue: FairQueue, owner: Owner, maxConcurrent: number) {
    this.#sharedQueue = sharedQueue;
    this.owner = owner;
    this.#maxConcurrent = maxConcurrent;
    this.#maxQueued = Math.ceil(maxConcurrent / 8);
  }

  /**
   * Calls `slot.start` when the slot is granted: before this method returns if a slot is free.
   * Calls `slot.refuse` if too many calls wait.
   */
  acquire(slot: Slot): void {
    slot.operationQueue = this;
    slot.state = 'backlog';
    this.#backlog.add(slot);
    this.#drainBacklog();
  }

  /**
   * Like `acquire`, with a promise of the granted slot. The caller releases the slot.
   * @throws OverloadedError if too many calls wait, and AbortedError when `signal` aborts during the wait.
   */
  acquireSlot(call: RestCall, signal: Cancellation): Promise<Slot> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) throw abortedError(call, signal);
      const slot = new PromisedSlot(call, signal, resolve, reject);
      signal.addEventListener('abort', slot);
      this.acquire(slot);
    });
  }

  /** The shared queue has granted the slot. */
  onSlotGranted(slot: Slot): void {
    slot.state = 'granted';
    this.#queuedCount -= 1;
    this.#grantedCount += 1;
    slot.start();
    this.#drainBacklog();
  }

  /** Releases a slot. Does nothing if the slot is not granted. */
  release(slot: Slot): void {
    if (slot.state !== 'granted') return;
    slot.state = 'idle';
    this.#grantedCount -= 1;
    this.#sharedQueue.leave(slot);
    this.#drainBacklog();
  }

  /** Removes a waiting slot from the backlog or from the shared queue. Does nothing if the slot does not wait. */
  remove(slot: Slot): void {
    if (slot.state === 'backlog') {
      this.#backlog.remove(slot);
    } else if (slot.state === 'queued') {
      this.#sharedQueue.leave(slot);
      this.#queuedCount -= 1;
    } else return;
    slot.state = 'idle';
    this.#drainBacklog();
  }

  /** Moves slots from the backlog to the shared queue, as many as may wait there. */
  #drainBacklog(): void {
    // A call that ends inside `start` comes back here. The outer loop then moves the next slot, without recursion.
    if (this.#isDraining) return;
    this.#isDraining = true;
    try {
      while (this.#canEnqueue()) {
        const slot = this.#backlog.shift();
        if (slot === undefined) break;
        this.#enqueue(slot);
      }
    } finally {
      this.#isDraining = false;
    }
  }

  #canEnqueue(): boolean {
    if (this.#queuedCount + this.#grantedCount >= this.#maxConcurrent) return false;
    return this.#queuedCount < this.#maxQueued || this.#sharedQueue.hasFreeSlot;
  }

  #enqueue(slot: Slot): void {
    slot.state = 'queued';
    this.#queuedCount += 1;
    const outcome = this.#sharedQueue.acquire(slot);
    if (outcome === 'waiting') return;
    if (outcome === 'granted') {
      this.onSlotGranted(slot);
      return;
    }
    slot.state = 'idle';
    this.#queuedCount -= 1;
    slot.refuse(new OverloadedError(outcome));
  }
}
