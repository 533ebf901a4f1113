import type { ServerResponse } from 'node:http';
import type { HttpError } from './http-error.ts';

/** The routes that have a limit of their own, so that one route cannot exhaust the other. */
export type LimitedRoute = 'graphql' | 'label';

/** The maximum number of concurrent requests per route. */
export type LoadSheddingLimits = Readonly<Record<LimitedRoute, number>>;

/** Rejects requests above the limit of their route. */
export interface LoadShedder {
  /** The error if the route is at its limit now. The request is not counted. */
  overloadError(route: LimitedRoute): HttpError | undefined;
  /**
   * Counts a request until its response closes.
   * @param response undefined for a call through `fetch`, which is neither limited nor counted.
   * @returns the error if the route is at its limit.
   */
  admit(route: LimitedRoute, response: ServerResponse | undefined): HttpError | undefined;
}

// Within a second a server that is only busy finishes some pending requests.
const retryAfterMs = 1_000;

/** Creates a load shedder with these limits. */
export function createLoadShedder(limits: LoadSheddingLimits): LoadShedder {
  const inFlight = { graphql: 0, label: 0 };
  const release = {
    graphql: () => {
      inFlight.graphql -= 1;
    },
    label: () => {
      inFlight.label -= 1;
    },
  };
  const httpError = (route: LimitedRoute) =>
    inFlight[route] >= limits[route] ? overloaded(route, limits[route]) : undefined;
  return {
    overloadError: httpError,
    admit(route, response) {
      // A closed response emits no second `close` and would be counted forever.
      if (response === undefined || response.closed) return undefined;
      const error = httpError(route);
      if (error !== undefined) return error;
      inFlight[route] += 1;
      // `close` is emitted once. `once` would create two more objects.
      response.on('close', release[route]);
      return undefined;
    },
  };
}

function overloaded(route: LimitedRoute, limit: number): HttpError {
  const requests = route === 'graphql' ? 'GraphQL requests' : 'Requests for labels';
  return {
    status: 503,
    code: 'OVERLOADED',
    message: `${requests} under way: ${limit}, which is as many as this server takes. Try again soon.`,
    retryable: true,
    retryAfterMs,
  };
}
