import { givenUp } from './attempt.ts';
import { described, isRead, queryString, type RestCall } from './call.ts';
import type { Caller } from './caller.ts';
import { Canceller } from './cancellation.ts';
import type { RestClient } from './client.ts';
import type { Away } from './fair-queue.ts';
import { enter, type LedgerEntry } from './ledger.ts';
import type { Tenant } from './tenant.ts';

/**
 * A read that operations of a tenant want. Each that asks before it has left queues for it itself, so that none waits in
 * the queue of another; whoever's turn comes first makes the call for all.
 */
interface Flight {
  /** How many wait for the answer. */
  waiting: number;
  /** Ends the call once nobody does. */
  readonly canceller: Canceller;
  hasLeft: boolean;
  readonly departure: PromiseWithResolvers<void>;
  readonly answer: PromiseWithResolvers<unknown>;
  /** Of the operation that makes the call; undefined until it has left. */
  entry: LedgerEntry | undefined;
  /** From here on, who asks for the same asks anew. */
  forget(): void;
}

/**
 * A client in which equal reads of one tenant that are under way at the same time are one call. All get its answer or its
 * error, of which nothing is kept. The call ends early only when all have given up who wait for it. The answer is one
 * object for all, so nobody may change it.
 */
export function sharedReads(client: RestClient): RestClient {
  const flightsByTenant = new WeakMap<Tenant, Map<string, Flight>>();

  function flightOf(call: RestCall, { tenant }: Caller): Flight {
    const flights = flightsByTenant.get(tenant) ?? new Map<string, Flight>();
    flightsByTenant.set(tenant, flights);
    // A write that has ended since makes it another key: what was asked before may be answered as it was before.
    const key = `${tenant.writes} ${call.path}${queryString(call)}`;
    const known = flights.get(key);
    if (known !== undefined) return known;
    const flight: Flight = {
      waiting: 0,
      canceller: new Canceller(),
      hasLeft: false,
      departure: Promise.withResolvers(),
      answer: Promise.withResolvers(),
      entry: undefined,
      // One that was given up may have a successor already.
      forget: () => {
        if (flights.get(key) === flight) flights.delete(key);
      },
    };
    flights.set(key, flight);
    return flight;
  }

  /** Makes the call for all, in the turn and on the account of this operation. */
  async function send(flight: Flight, call: RestCall, caller: Caller, away: Away): Promise<void> {
    flight.hasLeft = true;
    flight.departure.resolve();
    try {
      const onBehalfOfAll: Caller = {
        ...caller,
        signal: flight.canceller,
        // Its turn has come already.
        schedule: (_call, make) => make(away),
      };
      const answer = await client.json(call, onBehalfOfAll, (entry) => {
        flight.entry = entry;
      });
      // Before all who wait are told, so that who asks then asks anew.
      flight.forget();
      flight.answer.resolve(answer);
    } catch (error) {
      flight.forget();
      flight.answer.reject(error);
    }
  }

  function read(call: RestCall, caller: Caller): Promise<unknown> {
    const { signal } = caller;
    if (signal.aborted) return Promise.reject(givenUp(described(call), signal));
    const flight = flightOf(call, caller);
    flight.waiting += 1;
    return new Promise((resolve, reject) => {
      let isWaiting = true;
      let completeEntry: (() => void) | undefined;

      function end(): void {
        isWaiting = false;
        signal.removeEventListener('abort', giveUp);
        completeEntry?.();
      }
      function leave(error: unknown): void {
        if (!isWaiting) return;
        end();
        reject(error);
        flight.waiting -= 1;
        if (flight.waiting > 0) return;
        flight.forget();
        flight.canceller.abort(signal.reason);
      }
      function giveUp(): void {
        leave(givenUp(described(call), signal));
      }
      function follow(): void {
        if (!isWaiting) return;
        caller.left();
        completeEntry = enterShared(flight, call, caller);
      }
      function arrive(settle: () => void): void {
        if (!isWaiting) return;
        if (flight.entry !== undefined) caller.heard(flight.entry);
        end();
        settle();
      }

      signal.addEventListener('abort', giveUp);
      flight.answer.promise.then(
        (answer) => arrive(() => resolve(answer)),
        (error: unknown) => arrive(() => reject(error)),
      );
      if (flight.hasLeft) return follow();
      let isMaker = false;
      const takeTurn = async (away: Away) => {
        if (flight.hasLeft || !isWaiting) return;
        caller.spend(call);
        isMaker = true;
        caller.left();
        await send(flight, call, caller, away);
      };
      const turn = caller.schedule(call, takeTurn, signal);
      // With a BudgetExceededError, which is this operation's own business and nobody else's.
      turn.catch(leave);
      void flight.departure.promise.then(() => isMaker || follow());
    });
  }

  return {
    ...client,
    json: (call, caller, onEnter) => (isRead(call) ? read(call, caller) : client.json(call, caller, onEnter)),
  };
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
