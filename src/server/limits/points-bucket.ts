import { counted } from '../../base/counted.ts';
import { PerTenant, type Tenant } from '../../tenancy/tenant.ts';
import type { HttpError } from '../http/http-error.ts';

/** The cost of an operation in `extensions.cost`. */
export interface PointCost {
  points: number;
  /** The points that the token has left. */
  remaining: number;
  /** Milliseconds until the token has all of its points again. */
  resetMs: number;
}

/** The points that a token had at a time of `performance.now()`. Negative after an operation above the burst. */
interface Bucket {
  points: number;
  measuredAtMs: number;
}

/** A token saves the points of this time. A page that starts several operations is then not refused. */
const burstSeconds = 10;

export type RateLimit = ReturnType<typeof createRateLimit>;

/** A rate limit for each token, in points per second (docs/design/what-bounds-a-request.md#points). */
export function createRateLimit(pointsPerSecond: number, onRefused?: () => void) {
  // Kept with the tenant: made-up tokens evict no bucket of a token that REST knows.
  const buckets = new PerTenant<Bucket>();
  const burst = burstSeconds * pointsPerSecond;

  function refilledBucket(tenant: Tenant): Bucket {
    const now = performance.now();
    const bucket = buckets.of(tenant, () => ({ points: burst, measuredAtMs: now }));
    const refilled = bucket.points + ((now - bucket.measuredAtMs) / 1000) * pointsPerSecond;
    bucket.points = Math.min(burst, refilled);
    bucket.measuredAtMs = now;
    return bucket;
  }

  function msFor(points: number): number {
    return Math.ceil((points / pointsPerSecond) * 1000);
  }

  function toCost(points: number, bucket: Bucket): PointCost {
    const remaining = Math.max(0, Math.floor(bucket.points));
    return { points, remaining, resetMs: msFor(burst - bucket.points) };
  }

  return {
    /**
     * Takes the points of a request, before it runs. They are never given back.
     * A request that costs more than the burst runs when the token has all of its points, and leaves a debt.
     * @returns the error if the token has too few points. Nothing is taken then.
     */
    charge(tenant: Tenant, points: number): { cost: PointCost; error: HttpError | undefined } {
      const bucket = refilledBucket(tenant);
      const missing = Math.min(points, burst) - bucket.points;
      if (missing <= 0) bucket.points -= points;
      const cost = toCost(points, bucket);
      if (missing <= 0) return { cost, error: undefined };
      onRefused?.();
      const retryAfterMs = msFor(missing);
      const message =
        `The request costs ${counted(points, 'point')}, but this token has ${cost.remaining} left. Nothing ran. ` +
        `Retry in ${retryAfterMs} ms, or request fewer objects.`;
      return { cost, error: { status: 429, code: 'RATE_LIMITED', message, retryable: true, retryAfterMs } };
    },
    /** Takes further points of a request that has run, even if the token lacks them. @returns its whole cost. */
    chargeMore(tenant: Tenant, { points: charged }: PointCost, points: number): PointCost {
      const bucket = refilledBucket(tenant);
      bucket.points -= points;
      return toCost(charged + points, bucket);
    },
  };
}
