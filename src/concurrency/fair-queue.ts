import { LinkedList, type ListNode } from './linked-list.ts';

/** Wants a slot, and stands in the queue itself while it waits: no other object and no promise is made for it. */
export interface QueueEntry<Entry> extends ListNode<Entry> {
  /** How much of the queue's capacity its slot takes. */
  readonly weight: number;
  /** It has its slot, and releases it once it is done. Never throws. */
  granted(): void;
}

export interface FairQueueOptions {
  /** How much the slots that are taken may weigh together. The last of them may take more than is left. */
  capacity: number;
  /** How many entries wait at most, half of them of one owner; as many as come when left out. */
  maxWaiting?: number;
  /** Why an entry may not wait: so many of all owners, or of its own, wait already. */
  overloaded(waiting: number, whose: 'all' | 'own'): Error;
}

/** The entries of an owner that wait. */
class OwnerQueue<Owner, Entry extends ListNode<Entry>> extends LinkedList<Entry> {
  before: OwnerQueue<Owner, Entry> | undefined;
  after: OwnerQueue<Owner, Entry> | undefined;
  readonly owner: Owner;

  constructor(owner: Owner) {
    super();
    this.owner = owner;
  }
}

/** Grants slots, and once all are taken, in turn to one owner after the other, so that no one's many keep another's few waiting. */
export class FairQueue<Owner, Entry extends QueueEntry<Entry>> {
  readonly #options: FairQueueOptions;
  readonly #maxWaiting: number;
  readonly #maxWaitingOfOne: number;
  /** Of owners with entries that wait, and no others. */
  readonly #ownerQueues = new Map<Owner, OwnerQueue<Owner, Entry>>();
  /** The same, the next first. */
  readonly #turns = new LinkedList<OwnerQueue<Owner, Entry>>();
  #taken = 0;
  #waiting = 0;
  #isGranting = false;

  constructor(options: FairQueueOptions) {
    this.#options = options;
    this.#maxWaiting = options.maxWaiting ?? Number.POSITIVE_INFINITY;
    this.#maxWaitingOfOne = Math.ceil(this.#maxWaiting / 2);
  }

  /** How many entries wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Whether an entry would have a slot at once. */
  get hasRoom(): boolean {
    return this.#taken < this.#options.capacity && this.#waiting === 0;
  }

  /** Grants a slot, before this returns while there is room. @returns why the entry may not wait for one. */
  acquire(owner: Owner, entry: Entry): Error | undefined {
    if (this.hasRoom) {
      this.#grant(entry);
      return undefined;
    }
    if (this.#waiting >= this.#maxWaiting) return this.#options.overloaded(this.#maxWaiting, 'all');
    let ownerQueue = this.#ownerQueues.get(owner);
    if (ownerQueue === undefined) {
      ownerQueue = new OwnerQueue(owner);
      this.#ownerQueues.set(owner, ownerQueue);
      this.#turns.add(ownerQueue);
    } else if (ownerQueue.length >= this.#maxWaitingOfOne) {
      return this.#options.overloaded(this.#maxWaitingOfOne, 'own');
    }
    ownerQueue.add(entry);
    this.#waiting += 1;
    return undefined;
  }

  /** Takes out an entry that waits. */
  remove(owner: Owner, entry: Entry): void {
    const ownerQueue = this.#ownerQueues.get(owner);
    if (ownerQueue === undefined) return;
    ownerQueue.remove(entry);
    this.#waiting -= 1;
    if (ownerQueue.length > 0) return;
    this.#ownerQueues.delete(owner);
    this.#turns.remove(ownerQueue);
  }

  /** An entry gives its slot to the next. */
  release(entry: Entry): void {
    this.#taken -= entry.weight;
    // An entry that is done as it is granted comes back here: its slot is granted below, and not from within it.
    if (this.#isGranting) return;
    this.#isGranting = true;
    try {
      while (this.#taken < this.#options.capacity) {
        const next = this.#takeNext();
        if (next === undefined) break;
        this.#grant(next);
      }
    } finally {
      this.#isGranting = false;
    }
  }

  #grant(entry: Entry): void {
    this.#taken += entry.weight;
    entry.granted();
  }

  #takeNext(): Entry | undefined {
    const ownerQueue = this.#turns.shift();
    if (ownerQueue === undefined) return undefined;
    this.#waiting -= 1;
    const entry = ownerQueue.shift();
    // Behind the others, if it has more.
    if (ownerQueue.length > 0) this.#turns.add(ownerQueue);
    else this.#ownerQueues.delete(ownerQueue.owner);
    return entry;
  }
}
