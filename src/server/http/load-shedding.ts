import type { ServerResponse } from 'node:http';
import type { Refusal } from './http-error.ts';

/** Routes whose requests are limited apart, so that none takes another's room. */
export type LimitedRoute = 'graphql' | 'label';

/** How many requests of each route are under way at most. */
export type AdmissionLimits = Readonly<Record<LimitedRoute, number>>;

export interface Admission {
  /** Why a request would not be admitted at present; undefined where it would. Counts nothing. */
  refusal(route: LimitedRoute): Refusal | undefined;
  /**
   * Counts a request until its answer is taken or its client has gone, or refuses it where too many are under way.
   * @param response undefined where there is none, and nothing is counted.
   */
  admit(route: LimitedRoute, response: ServerResponse | undefined): Refusal | undefined;
}

// By then a few of those under way have been answered, if this server is merely busy.
const retryAfterMs = 1_000;

export function createAdmission(limits: AdmissionLimits): Admission {
  const underWay = { graphql: 0, label: 0 };
  const leave = {
    graphql: () => {
      underWay.graphql -= 1;
    },
    label: () => {
      underWay.label -= 1;
    },
  };
  const refusal = (route: LimitedRoute) =>
    underWay[route] >= limits[route] ? overloaded(route, limits[route]) : undefined;
  return {
    refusal,
    admit(route, response) {
      // Whose client has gone would never leave.
      if (response === undefined || response.closed) return undefined;
      const refused = refusal(route);
      if (refused !== undefined) return refused;
      underWay[route] += 1;
      // It closes once, and `once` would make two objects more.
      response.on('close', leave[route]);
      return undefined;
    },
  };
}

function overloaded(route: LimitedRoute, limit: number): Refusal {
  const what = route === 'graphql' ? 'GraphQL requests' : 'Requests for labels';
  return {
    status: 503,
    code: 'OVERLOADED',
    message: `${what} under way: ${limit}, which is as many as this server takes. Try again soon.`,
    retryable: true,
    retryAfterMs,
  };
}
