import { LinkedList, type ListNode } from './linked-list.ts';

/** A request for a slot. The entry is itself a list node, so that waiting allocates no object and no promise. */
export interface QueueEntry<Entry> extends ListNode<Entry> {
  /** How much of the queue's capacity the slot of this entry takes. */
  readonly weight: number;
  /** Called when the entry gets its slot. The owner of the entry releases the slot later. Must not throw. */
  onSlotGranted(): void;
}

/** Options of a FairQueue. */
export interface FairQueueOptions {
  /** The total weight of granted slots. The last granted slot may exceed the capacity. */
  capacity: number;
  /** At most this many entries wait, of which one owner may have half. No limit by default. */
  maxWaiting?: number;
  /**
   * Makes the error for an entry that may not wait.
   * `waiting` entries of `scope` wait already: of `all` owners, or of the entry's `own` owner.
   */
  overloaded(waiting: number, scope: 'all' | 'own'): Error;
}

/** The waiting entries of one owner. */
class OwnerQueue<Owner, Entry extends ListNode<Entry>> extends LinkedList<Entry> {
  before: OwnerQueue<Owner, Entry> | undefined;
  after: OwnerQueue<Owner, Entry> | undefined;
  readonly owner: Owner;

  constructor(owner: Owner) {
    super();
    this.owner = owner;
  }
}

/**
 * Grants slots up to a capacity. When no slot is free, entries wait, and owners get free slots in round-robin order.
 * One owner with many entries cannot block another owner with few (docs/decisions/0009-fair-queue.md).
 */
export class FairQueue<Owner, Entry extends QueueEntry<Entry>> {
  readonly #options: FairQueueOptions;
  readonly #maxWaiting: number;
  readonly #maxWaitingPerOwner: number;
  /** Only owners with waiting entries. */
  readonly #ownerQueues = new Map<Owner, OwnerQueue<Owner, Entry>>();
  /** The values of `#ownerQueues`, the next owner first. */
  readonly #roundRobin = new LinkedList<OwnerQueue<Owner, Entry>>();
  #usedCapacity = 0;
  #waiting = 0;
  #isGranting = false;

  constructor(options: FairQueueOptions) {
    this.#options = options;
    this.#maxWaiting = options.maxWaiting ?? Number.POSITIVE_INFINITY;
    this.#maxWaitingPerOwner = Math.ceil(this.#maxWaiting / 2);
  }

  /** The number of waiting entries of all owners. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Whether `acquire` would grant a slot immediately. */
  get hasFreeSlot(): boolean {
    return this.#usedCapacity < this.#options.capacity && this.#waiting === 0;
  }

  /**
   * Grants the entry a slot before this method returns if a slot is free, and otherwise lets the entry wait.
   * @returns the error if the entry may neither start nor wait.
   */
  acquire(owner: Owner, entry: Entry): Error | undefined {
    if (this.hasFreeSlot) {
      this.#grant(entry);
      return undefined;
    }
    if (this.#waiting >= this.#maxWaiting) return this.#options.overloaded(this.#maxWaiting, 'all');
    let ownerQueue = this.#ownerQueues.get(owner);
    if (ownerQueue === undefined) {
      ownerQueue = new OwnerQueue(owner);
      this.#ownerQueues.set(owner, ownerQueue);
      this.#roundRobin.add(ownerQueue);
    } else if (ownerQueue.length >= this.#maxWaitingPerOwner) {
      return this.#options.overloaded(this.#maxWaitingPerOwner, 'own');
    }
    ownerQueue.add(entry);
    this.#waiting += 1;
    return undefined;
  }

  /** Removes an entry that waits. */
  remove(owner: Owner, entry: Entry): void {
    const ownerQueue = this.#ownerQueues.get(owner);
    if (ownerQueue === undefined) return;
    ownerQueue.remove(entry);
    this.#waiting -= 1;
    if (ownerQueue.length > 0) return;
    this.#ownerQueues.delete(owner);
    this.#roundRobin.remove(ownerQueue);
  }

  /** Releases the slot of an entry and grants the free capacity to waiting entries. */
  release(entry: Entry): void {
    this.#usedCapacity -= entry.weight;
    // An entry may release its slot inside `onSlotGranted`. The outer loop then grants that slot, without recursion.
    if (this.#isGranting) return;
    this.#isGranting = true;
    try {
      while (this.#usedCapacity < this.#options.capacity) {
        const next = this.#dequeue();
        if (next === undefined) break;
        this.#grant(next);
      }
    } finally {
      this.#isGranting = false;
    }
  }

  #grant(entry: Entry): void {
    this.#usedCapacity += entry.weight;
    entry.onSlotGranted();
  }

  /** @returns the first entry of the owner whose turn it is. */
  #dequeue(): Entry | undefined {
    const ownerQueue = this.#roundRobin.shift();
    if (ownerQueue === undefined) return undefined;
    this.#waiting -= 1;
    const entry = ownerQueue.shift();
    if (ownerQueue.length > 0) this.#roundRobin.add(ownerQueue);
    else this.#ownerQueues.delete(ownerQueue.owner);
    return entry;
  }
}
