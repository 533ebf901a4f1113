import { type Asker, asking } from './asking.ts';
import { givenUp } from './attempt.ts';
import type { RestCall } from './call.ts';
import type { Turn } from './call-in-turn.ts';
import type { Caller } from './caller.ts';
import { type Cancellation, Canceller } from './cancellation.ts';
import type { RestClient } from './client.ts';
import type { OverloadedError } from './errors.ts';
import { enter, type LedgerEntry } from './ledger.ts';
import type { PassingMap } from './passing-map.ts';
import { QueuedCall } from './queued-call.ts';

const nobody: readonly Passenger[] = [];

/**
 * A read that operations of a tenant want. Each that asks before it has left queues for it itself, so that none waits in
 * the queue of another; whoever's turn comes first makes the call for all. A class, as each call has one.
 */
export class Flight implements Turn<unknown> {
  readonly call: RestCall;
  /** Ends the call once nobody waits for it. */
  readonly signal = new Canceller();
  /** Of the operation that makes the call; undefined until it has left. */
  entry: LedgerEntry | undefined;
  asker: Asker | undefined;
  readonly #client: RestClient;
  readonly #key: string;
  readonly #flights: PassingMap<string, Flight>;
  #passengers: readonly Passenger[] = nobody;
  /** In whose turn the call is made; undefined until it has left. */
  #maker: Passenger | undefined;
  hasLeft = false;

  constructor(client: RestClient, call: RestCall, key: string, flights: PassingMap<string, Flight>) {
    this.call = call;
    this.#client = client;
    this.#key = key;
    this.#flights = flights;
  }

  /** Waits for the answer, and makes the call where the turn of this operation comes first. */
  board(caller: Caller): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const passenger = new Passenger(this, caller, resolve, reject);
      // There is one as a rule, and an array that grows takes room for 17.
      this.#passengers = this.#passengers.concat(passenger);
      caller.signal.addEventListener('abort', passenger);
      if (this.hasLeft) passenger.follow();
      else caller.queue(passenger);
    });
  }

  /** The call is made for all, in the turn and on the account of `maker`. */
  leave(maker: Passenger): void {
    this.hasLeft = true;
    this.#maker = maker;
    this.asker = maker.asker;
    try {
      maker.caller.left();
      for (const passenger of this.#passengers) if (passenger !== maker) passenger.follow();
      this.#client.read(this.call, maker.caller, this);
    } catch (error) {
      // Nothing is to throw here; if it does, no turn may be left open, as all others wait for it.
      this.failed(error);
    }
  }

  away(pause: () => Promise<void>, signal: Cancellation): Promise<void> {
    return this.#maker?.pauseAway(pause, signal) ?? pause();
  }

  answered(answer: unknown): void {
    for (const passenger of this.#land()) passenger.resolve(answer);
  }

  failed(error: unknown): void {
    for (const passenger of this.#land()) passenger.reject(error);
  }

  /** One waits no more, and the call ends where nobody else does. @returns whether it did wait. */
  disembark(passenger: Passenger): boolean {
    if (!this.#passengers.includes(passenger)) return false;
    this.#passengers = this.#passengers.filter((each) => each !== passenger);
    if (this.#passengers.length === 0) {
      this.#forget();
      this.signal.abort(passenger.caller.signal.reason);
    }
    return true;
  }

  /** The call has ended. @returns who is to be told. */
  #land(): readonly Passenger[] {
    // Before anybody is told, so that who asks then asks anew.
    this.#forget();
    const passengers = this.#passengers;
    for (const passenger of passengers) passenger.arrive();
    this.#maker?.endTurn();
    // A Map that has grown leaves its former table behind, with all that was in it, until a full collection of garbage.
    this.#passengers = nobody;
    this.#maker = undefined;
    this.entry = undefined;
    return passengers;
  }

  /** From here on, who asks for the same asks anew. */
  #forget(): void {
    // One that was given up may have a successor already.
    if (this.#flights.get(this.#key) === this) this.#flights.delete(this.#key);
  }
}

/** An operation that waits for the answer of a flight, until it gives up. */
class Passenger extends QueuedCall {
  readonly kind = 'read';
  readonly caller: Caller;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
  // Of now, as the call may leave while another operation runs.
  readonly asker = asking.getStore();
  readonly #flight: Flight;
  /** Of a call that another operation makes. */
  #entry: LedgerEntry | undefined;

  constructor(
    flight: Flight,
    caller: Caller,
    resolve: (answer: unknown) => void,
    reject: (error: unknown) => void,
  ) {
    super();
    this.#flight = flight;
    this.caller = caller;
    this.resolve = resolve;
    this.reject = reject;
  }

  get isGivenUp(): boolean {
    return this.caller.signal.aborted;
  }

  make(): void {
    if (this.#flight.hasLeft || !this.#spend()) this.endTurn();
    else this.#flight.leave(this);
  }

  refuse(error: OverloadedError): void {
    // Where another operation makes the call meanwhile, this one needs no turn any more, and none is missed.
    if (!this.#flight.hasLeft) this.#leave(error);
  }

  /** The call has left, and another operation makes it, which costs this one nothing of its budget. */
  follow(): void {
    this.caller.left();
    this.#entry = enter(this.caller.ledger, this.#flight.call, this.asker);
    this.#entry.isShared = true;
  }

  /** It waits no more, as the call has ended. Its promise is to be settled. */
  arrive(): void {
    this.leaveQueue();
    this.#endWaiting();
    if (this.#flight.entry !== undefined) this.caller.heard(this.#flight.entry);
  }

  /** Its caller gives up. */
  handleEvent(): void {
    this.leaveQueue();
    this.#leave(givenUp(this.#flight.call, this.caller.signal));
  }

  /** It fails before the call has ended, and ends that where nobody else waits for it. */
  #leave(error: unknown): void {
    if (!this.#flight.disembark(this)) return;
    this.#endWaiting();
    this.reject(error);
  }

  /** @returns whether there was enough: that there is not is this operation's own business and nobody else's. */
  #spend(): boolean {
    try {
      this.caller.spend(this.#flight.call);
      return true;
    } catch (error) {
      this.#leave(error);
      return false;
    }
  }

  #endWaiting(): void {
    this.caller.signal.removeEventListener('abort', this);
    const own = this.#entry;
    if (own === undefined) return;
    // With what is known by then.
    const { status, bytes = 0, retries = 0 } = this.#flight.entry ?? {};
    own.status = status;
    own.bytes = bytes;
    own.retries = retries;
    own.durationMs = this.caller.ledger.elapsedMs() - own.startMs;
  }
}
