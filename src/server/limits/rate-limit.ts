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

/** A rate limit for each token, in points per second (docs/decisions/0026-one-rule-of-owners.md). */
export class RateLimit {
  // Kept with the tenant: made-up tokens evict no bucket of a token that REST knows.
  readonly #buckets = new PerTenant<Bucket>();
  readonly #pointsPerSecond: number;
  readonly #burst: number;
  readonly #onRefused: (() => void) | undefined;

  constructor(pointsPerSecond: number, onRefused?: () => void) {
    this.#pointsPerSecond = pointsPerSecond;
    this.#onRefused = onRefused;
    this.#burst = burstSeconds * pointsPerSecond;
  }

  /**
   * Takes the points of a request, before it runs. They are never given back.
   * A request that costs more than the burst runs when the token has all of its points, and leaves a debt.
   * @returns the error if the token has too few points. Nothing is taken then.
   */
  charge(tenant: Tenant, points: number): { cost: PointCost; error: HttpError | undefined } {
    const bucket = this.#refilledBucket(tenant);
    const missing = Math.min(points, this.#burst) - bucket.points;
    if (missing <= 0) bucket.points -= points;
    const cost = this.#cost(points, bucket);
    if (missing <= 0) return { cost, error: undefined };
    this.#onRefused?.();
    const retryAfterMs = this.#msFor(missing);
    const message =
      `The request costs ${points} points, but this token has ${cost.remaining} left. Nothing ran. ` +
      `Retry in ${retryAfterMs} ms, or request fewer objects.`;
    return { cost, error: { status: 429, code: 'RATE_LIMITED', message, retryable: true, retryAfterMs } };
  }

  /** Takes further points of a request that has run, even if the token lacks them. @returns its whole cost. */
  chargeMore(tenant: Tenant, { points: charged }: PointCost, points: number): PointCost {
    const bucket = this.#refilledBucket(tenant);
    bucket.points -= points;
    return this.#cost(charged + points, bucket);
  }

  #refilledBucket(tenant: Tenant): Bucket {
    const now = performance.now();
    const bucket = this.#buckets.of(tenant, () => ({ points: this.#burst, measuredAtMs: now }));
    const refilled = bucket.points + ((now - bucket.measuredAtMs) / 1000) * this.#pointsPerSecond;
    bucket.points = Math.min(this.#burst, refilled);
    bucket.measuredAtMs = now;
    return bucket;
  }

  #cost(points: number, bucket: Bucket): PointCost {
    return {
      points,
      remaining: Math.max(0, Math.floor(bucket.points)),
      resetMs: this.#msFor(this.#burst - bucket.points),
    };
  }

  #msFor(points: number): number {
    return Math.ceil((points / this.#pointsPerSecond) * 1000);
  }
}
