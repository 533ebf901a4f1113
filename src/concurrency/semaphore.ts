import { LinkedList, type ListNode } from './linked-list.ts';
import type { LoopTurns } from './loop-turns.ts';
import type { Owner } from './owner.ts';
import { type Excess, keyOf, Usage } from './usage.ts';

/** A request for a slot. The request is itself a list node, so that waiting allocates no promise. */
export abstract class SlotRequest implements ListNode<SlotRequest> {
  before: SlotRequest | undefined;
  after: SlotRequest | undefined;
  /** Only the semaphore sets it. */
  slot: 'none' | 'waiting' | 'granted' = 'none';
  abstract readonly owner: Owner;
  /** How much of the semaphore the slot takes. */
  abstract readonly weight: number;
  /** Called when a request that waited gets its slot. Must not throw. */
  abstract onSlotGranted(): void;
}

/** A request that calls a function. */
export class SimpleRequest extends SlotRequest {
  readonly owner: Owner;
  readonly weight: number;
  readonly onSlotGranted: () => void;

  constructor(owner: Owner, weight: number, onSlotGranted: () => void) {
    super();
    this.owner = owner;
    this.weight = weight;
    this.onSlotGranted = onSlotGranted;
  }
}

export interface SemaphoreOptions {
  /** The total weight of granted slots. The slot that reaches it may exceed it. */
  total: number;
  /** The total weight of the slots of one accepted token. One heavier slot is granted alone. By default `total`. */
  perToken?: number;
  /** At most this number of requests wait, half of them of one token. By default no limit. */
  maxWaiting?: number;
  /** Whether an owner may get a slot now. Call `grantWaiting` when the result changes to true. By default true. */
  mayStart?: (owner: Owner) => boolean;
  /** The weight that starts in one turn of the event loop. The slot that reaches it may exceed it. By default any. */
  pace?: { turns: LoopTurns; perTurn: number };
}

/**
 * Requests that wait. A line has either requests, first come, first served, or inner lines, which take turns. So lines
 * are a tree, in which `pathOf` tells the place of a request.
 */
class Line implements ListNode<Line> {
  before: Line | undefined;
  after: Line | undefined;
  readonly requests = new LinkedList<SlotRequest>();
  readonly lines = new LinkedList<Line>();
  // Most lines have no inner lines.
  #byKey: Map<object, Line> | undefined;

  get isEmpty(): boolean {
    return this.requests.first === undefined && this.lines.first === undefined;
  }

  get next(): SlotRequest | undefined {
    return this.requests.first ?? this.lines.first?.next;
  }

  has(key: object): boolean {
    return this.#byKey?.has(key) === true;
  }

  /** Adds a request to the inner line with the keys `path`. @param depth the index of the next key. */
  add(request: SlotRequest, path: readonly object[], depth = 0): void {
    const key = path[depth];
    if (key === undefined) {
      this.requests.add(request);
      return;
    }
    this.#byKey ??= new Map();
    let line = this.#byKey.get(key);
    if (line === undefined) {
      line = new Line();
      this.#byKey.set(key, line);
      this.lines.add(line);
    }
    line.add(request, path, depth + 1);
  }

  /** @param endsTurn whether the request has got its slot: the lines on its path then go behind those beside them. */
  remove(request: SlotRequest, endsTurn: boolean, path: readonly object[], depth = 0): void {
    const key = path[depth];
    const line = key && this.#byKey?.get(key);
    if (key === undefined || line === undefined) {
      this.requests.remove(request);
      return;
    }
    line.remove(request, endsTurn, path, depth + 1);
    if (!line.isEmpty && !endsTurn) return;
    this.lines.remove(line);
    if (line.isEmpty) this.#byKey?.delete(key);
    else this.lines.add(line);
  }
}

/** The keys of the lines around a request, from the outside: its token, or all strangers, a connection and a token. */
function pathOf({ token, connection }: Owner): readonly object[] {
  return connection === undefined ? [token] : [keyOf({ token, connection }), connection, token ?? connection];
}

/**
 * Grants slots up to a total weight. When none is free, requests wait, and tokens get slots in turn. Tokens that REST has
 * not accepted are one together. They have at most three quarters, and take their turns by connection and token.
 */
export class Semaphore {
  /** The weights of the granted slots. */
  readonly #granted: Usage;
  /** The number of requests that wait. */
  readonly #queued: Usage;
  readonly #mayStart: (owner: Owner) => boolean;
  readonly #pace: SemaphoreOptions['pace'];
  readonly #line = new Line();
  #startedInTurn = 0;
  #isGranting = false;

  constructor({ total, perToken, maxWaiting = Infinity, mayStart, pace }: SemaphoreOptions) {
    this.#granted = new Usage(total, perToken);
    this.#queued = new Usage(maxWaiting, Math.ceil(maxWaiting / 2));
    this.#mayStart = mayStart ?? (() => true);
    this.#pace = pace;
  }

  /** The number of waiting requests. */
  get waiting(): number {
    return this.#queued.sum;
  }

  /** Grants a slot, or lets the request wait. An `Excess`: the request may neither start nor wait. */
  acquire(request: SlotRequest): 'granted' | 'waiting' | Excess {
    const { owner } = request;
    // A slot that stays free while requests wait is one that limits of their own keep from them. So a token of which
    // none waits may have it. While slots are granted, this is not known yet.
    const overtakesNobody = this.waiting === 0 || !(this.#isGranting || this.#line.has(keyOf(owner)));
    if (overtakesNobody && this.#hasRoomFor(request)) {
      this.#grant(request);
      return 'granted';
    }
    const excess = this.#queued.excess(owner);
    if (excess !== undefined) return excess;
    request.slot = 'waiting';
    this.#queued.add(owner, 1);
    this.#line.add(request, pathOf(owner));
    return 'waiting';
  }

  /** Gives back the slot of a request, or its place among those that wait. Does nothing if the request has neither. */
  release(request: SlotRequest): void {
    const { slot, owner, weight } = request;
    if (slot === 'none') return;
    request.slot = 'none';
    if (slot === 'waiting') this.#stopWaiting(request, false);
    else this.#granted.add(owner, -weight);
    // The next request of the token may weigh less.
    this.grantWaiting();
  }

  /** Grants free slots to requests that wait. */
  grantWaiting(): void {
    // A request may be released inside `onSlotGranted`. The outer loop then grants that slot, without recursion.
    if (this.#isGranting) return;
    this.#isGranting = true;
    try {
      for (let request = this.#nextInTurn(); request !== undefined; request = this.#nextInTurn()) {
        this.#stopWaiting(request, true);
        this.#grant(request);
        request.onSlotGranted();
      }
    } finally {
      this.#isGranting = false;
    }
  }

  /** The first request for which there is room, of the first line that has one. */
  #nextInTurn(): SlotRequest | undefined {
    for (let line = this.#line.lines.first; line !== undefined; line = line.after) {
      const { next } = line;
      if (next !== undefined && this.#hasRoomFor(next)) return next;
      if (this.#granted.isUsedUp || !this.#hasTime) return undefined;
    }
    return undefined;
  }

  /** Whether more may start in this turn of the event loop. */
  get #hasTime(): boolean {
    return this.#pace === undefined || this.#startedInTurn < this.#pace.perTurn;
  }

  #hasRoomFor({ owner, weight }: SlotRequest): boolean {
    return this.#hasTime && this.#granted.excess(owner, weight) === undefined && this.#mayStart(owner);
  }

  #grant(request: SlotRequest): void {
    request.slot = 'granted';
    this.#granted.add(request.owner, request.weight);
    if (this.#pace === undefined) return;
    if (this.#startedInTurn === 0) this.#pace.turns.onNext(this.#onNextTurn);
    this.#startedInTurn += request.weight;
  }

  readonly #onNextTurn = (): void => {
    this.#startedInTurn = 0;
    this.grantWaiting();
  };

  #stopWaiting(request: SlotRequest, endsTurn: boolean): void {
    this.#queued.add(request.owner, -1);
    this.#line.remove(request, endsTurn, pathOf(request.owner));
  }
}
