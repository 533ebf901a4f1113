import { givenUp } from './attempt.ts';
import { described, isRead, queryString, type RestCall } from './call.ts';
import type { Caller } from './caller.ts';
import type { RestClient } from './client.ts';
import { enter, type LedgerEntry } from './ledger.ts';
import { createLifetime, type Lifetime } from './lifetime.ts';
import type { Tenant } from './tenant.ts';

/** A read under way, or on its way to REST in the queue of the operation that asked for it first. */
interface Flight {
  answer: Promise<unknown>;
  lifetime: Lifetime;
  /** Of the operation that asked first; undefined until the call has left its queue. */
  entry: LedgerEntry | undefined;
}

/**
 * A client in which equal reads of one tenant that are under way at the same time are one call. All get its answer or its
 * error, of which nothing is kept. The call ends early only when all have given up who wait for it. The answer is one
 * object for all, so nobody may change it.
 */
export function sharedReads(client: RestClient): RestClient {
  const flightsByTenant = new WeakMap<Tenant, Map<string, Flight>>();

  /** @throws BudgetExceededError, which is that operation's own business and nobody else's. */
  function begin(flights: Map<string, Flight>, key: string, call: RestCall, caller: Caller): Flight {
    caller.spend(call);
    const lifetime = createLifetime();
    const answer = client.json(call, { ...caller, signal: lifetime.signal }, (entry) => {
      flight.entry = entry;
    });
    const flight: Flight = { answer, lifetime, entry: undefined };
    flights.set(key, flight);
    // Before all who wait are told, so that who asks then asks anew. One that was given up may have a successor already.
    const forget = () => {
      if (flights.get(key) === flight) flights.delete(key);
    };
    answer.then(forget, forget);
    return flight;
  }

  async function read(call: RestCall, caller: Caller): Promise<unknown> {
    if (caller.signal.aborted) throw givenUp(described(call), caller.signal);
    const flights = flightsByTenant.get(caller.tenant) ?? new Map<string, Flight>();
    flightsByTenant.set(caller.tenant, flights);
    // A write that has ended since makes it another key: what was asked before may be answered as it was before.
    const key = `${caller.tenant.writes} ${call.path}${queryString(call)}`;
    const flight = flights.get(key);
    return flight === undefined || flight.lifetime.signal.aborted
      ? answerOf(begin(flights, key, call, caller), call, caller)
      : follow(flight, call, caller);
  }

  return {
    ...client,
    json: (call, caller, onEnter) => (isRead(call) ? read(call, caller) : client.json(call, caller, onEnter)),
  };
}

/** Waits for a call that another operation makes. It costs nothing of the budget, but is in the ledger. */
async function follow(flight: Flight, call: RestCall, caller: Caller): Promise<unknown> {
  const entry = enter(caller.ledger, call);
  entry.isShared = true;
  try {
    return await answerOf(flight, call, caller);
  } finally {
    const { status, bytes = 0, retries = 0 } = flight.entry ?? {};
    const durationMs = caller.ledger.elapsedMs() - entry.startMs;
    Object.assign(entry, { status, bytes, retries, durationMs });
  }
}

/** The answer to all, or an AbortedError as soon as this one gives up. */
function answerOf({ answer, lifetime }: Flight, call: RestCall, { signal }: Caller): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(givenUp(described(call), signal));
    const letGo = lifetime.join(signal);
    signal.addEventListener('abort', giveUp, { once: true });
    const end = () => {
      letGo();
      signal.removeEventListener('abort', giveUp);
    };
    answer.then(end, end);
    answer.then(resolve, reject);
  });
}
