import { hash, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** What the operations of one bearer share with each other, and with nobody else's. */
export interface Tenant {
  /** A keyed hash of the bearer, which may be kept and logged as the bearer itself may not. */
  readonly id: string;
  /** Counts the writes that have ended, and the like. What was asked for before one is no answer to who asks after it. */
  writes: number;
}

/** From here on, nothing that is asked for joins what was asked for before. */
export function endJoining(tenant: Tenant): void {
  tenant.writes += 1;
}

/** A tenant with what is kept for them. Nothing else has its key. */
type Keeper<Value> = Tenant & { [key: symbol]: Value | undefined };

/**
 * What is kept for each tenant, by their object itself, and goes with them. A WeakMap would do the same, but costs as much as
 * all else that is made for a new token, and collections of garbage most for each entry.
 */
export class PerTenant<Value> {
  readonly #key = Symbol('kept for a tenant');

  of(tenant: Tenant, make: () => Value): Value {
    const keeper = tenant as Keeper<Value>;
    keeper[this.#key] ??= make();
    return keeper[this.#key] as Value; // Just seen to be there.
  }

  /** What is kept, if anything. */
  known(tenant: Tenant): Value | undefined {
    return (tenant as Keeper<Value>)[this.#key];
  }

  /** Keeps nothing any more. */
  drop(tenant: Tenant): void {
    (tenant as Keeper<Value>)[this.#key] = undefined;
  }
}

export interface Tenants {
  /** The tenant of a bearer, who lives as long as an operation of theirs, and where remembered beyond it. */
  of(bearer: string): Tenant;
  /** The tenant of an id, where there is one at present. */
  withId(id: string): Tenant | undefined;
  /** Notes that REST does not take the bearer of the tenant of this id (401). */
  refuse(id: string): void;
  /** Notes that REST has taken it, in answer to a call that was sent at this time of `performance.now()`. */
  accept(id: string, sentAt: number): void;
  /** Whether REST has refused the bearer, and has not taken it since. */
  isRefused(id: string): boolean;
  /** Remembers a tenant beyond their operations; only one whom REST knows, so that no made-up token takes a place. */
  remember(tenant: Tenant): void;
}

export interface TenantsOptions {
  /** How many are remembered at most, 1,000 when left out; beyond that, those that have not been there for longest go. */
  maxTenants?: number;
  /** The key of the hash; by default random, so that a hash means nothing outside of this process. */
  secret?: Buffer;
}

/**
 * A hash that tells nothing without the key. HMAC hashes twice, as from a hash like this one, without its key, that of the
 * same text with SHA-256's padding and anything behind it can be worked out. Here that is nobody's: the padding holds bytes
 * that no access token has (server/bearer.ts).
 */
function keyedHash(key: string, text: string): string {
  return hash('sha256', key + text, 'base64url');
}

// More than there are tokens; made-up ones push out the oldest.
const maxRefused = 10_000;

/** The tenants of this process. What is to be kept for one is kept by its object, and goes with it. */
export function createTenants({
  maxTenants = 1_000,
  secret = randomBytes(32),
}: TenantsOptions = {}): Tenants {
  const key = secret.toString('base64url');
  const remembered = new LRUCache<string, Tenant>({ max: maxTenants });
  // All that are there, those too that only an operation holds: beside a second tenant of the same id, the writes of the
  // one would leave what the other shares as it is.
  let living = new Map<string, WeakRef<Tenant>>();
  let sizeToSweep = 2 * maxTenants;
  // By id, as the tenant may be gone by then; the value is when that was.
  const refused = new LRUCache<string, number>({ max: maxRefused });

  function create(id: string): Tenant {
    if (living.size >= sizeToSweep) sweep();
    const tenant: Tenant = { id, writes: 0 };
    living.set(id, new WeakRef(tenant));
    return tenant;
  }

  /** Forgets those that are gone. Each time there are twice as many as were left, so that it costs each one little. */
  function sweep(): void {
    // A new Map, as one whose entries come and go keeps those that went until a full collection of garbage.
    const left = new Map<string, WeakRef<Tenant>>();
    for (const [id, tenant] of living) {
      // To look at a tenant that is there keeps it until the present job has ended.
      if (remembered.has(id) || tenant.deref() !== undefined) left.set(id, tenant);
    }
    living = left;
    sizeToSweep = 2 * Math.max(living.size, maxTenants);
  }

  return {
    of(bearer) {
      const id = keyedHash(key, bearer);
      return remembered.get(id) ?? living.get(id)?.deref() ?? create(id);
    },
    withId: (id) => living.get(id)?.deref(),
    refuse: (id) => void refused.set(id, performance.now()),
    accept(id, sentAt) {
      if (sentAt > (refused.peek(id) ?? Number.POSITIVE_INFINITY)) refused.delete(id);
    },
    isRefused: (id) => refused.has(id),
    remember: (tenant) => void remembered.set(tenant.id, tenant),
  };
}
