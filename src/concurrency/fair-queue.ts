import { LinkedList, type ListNode } from './linked-list.ts';
import { type Excess, type Owner, OwnerUsage } from './owner.ts';

/** A request for a slot. The entry is itself a list node, so that waiting allocates no object and no promise. */
export abstract class QueueEntry implements ListNode<QueueEntry> {
  before: QueueEntry | undefined;
  after: QueueEntry | undefined;
  /** Only the queue sets it. */
  turn: 'none' | 'waiting' | 'granted' = 'none';
  abstract readonly owner: Owner;
  /** How much of the queue's capacity the slot takes. */
  abstract readonly weight: number;
  /** Called when an entry that waited gets its slot. Must not throw. */
  abstract onSlotGranted(): void;
}

/** An entry of weight 1 that calls a function. */
export class UnitEntry extends QueueEntry {
  readonly owner: Owner;
  readonly weight = 1;
  readonly onSlotGranted: () => void;

  constructor(owner: Owner, onSlotGranted: () => void) {
    super();
    this.owner = owner;
    this.onSlotGranted = onSlotGranted;
  }
}

export interface FairQueueOptions {
  /** The total weight of granted slots that weigh more than `lightWeight`. */
  capacity: number;
  /** The total weight of the granted slots of one token. One slot that weighs more is granted alone. No limit by default. */
  maxWeightPerToken?: number;
  /** At most this many entries wait, half of them with one token. No limit by default. */
  maxWaiting?: number;
  /** An owner without a slot gets one of at most this weight at any time. Such a slot takes no capacity. By default 0. */
  lightWeight?: number;
  /** Whether anything may start now. Call `grantWaiting` after a false. By default true. */
  hasTime?: () => boolean;
  /** Whether an owner may get a slot now. Call `grantWaiting` when the result changes to true. By default true. */
  isOpenTo?: (owner: Owner) => boolean;
}

const laneKey = ({ token, connection }: Owner): object => (connection === undefined ? token : connection);

/** The waiting entries of an accepted token, or of one connection of the other tokens. */
class Lane implements ListNode<Lane> {
  before: Lane | undefined;
  after: Lane | undefined;
  readonly entries = new LinkedList<QueueEntry>();
  readonly ofOwner: OwnerLanes;

  constructor(ofOwner: OwnerLanes) {
    this.ofOwner = ofOwner;
  }
}

/** The lanes of an owner, in the order of turns. An accepted token has one. */
class OwnerLanes extends LinkedList<Lane> implements ListNode<OwnerLanes> {
  before: OwnerLanes | undefined;
  after: OwnerLanes | undefined;
}

/** A list, not the order of a Map: to move an entry of a Map to its end cost a twentieth of a query with 53 calls. */
function endTurn<Node extends ListNode<Node>>(turns: LinkedList<Node>, node: Node): void {
  turns.remove(node);
  turns.add(node);
}

/**
 * Grants slots up to a capacity. When no slot is free, entries wait, and owners get free slots in round-robin order.
 * Tokens that REST has not accepted are one owner, and take its turns by connection. So one with many entries cannot block
 * another one with few (docs/design/how-the-server-is-shared.md#keys).
 */
export class FairQueue {
  readonly #lightWeight: number;
  readonly #hasTime: () => boolean;
  readonly #isOpenTo: (owner: Owner) => boolean;
  readonly #slots: OwnerUsage;
  readonly #waiting: OwnerUsage;
  readonly #lanes = new Map<object, Lane>();
  /** The owners that wait, in the order of turns. */
  readonly #owners = new LinkedList<OwnerLanes>();
  /** The lanes of the tokens that REST has not accepted. */
  readonly #others = new OwnerLanes();
  /** Whether the latest slot is theirs. */
  #isLatestOfOthers = false;
  #isGranting = false;

  constructor(options: FairQueueOptions) {
    const { maxWaiting = Number.POSITIVE_INFINITY } = options;
    this.#lightWeight = options.lightWeight ?? 0;
    this.#hasTime = options.hasTime ?? (() => true);
    this.#isOpenTo = options.isOpenTo ?? (() => true);
    this.#slots = new OwnerUsage(options.capacity, options.maxWeightPerToken);
    this.#waiting = new OwnerUsage(maxWaiting, Math.ceil(maxWaiting / 2));
  }

  /** The number of waiting entries of all owners. */
  get waiting(): number {
    return this.#waiting.used;
  }

  /** Grants the entry a slot, or lets it wait if none is free. An `Excess`: the entry may neither start nor wait. */
  acquire(entry: QueueEntry): 'granted' | 'waiting' | Excess {
    const { owner } = entry;
    const lane = this.#lanes.get(laneKey(owner));
    const mayStart = this.#hasTime() && this.#isOpenTo(owner) && this.#hasRoomFor(entry);
    // After the grants, free capacity is left only if all waiting lanes are at limits of their own. A new lane then
    // overtakes nobody.
    const isNext = this.waiting === 0 || !(this.#isGranting || lane !== undefined);
    if (mayStart && isNext) {
      this.#grant(entry);
      return 'granted';
    }
    const excess = this.#waiting.excess(owner);
    if (excess !== undefined) return excess;
    (lane ?? this.#addLane(owner)).entries.add(entry);
    this.#waiting.add(owner, 1);
    entry.turn = 'waiting';
    return 'waiting';
  }

  /** Adds a lane, as the last one in turn. */
  #addLane(owner: Owner): Lane {
    const others = this.#others;
    const ofOwner = owner.connection === undefined ? new OwnerLanes() : others;
    if (ofOwner.first === undefined) this.#owners.add(ofOwner);
    // An accepted token comes before the others if they had the latest turn.
    if (ofOwner !== others && others.first !== undefined && this.#isLatestOfOthers)
      endTurn(this.#owners, others);
    const lane = new Lane(ofOwner);
    this.#lanes.set(laneKey(owner), lane);
    ofOwner.add(lane);
    return lane;
  }

  /** Gives back the slot of an entry, or its place among those that wait. Does nothing if the entry has neither. */
  leave(entry: QueueEntry): void {
    const { turn, owner, weight } = entry;
    if (turn === 'none') return;
    entry.turn = 'none';
    if (turn === 'waiting') this.#dequeue(entry, false);
    else this.#slots.add(owner, -weight, -this.#weightOfCapacity(weight));
    // The next entry of the owner may weigh less.
    this.grantWaiting();
  }

  /** Grants the free capacity to waiting entries whose owners may start. */
  grantWaiting(): void {
    // An entry may leave inside `onSlotGranted`. The outer loop then grants that slot, without recursion.
    if (this.#isGranting) return;
    this.#isGranting = true;
    try {
      while (this.waiting > 0 && (!this.#slots.isUsedUp || this.#lightWeight > 0) && this.#hasTime()) {
        const entry = this.#nextInTurn();
        if (entry === undefined) break;
        this.#dequeue(entry, true);
        this.#grant(entry);
        entry.onSlotGranted();
      }
    } finally {
      this.#isGranting = false;
    }
  }

  #hasRoomFor({ owner, weight }: QueueEntry): boolean {
    if (weight <= this.#lightWeight && !this.#slots.isUsedBy(owner)) return true;
    return !this.#slots.isUsedUp && this.#slots.ownExcess(owner, weight) === undefined;
  }

  #grant(entry: QueueEntry): void {
    entry.turn = 'granted';
    this.#isLatestOfOthers = entry.owner.connection !== undefined;
    this.#slots.add(entry.owner, entry.weight, this.#weightOfCapacity(entry.weight));
  }

  /** Light slots take no capacity. Otherwise a stream of them could keep a heavy entry waiting forever. */
  #weightOfCapacity(weight: number): number {
    return weight > this.#lightWeight ? weight : 0;
  }

  /** The first open entry with room, in the order of turns. */
  #nextInTurn(): QueueEntry | undefined {
    for (let owner = this.#owners.first; owner !== undefined; owner = owner.after) {
      for (let lane = owner.first; lane !== undefined; lane = lane.after) {
        let entry = lane.entries.first;
        while (entry !== undefined && !this.#isOpenTo(entry.owner)) entry = entry.after;
        if (entry !== undefined && this.#hasRoomFor(entry)) return entry;
      }
    }
    return undefined;
  }

  /** Removes a waiting entry. `endsTurn`: its owner and its connection then wait for their next turn. */
  #dequeue(entry: QueueEntry, endsTurn: boolean): void {
    const { owner } = entry;
    const lane = this.#lanes.get(laneKey(owner));
    if (lane === undefined) return;
    const { entries, ofOwner } = lane;
    entries.remove(entry);
    this.#waiting.add(owner, -1);
    if (entries.first === undefined) {
      this.#lanes.delete(laneKey(owner));
      ofOwner.remove(lane);
    } else if (endsTurn) endTurn(ofOwner, lane);
    if (ofOwner.first === undefined) this.#owners.remove(ofOwner);
    else if (endsTurn) endTurn(this.#owners, ofOwner);
  }
}
