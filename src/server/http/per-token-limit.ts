import type { ServerResponse } from 'node:http';
import type { Tenant } from '../../concurrency/tenant.ts';
import type { HttpError } from './http-error.ts';

/** Keeps the requests of one token from taking all of what a route admits. */
export interface PerTokenLimit {
  /**
   * Counts a request until its answer is taken or its client has gone, or refuses it where its token has too many.
   * @param response undefined where there is none, and nothing is counted.
   */
  admit(tenant: Tenant, response: ServerResponse | undefined): HttpError | undefined;
}

const retryAfterMs = 1_000;

/** `places`: how many the route has, of which one token has half. `what` is how a refusal calls its requests. */
export function createPerTokenLimit(places: number, what: string): PerTokenLimit {
  const maxOfToken = Math.ceil(places / 2);
  const taken = new Map<string, number>();

  function leave(id: string): void {
    const left = (taken.get(id) ?? 0) - 1;
    if (left > 0) taken.set(id, left);
    else taken.delete(id);
  }

  return {
    admit({ id }, response) {
      // Whose client has gone would never leave.
      if (response === undefined || response.closed) return undefined;
      const own = taken.get(id) ?? 0;
      if (own >= maxOfToken) {
        return {
          status: 503,
          code: 'OVERLOADED',
          message: `${what} under way: ${own} of this token, which is as many as one may have. Try again soon.`,
          retryable: true,
          retryAfterMs,
        };
      }
      taken.set(id, own + 1);
      response.once('close', () => leave(id));
      return undefined;
    },
  };
}
