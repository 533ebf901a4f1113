import type { ServerResponse } from 'node:http';
import type { HttpError } from './http-error.ts';

/** Routes whose requests are limited apart, so that none takes another's room. */
export type LimitedRoute = 'graphql' | 'label';

/** How many requests of each route are under way at most. */
export type LoadSheddingLimits = Readonly<Record<LimitedRoute, number>>;

export interface LoadShedder {
  /** Why a request would not be admitted at present; undefined where it would. Counts nothing. */
  httpError(route: LimitedRoute): HttpError | undefined;
  /**
   * Counts a request until its answer is taken or its client has gone, or refuses it where too many are under way.
   * @param response undefined where there is none, and nothing is counted.
   */
  admit(route: LimitedRoute, response: ServerResponse | undefined): HttpError | undefined;
}

// By then a few of those under way have been answered, if this server is merely busy.
const retryAfterMs = 1_000;

export function createLoadShedder(limits: LoadSheddingLimits): LoadShedder {
  const inFlight = { graphql: 0, label: 0 };
  const leave = {
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
    httpError,
    admit(route, response) {
      // Whose client has gone would never leave.
      if (response === undefined || response.closed) return undefined;
      const refused = httpError(route);
      if (refused !== undefined) return refused;
      inFlight[route] += 1;
      // It closes once, and `once` would make two objects more.
      response.on('close', leave[route]);
      return undefined;
    },
  };
}

function overloaded(route: LimitedRoute, limit: number): HttpError {
  const what = route === 'graphql' ? 'GraphQL requests' : 'Requests for labels';
  return {
    status: 503,
    code: 'OVERLOADED',
    message: `${what} under way: ${limit}, which is as many as this server takes. Try again soon.`,
    retryable: true,
    retryAfterMs,
  };
}
