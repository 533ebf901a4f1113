import type { ServerResponse } from 'node:http';
import type { Tenant } from '../../concurrency/tenant.ts';
import { type HttpError, overloaded } from './http-error.ts';

/** The routes whose requests are rejected above their limit. Labels wait instead (server/routes/label-queue.ts). */
export type LimitedRoute = 'graphql';

/** The maximum number of concurrent requests per route. One token has half. */
export type LoadSheddingLimits = Readonly<Record<LimitedRoute, number>>;

/**
 * Rejects requests above the limit of their route, and requests of a token above its half of it. A request counts from
 * the moment its token is known until its response closes. Refusals before that moment do not count: a pipelined one may
 * wait for long behind another response.
 */
export interface LoadShedder {
  /** The error if the route is at its limit now. The request is not counted. */
  overloadError(route: LimitedRoute): HttpError | undefined;
  /**
   * Counts a request.
   * @param response undefined for a call through `fetch`, which is neither limited nor counted.
   * @returns the error if the route or the token is at its limit. The request is not counted then.
   */
  admit(route: LimitedRoute, tenant: Tenant, response: ServerResponse | undefined): HttpError | undefined;
}

/** Creates a load shedder with these limits. */
export function createLoadShedder(limits: LoadSheddingLimits): LoadShedder {
  const routes = { graphql: new RouteLimit(limits.graphql, 'GraphQL requests') };
  return {
    overloadError: (route) => routes[route].overloadError(),
    // A closed response emits no second `close` and would be counted forever.
    admit: (route, tenant, response) =>
      response === undefined || response.closed ? undefined : routes[route].admit(tenant, response),
  };
}

class RouteLimit {
  readonly #limit: number;
  /** The plural name of the requests in error messages. */
  readonly #requests: string;
  #inFlight = 0;
  readonly #inFlightByTenant = new Map<string, number>();

  constructor(limit: number, requests: string) {
    this.#limit = limit;
    this.#requests = requests;
  }

  overloadError(): HttpError | undefined {
    return this.#inFlight < this.#limit
      ? undefined
      : tooMany(`${this.#requests} under way: ${this.#limit}, which is as many as this server takes.`);
  }

  admit({ id }: Tenant, response: ServerResponse): HttpError | undefined {
    const error = this.overloadError();
    if (error !== undefined) return error;
    const count = this.#inFlightByTenant.get(id) ?? 0;
    if (count >= Math.ceil(this.#limit / 2)) {
      return tooMany(
        `${this.#requests} under way: ${count} of this token, which is as many as one may have.`,
      );
    }
    this.#inFlight += 1;
    this.#inFlightByTenant.set(id, count + 1);
    response.once('close', () => {
      this.#inFlight -= 1;
      const remaining = (this.#inFlightByTenant.get(id) ?? 0) - 1;
      if (remaining > 0) this.#inFlightByTenant.set(id, remaining);
      else this.#inFlightByTenant.delete(id);
    });
    return undefined;
  }
}

function tooMany(reason: string): HttpError {
  return overloaded(`${reason} Try again soon.`);
}
