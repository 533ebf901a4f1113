import { givenUp } from './attempt.ts';
import { isRead, type RestCall } from './call.ts';
import type { Caller } from './caller.ts';
import type { RestClient } from './client.ts';
import { Flight } from './flight.ts';
import { UnderWay } from './under-way.ts';

/**
 * A client in which equal reads of one tenant are one call, where they are asked for before it is sent or soon after. All get
 * its answer or its error, of which nothing is kept. The call ends early only when all have given up who wait for it. The
 * answer is one object for all, so nobody may change it.
 */
export function sharedReads(client: RestClient): RestClient {
  const flights = new UnderWay<Flight>();

  function read(call: RestCall, caller: Caller): Promise<unknown> {
    const { tenant, signal } = caller;
    if (signal.aborted) return Promise.reject(givenUp(call, signal));
    const own = new Flight(client, call, tenant, flights);
    const known = flights.equalTo(own);
    if (known?.isJoinable === true) return known.board(caller);
    flights.add(own);
    return own.board(caller);
  }

  return {
    ...client,
    json: (call, caller) => (isRead(call) ? read(call, caller) : client.json(call, caller)),
  };
}
