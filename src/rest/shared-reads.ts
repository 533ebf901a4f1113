import { givenUp } from './attempt.ts';
import { isRead, queryString, type RestCall } from './call.ts';
import type { Caller } from './caller.ts';
import type { RestClient } from './client.ts';
import { Flight } from './flight.ts';
import { PassingMap } from './passing-map.ts';

/**
 * A client in which equal reads of one tenant that are under way at the same time are one call. All get its answer or its
 * error, of which nothing is kept. The call ends early only when all have given up who wait for it. The answer is one
 * object for all, so nobody may change it.
 */
export function sharedReads(client: RestClient): RestClient {
  const flights = new PassingMap<string, Flight>();

  function read(call: RestCall, caller: Caller): Promise<unknown> {
    const { tenant, signal } = caller;
    if (signal.aborted) return Promise.reject(givenUp(call, signal));
    // A write that has ended since makes it another key: what was asked before may be answered as it was before.
    const key = `${tenant.id} ${tenant.writes} ${call.path}${queryString(call)}`;
    let flight = flights.get(key);
    if (flight === undefined) {
      flight = new Flight(client, call, key, flights);
      flights.set(key, flight);
    }
    return flight.board(caller);
  }

  return {
    ...client,
    json: (call, caller) => (isRead(call) ? read(call, caller) : client.json(call, caller)),
  };
}
