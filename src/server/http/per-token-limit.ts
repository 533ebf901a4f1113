import type { ServerResponse } from 'node:http';
import type { Tenant } from '../../concurrency/tenant.ts';
import type { HttpError } from './http-error.ts';

/** Limits the concurrent requests of one access token, so that one token cannot exhaust a route. */
export interface PerTokenLimit {
  /**
   * Counts a request until its response closes.
   * @param response undefined for a call through `fetch`, which is neither limited nor counted.
   * @returns the error if the token is at its limit.
   */
  admit(tenant: Tenant, response: ServerResponse | undefined): HttpError | undefined;
}

const retryAfterMs = 1_000;

/**
 * Gives each token half of the requests of a route.
 * @param routeLimit the maximum number of concurrent requests of the route.
 * @param requests the name of the requests in the error message.
 */
export function createPerTokenLimit(routeLimit: number, requests: string): PerTokenLimit {
  const maxPerToken = Math.ceil(routeLimit / 2);
  const countByTenant = new Map<string, number>();

  function release(id: string): void {
    const remaining = (countByTenant.get(id) ?? 0) - 1;
    if (remaining > 0) countByTenant.set(id, remaining);
    else countByTenant.delete(id);
  }

  return {
    admit({ id }, response) {
      // A closed response emits no second `close` and would be counted forever.
      if (response === undefined || response.closed) return undefined;
      const count = countByTenant.get(id) ?? 0;
      if (count >= maxPerToken) {
        return {
          status: 503,
          code: 'OVERLOADED',
          message: `${requests} under way: ${count} of this token, which is as many as one may have. Try again soon.`,
          retryable: true,
          retryAfterMs,
        };
      }
      countByTenant.set(id, count + 1);
      response.once('close', () => release(id));
      return undefined;
    },
  };
}
