import { asking } from './asking.ts';
import { givenUp } from './attempt.ts';
import { isRead, queryString, type RestCall } from './call.ts';
import type { Caller } from './caller.ts';
import { Canceller } from './cancellation.ts';
import type { RestClient, Turn } from './client.ts';
import { OverloadedError } from './errors.ts';
import type { Away } from './fair-queue.ts';
import { enter, type LedgerEntry } from './ledger.ts';

/**
 * A client in which equal reads of one tenant that are under way at the same time are one call. All get its answer or its
 * error, of which nothing is kept. The call ends early only when all have given up who wait for it. The answer is one
 * object for all, so nobody may change it.
 */
export function sharedReads(client: RestClient): RestClient {
  const flights = new Map<string, Flight>();

  function read(call: RestCall, caller: Caller): Promise<unknown> {
    const { tenant, signal } = caller;
    if (signal.aborted) return Promise.reject(givenUp(call, signal));
    // A write that has ended since makes it another key: what was asked before may be answered as it was before.
    const key = `${tenant.id} ${tenant.writes} ${call.path}${queryString(call)}`;
    let flight = flights.get(key);
    if (flight === undefined) {
      flight = new Flight(key, flights);
      flights.set(key, flight);
    }
    return board(flight, call, caller);
  }

  /** Waits for the answer of a flight, and makes its call where the turn of this one comes first. */
  function board(flight: Flight, call: RestCall, caller: Caller): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const passenger = new Passenger(flight, call, caller, resolve, reject);
      if (flight.hasLeft) {
        passenger.follow();
        return;
      }
      const takeTurn = (away: Away): Promise<void> => {
        if (flight.hasLeft || !flight.passengers.includes(passenger)) return done;
        caller.spend(call);
        caller.left();
        flight.leave(passenger, away);
        return client.read(call, caller, flight).then(
          (answer) => flight.land((each) => each.resolve(answer)),
          (error: unknown) => flight.land((each) => each.reject(error)),
        );
      };
      // With a BudgetExceededError, which is this operation's own business and nobody else's.
      caller.schedule(call, takeTurn, caller.signal).catch((error: unknown) => {
        // Where another operation makes the call meanwhile, this one needs no turn any more, and none is missed.
        if (!(flight.hasLeft && error instanceof OverloadedError)) passenger.leave(error);
      });
    });
  }

  return {
    ...client,
    json: (call, caller) => (isRead(call) ? read(call, caller) : client.json(call, caller)),
  };
}

const done = Promise.resolve();

/**
 * A read that operations of a tenant want. Each that asks before it has left queues for it itself, so that none waits in
 * the queue of another; whoever's turn comes first makes the call for all. A class, as each call has one.
 */
class Flight implements Turn {
  /** Who waits for the answer. */
  readonly passengers: Passenger[] = [];
  /** Ends the call once nobody does. */
  readonly signal = new Canceller();
  hasLeft = false;
  away: Away | undefined;
  /** Of the operation that makes the call; undefined until it has left. */
  entry: LedgerEntry | undefined;
  readonly #key: string;
  readonly #flights: Map<string, Flight>;

  constructor(key: string, flights: Map<string, Flight>) {
    this.#key = key;
    this.#flights = flights;
  }

  /** The call is made for all, in the turn and on the account of `maker`. */
  leave(maker: Passenger, away: Away): void {
    this.hasLeft = true;
    this.away = away;
    for (const passenger of this.passengers) if (passenger !== maker) passenger.follow();
  }

  onEnter(entry: LedgerEntry): void {
    this.entry = entry;
  }

  /** The call has ended. */
  land(tell: (passenger: Passenger) => void): void {
    // Before anybody is told, so that who asks then asks anew.
    this.forget();
    for (const passenger of this.passengers.splice(0)) {
      passenger.arrive();
      tell(passenger);
    }
    // A Map that has grown leaves its former table behind, with all that was in it, until a full collection of garbage.
    this.away = undefined;
    this.entry = undefined;
  }

  /** From here on, who asks for the same asks anew. */
  forget(): void {
    // One that was given up may have a successor already.
    if (this.#flights.get(this.#key) === this) this.#flights.delete(this.#key);
  }
}

/** An operation that waits for the answer of a flight, until it gives up. */
class Passenger {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly #flight: Flight;
  readonly #call: RestCall;
  readonly #caller: Caller;
  // Of now, as the call may leave while another operation runs.
  readonly #asker = asking.getStore();
  /** Of a call that another operation makes. */
  #entry: LedgerEntry | undefined;

  constructor(
    flight: Flight,
    call: RestCall,
    caller: Caller,
    resolve: (answer: unknown) => void,
    reject: (error: unknown) => void,
  ) {
    this.resolve = resolve;
    this.reject = reject;
    this.#flight = flight;
    this.#call = call;
    this.#caller = caller;
    flight.passengers.push(this);
    caller.signal.addEventListener('abort', this.#giveUp);
  }

  /** The call has left, and another operation makes it, which costs this one nothing of its budget. */
  follow(): void {
    this.#caller.left();
    this.#entry = enter(this.#caller.ledger, this.#call, this.#asker);
    this.#entry.isShared = true;
  }

  /** It waits no more, as the call has ended. Its promise is to be settled. */
  arrive(): void {
    this.#endWaiting();
    if (this.#flight.entry !== undefined) this.#caller.heard(this.#flight.entry);
  }

  /** It fails before the call has ended, and ends that where nobody else waits for it. */
  leave(error: unknown): void {
    const { passengers } = this.#flight;
    const place = passengers.indexOf(this);
    if (place === -1) return;
    passengers.splice(place, 1);
    this.#endWaiting();
    this.reject(error);
    if (passengers.length > 0) return;
    this.#flight.forget();
    this.#flight.signal.abort(this.#caller.signal.reason);
  }

  readonly #giveUp = () => this.leave(givenUp(this.#call, this.#caller.signal));

  #endWaiting(): void {
    this.#caller.signal.removeEventListener('abort', this.#giveUp);
    if (this.#entry === undefined) return;
    // With what is known by then.
    const { status, bytes = 0, retries = 0 } = this.#flight.entry ?? {};
    const durationMs = this.#caller.ledger.elapsedMs() - this.#entry.startMs;
    Object.assign(this.#entry, { status, bytes, retries, durationMs });
  }
}
