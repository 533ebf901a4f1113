import { LinkedList, type ListNode } from './linked-list.ts';

/** A request for a slot. The entry is itself a list node, so that waiting allocates no object and no promise. */
export interface QueueEntry<Entry> extends ListNode<Entry> {
  /** How much of the queue's capacity the slot of this entry takes. */
  readonly weight: number;
  /** Called when the entry gets its slot. The owner of the entry releases the slot later. Must not throw. */
  onSlotGranted(): void;
}

/** Options of a FairQueue. */
export interface FairQueueOptions<Owner, Entry> {
  /** The total weight of granted slots that weigh more than `lightWeight`. The last granted slot may exceed the capacity. */
  capacity: number;
  /** At most this many entries wait. No limit by default. */
  maxWaiting?: number;
  /** At most this many entries of one owner wait. By default half of `maxWaiting`. */
  maxWaitingOf?(owner: Owner): number;
  /** The total weight of the granted slots of one owner. One slot that weighs more is granted alone. No limit by default. */
  maxWeightOf?(owner: Owner): number;
  /** Whether anything may start in this round of the event loop. Call `grantWaiting` in the next one. By default true. */
  hasTime?(): boolean;
  /** An owner without a slot gets one of at most this weight at any time. Such a slot takes no capacity. By default 0. */
  lightWeight?: number;
  /** Whether an entry may get a slot now. Call `grantWaiting` when the result changes to true. By default true. */
  isOpenTo?(entry: Entry): boolean;
  /**
   * Makes the error for an entry that may not wait.
   * `waiting` entries of `scope` wait already: of `all` owners, or of the entry's `own` owner.
   */
  overloaded?(waiting: number, scope: 'all' | 'own'): Error;
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
  readonly #options: FairQueueOptions<Owner, Entry>;
  readonly #maxWaiting: number;
  readonly #lightWeight: number;
  /** Only owners with waiting entries. */
  readonly #ownerQueues = new Map<Owner, OwnerQueue<Owner, Entry>>();
  /** The values of `#ownerQueues`, the next owner first. */
  readonly #roundRobin = new LinkedList<OwnerQueue<Owner, Entry>>();
  /** The weight of the granted slots of each owner. Empty without the options that need it. */
  readonly #usedByOwner = new Map<Owner, number>();
  #usedCapacity = 0;
  #waiting = 0;
  #isGranting = false;
  #isGrantScheduled = false;

  constructor(options: FairQueueOptions<Owner, Entry>) {
    this.#options = options;
    this.#maxWaiting = options.maxWaiting ?? Number.POSITIVE_INFINITY;
    this.#lightWeight = options.lightWeight ?? 0;
  }

  /** The number of waiting entries of all owners. */
  get waiting(): number {
    return this.#waiting;
  }

  get #hasCapacity(): boolean {
    return this.#usedCapacity < this.#options.capacity;
  }

  /**
   * Grants the entry a slot before this method returns if a slot is free, and otherwise lets the entry wait.
   * @returns the error if the entry may neither start nor wait.
   */
  acquire(owner: Owner, entry: Entry): Error | undefined {
    // After the grants, free capacity is left only if all waiting owners are at limits of their own. A new owner then
    // overtakes nobody.
    const isNext = this.#waiting === 0 || !(this.#isGranting || this.#ownerQueues.has(owner));
    if (isNext && this.#hasTime && this.#mayStart(owner, entry)) {
      this.#grant(owner, entry);
      return undefined;
    }
    if (this.#waiting >= this.#maxWaiting) return this.#overloaded(this.#maxWaiting, 'all');
    let ownerQueue = this.#ownerQueues.get(owner);
    if (ownerQueue === undefined) {
      ownerQueue = new OwnerQueue(owner);
      this.#ownerQueues.set(owner, ownerQueue);
      this.#roundRobin.add(ownerQueue);
    } else {
      const maxWaiting = this.#options.maxWaitingOf?.(owner) ?? Math.ceil(this.#maxWaiting / 2);
      if (ownerQueue.length >= maxWaiting) return this.#overloaded(maxWaiting, 'own');
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
    if (ownerQueue.length === 0) {
      this.#ownerQueues.delete(owner);
      this.#roundRobin.remove(ownerQueue);
    }
    // The next entry of the owner may weigh less.
    this.grantWaiting();
  }

  /** Releases the slot of an entry and grants the free capacity to waiting entries. */
  release(owner: Owner, entry: Entry): void {
    this.#addToCapacity(-1, entry);
    this.#addToOwner(owner, -entry.weight);
    this.grantWaiting();
  }

  /** Grants the free capacity to waiting entries whose owners may start. */
  grantWaiting(): void {
    // An entry may release its slot inside `onSlotGranted`. The outer loop then grants that slot, without recursion.
    if (this.#isGranting) return;
    this.#isGranting = true;
    try {
      while ((this.#hasCapacity || this.#lightWeight > 0) && this.#hasTime) {
        const next = this.#nextInTurn();
        if (next === undefined) break;
        this.#dequeue(next.ownerQueue, next.entry);
        this.#grant(next.ownerQueue.owner, next.entry);
        if (this.#options.hasTime === undefined) continue;
        // A waiting entry starts to work after this method has returned. So its time is known in the next round.
        this.#grantInNextRound();
        break;
      }
    } finally {
      this.#isGranting = false;
    }
  }

  #overloaded(waiting: number, scope: 'all' | 'own'): Error {
    return this.#options.overloaded?.(waiting, scope) ?? new Error(`${waiting} entries wait already`);
  }

  get #hasTime(): boolean {
    return this.#options.hasTime?.() ?? true;
  }

  #grantInNextRound(): void {
    if (this.#isGrantScheduled || this.#waiting === 0) return;
    this.#isGrantScheduled = true;
    setImmediate(() => {
      this.#isGrantScheduled = false;
      this.grantWaiting();
    });
  }

  #mayStart(owner: Owner, entry: Entry): boolean {
    return this.#isOpenTo(entry) && this.#hasRoomFor(owner, entry);
  }

  #isOpenTo(entry: Entry): boolean {
    return this.#options.isOpenTo?.(entry) ?? true;
  }

  #hasRoomFor(owner: Owner, { weight }: Entry): boolean {
    const maxWeightPerOwner = this.#options.maxWeightOf?.(owner);
    const used = this.#usedByOwner.get(owner) ?? 0;
    if (!this.#hasCapacity && (used > 0 || weight > this.#lightWeight)) return false;
    return maxWeightPerOwner === undefined || used === 0 || used + weight <= maxWeightPerOwner;
  }

  #grant(owner: Owner, entry: Entry): void {
    this.#addToCapacity(1, entry);
    this.#addToOwner(owner, entry.weight);
    entry.onSlotGranted();
  }

  /** Light slots take no capacity. Otherwise a stream of them could keep a heavy entry waiting forever. */
  #addToCapacity(sign: 1 | -1, { weight }: Entry): void {
    if (weight > this.#lightWeight) this.#usedCapacity += sign * weight;
  }

  #addToOwner(owner: Owner, weight: number): void {
    if (this.#options.maxWeightOf === undefined && this.#lightWeight === 0) return;
    const used = (this.#usedByOwner.get(owner) ?? 0) + weight;
    if (used > 0) this.#usedByOwner.set(owner, used);
    else this.#usedByOwner.delete(owner);
  }

  /** The first owner in turn whose first open entry has room, and that entry. */
  #nextInTurn(): { ownerQueue: OwnerQueue<Owner, Entry>; entry: Entry } | undefined {
    for (let ownerQueue = this.#roundRobin.first; ownerQueue !== undefined; ownerQueue = ownerQueue.after) {
      let entry = ownerQueue.first;
      while (entry !== undefined && !this.#isOpenTo(entry)) entry = entry.after;
      if (entry !== undefined && this.#hasRoomFor(ownerQueue.owner, entry)) return { ownerQueue, entry };
    }
    return undefined;
  }

  /** Removes a waiting entry of an owner. The owner then waits for its next turn. */
  #dequeue(ownerQueue: OwnerQueue<Owner, Entry>, entry: Entry): void {
    this.#roundRobin.remove(ownerQueue);
    this.#waiting -= 1;
    ownerQueue.remove(entry);
    if (ownerQueue.length > 0) this.#roundRobin.add(ownerQueue);
    else this.#ownerQueues.delete(ownerQueue.owner);
  }
}
