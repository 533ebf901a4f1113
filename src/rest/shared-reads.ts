import { givenUp } from './attempt.ts';
import { isRead, queryString, type RestCall } from './call.ts';
import type { Caller } from './caller.ts';
import { Canceller } from './cancellation.ts';
import type { RestClient, Turn } from './client.ts';
import type { Away } from './fair-queue.ts';
import { enter, type LedgerEntry } from './ledger.ts';

/**
 * A read that operations of a tenant want. Each that asks before it has left queues for it itself, so that none waits in
 * the queue of another; whoever's turn comes first makes the call for all.
 */
interface Flight {
  /** Who waits for the answer. */
  readonly passengers: Passenger[];
  /** Ends the call once nobody does. */
  readonly canceller: Canceller;
  hasLeft: boolean;
  /** Of the operation that makes the call; undefined until it has left. */
  entry: LedgerEntry | undefined;
  /** From here on, who asks for the same asks anew. */
  forget(): void;
}

/** An operation that waits for the answer of a flight. */
interface Passenger {
  /** The call has left, and another operation makes it. */
  follow(): void;
  /** The call has ended. Nobody is told of it before `settle` is called. */
  arrive(): void;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A client in which equal reads of one tenant that are under way at the same time are one call. All get its answer or its
 * error, of which nothing is kept. The call ends early only when all have given up who wait for it. The answer is one
 * object for all, so nobody may change it.
 */
export function sharedReads(client: RestClient): RestClient {
  const flights = new Map<string, Flight>();

  function flightOf(call: RestCall, { tenant }: Caller): Flight {
    // A write that has ended since makes it another key: what was asked before may be answered as it was before.
    const key = `${tenant.id} ${tenant.writes} ${call.path}${queryString(call)}`;
    const known = flights.get(key);
    if (known !== undefined) return known;
    const flight: Flight = {
      passengers: [],
      canceller: new Canceller(),
      hasLeft: false,
      entry: undefined,
      // One that was given up may have a successor already.
      forget: () => {
        if (flights.get(key) === flight) flights.delete(key);
      },
    };
    flights.set(key, flight);
    return flight;
  }

  /** Makes the call for all, in the turn and on the account of one of them. Never rejects. */
  function send(flight: Flight, maker: Passenger, call: RestCall, caller: Caller, away: Away): Promise<void> {
    flight.hasLeft = true;
    for (const passenger of flight.passengers) if (passenger !== maker) passenger.follow();
    const turn: Turn = {
      signal: flight.canceller,
      away,
      onEnter: (entry) => {
        flight.entry = entry;
      },
    };
    return client.read(call, caller, turn).then(
      (answer) => {
        // Before any of them is told, so that who asks then asks anew.
        flight.forget();
        for (const passenger of landed(flight)) passenger.resolve(answer);
      },
      (error: unknown) => {
        flight.forget();
        for (const passenger of landed(flight)) passenger.reject(error);
      },
    );
  }

  function read(call: RestCall, caller: Caller): Promise<unknown> {
    const { signal } = caller;
    if (signal.aborted) return Promise.reject(givenUp(call, signal));
    const flight = flightOf(call, caller);
    return new Promise((resolve, reject) => {
      let completeEntry: (() => void) | undefined;
      const passenger: Passenger = {
        follow() {
          caller.left();
          completeEntry = enterShared(flight, call, caller);
        },
        arrive() {
          signal.removeEventListener('abort', giveUp);
          if (flight.entry !== undefined) caller.heard(flight.entry);
          completeEntry?.();
        },
        resolve,
        reject,
      };

      function leave(error: unknown): void {
        const seat = flight.passengers.indexOf(passenger);
        if (seat === -1) return;
        flight.passengers.splice(seat, 1);
        signal.removeEventListener('abort', giveUp);
        completeEntry?.();
        reject(error);
        if (flight.passengers.length > 0) return;
        flight.forget();
        flight.canceller.abort(signal.reason);
      }
      function giveUp(): void {
        leave(givenUp(call, signal));
      }
      async function takeTurn(away: Away): Promise<void> {
        if (flight.hasLeft || !flight.passengers.includes(passenger)) return;
        caller.spend(call);
        caller.left();
        await send(flight, passenger, call, caller, away);
      }

      flight.passengers.push(passenger);
      signal.addEventListener('abort', giveUp);
      if (flight.hasLeft) passenger.follow();
      // With a BudgetExceededError, which is this operation's own business and nobody else's.
      else caller.schedule(call, takeTurn, signal).catch(leave);
    });
  }

  return {
    ...client,
    json: (call, caller) => (isRead(call) ? read(call, caller) : client.json(call, caller)),
  };
}

/** All who have waited for a call that has ended, and wait no more. */
function landed(flight: Flight): Passenger[] {
  const passengers = flight.passengers.splice(0);
  for (const passenger of passengers) passenger.arrive();
  return passengers;
}

/**
 * Puts a call that another makes into the ledger of one who waits for it, which costs nothing of the budget. What is
 * answered completes the entry with what is known by then.
 */
function enterShared(flight: Flight, call: RestCall, { ledger }: Caller): () => void {
  const entry = enter(ledger, call);
  entry.isShared = true;
  return () => {
    const { status, bytes = 0, retries = 0 } = flight.entry ?? {};
    Object.assign(entry, { status, bytes, retries, durationMs: ledger.elapsedMs() - entry.startMs });
  };
}
