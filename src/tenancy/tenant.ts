import { hash, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Owner } from '../concurrency/owner.ts';

/** The holder of one access token. All operations with the same token share one Tenant object. */
export interface Tenant {
  /** A keyed hash of the access token. The hash may be stored and logged, unlike the token. */
  readonly id: string;
  /** The number of writes, and of rejections of the token. Reads that started at a lower count may be stale. */
  writes: number;
  /** A value of each PerTenant, under a symbol that only the PerTenant has. */
  [key: symbol]: unknown;
}

/**
 * One value per tenant, garbage-collected with the tenant. The value is a property of the tenant object.
 * A WeakMap entry would double the cost of a new token and slow down garbage collection.
 */
export class PerTenant<Value> {
  readonly #key = Symbol('kept for a tenant');

  /** @returns the tenant's value, made on the first call. */
  of(tenant: Tenant, make: () => Value): Value {
    tenant[this.#key] ??= make();
    return tenant[this.#key] as Value;
  }

  /** @returns the tenant's value, if any. */
  known(tenant: Tenant): Value | undefined {
    return tenant[this.#key] as Value | undefined;
  }

  drop(tenant: Tenant): void {
    tenant[this.#key] = undefined;
  }
}

export interface TenantsOptions {
  /** At most this many tenants are remembered, by default 1,000. The least recently used one is evicted first. */
  maxTenants?: number;
}

/** The accepted tokens that are known at most, half of them in each of two generations. */
const maxAccepted = 100_000;
/** The age at which a generation becomes the one before. After twice this age, it is forgotten. */
const generationMs = 3_600_000;

/** The tenants of this process. PerTenant adds values to them. */
export class Tenants {
  readonly #hashKey = randomBytes(32).toString('base64url');
  readonly #remembered: LRUCache<string, Tenant>;
  // Also tenants that only an operation references. A second object with the same id would be wrong: a write counted on
  // one object would not make stale what the other object keeps, such as counts of statuses.
  #tenantRefs = new Map<string, WeakRef<Tenant>>();
  #sweepAtSize: number;
  // The ids of accepted tokens, many more than tenants are remembered. They are in two generations, of which the older
  // one is dropped as a whole. A Map of times would delete an entry for each new one: a tenth of a small request.
  #accepted = new Set<string>();
  #acceptedBefore = new Set<string>();
  #generationSinceMs = performance.now();

  constructor({ maxTenants = 1_000 }: TenantsOptions = {}) {
    this.#remembered = new LRUCache({ max: maxTenants });
    this.#sweepAtSize = 2 * maxTenants;
  }

  /** The tenant of an access token: the same object while an operation uses it or while it is remembered. */
  of(bearer: string): Tenant {
    return this.#of(this.#toId(bearer));
  }

  /**
   * The tenant of an access token that REST has accepted in the last one to two hours, and has not rejected since. Other
   * tokens have no result: a new tenant object would cost a tenth of a small request.
   */
  accepted(bearer: string): Tenant | undefined {
    const id = this.#toId(bearer);
    return this.#isAccepted(id) ? this.#of(id) : undefined;
  }

  #toId(bearer: string): string {
    // Reveals nothing without the key. A length-extension attack, the reason for HMAC, is harmless here: it appends
    // SHA-256 padding, which has bytes that no access token may contain (server/operations/bearer.ts).
    return hash('sha256', this.#hashKey + bearer, 'base64url');
  }

  #of(id: string): Tenant {
    return this.#remembered.get(id) ?? this.#tenantRefs.get(id)?.deref() ?? this.#create(id);
  }

  /** Records that REST accepted the access token. Only then a tenant is kept: made-up tokens would evict the others. */
  accept(tenant: Tenant): void {
    this.#remembered.set(tenant.id, tenant);
    this.#forgetOld();
    if (this.#accepted.size >= maxAccepted / 2) this.#beginGeneration(this.#accepted);
    this.#accepted.add(tenant.id);
  }

  #forgetOld(): void {
    const ageMs = performance.now() - this.#generationSinceMs;
    if (ageMs >= generationMs) this.#beginGeneration(ageMs < 2 * generationMs ? this.#accepted : new Set());
  }

  #beginGeneration(before: Set<string>): void {
    this.#acceptedBefore = before;
    this.#accepted = new Set();
    this.#generationSinceMs = performance.now();
  }

  /** Records that REST rejected the tenant's access token (401). */
  reject(id: string): void {
    this.#accepted.delete(id);
    this.#acceptedBefore.delete(id);
  }

  /**
   * The owner of a request. An accepted token is an owner of its own. Other tokens share by their connections, because
   * anybody can make up tokens.
   */
  owner(token: Tenant, connection: object): Owner {
    return { token, connection: this.#isAccepted(token.id) ? undefined : connection };
  }

  #isAccepted(id: string): boolean {
    this.#forgetOld();
    return this.#accepted.has(id) || this.#acceptedBefore.has(id);
  }

  #create(id: string): Tenant {
    if (this.#tenantRefs.size >= this.#sweepAtSize) this.#sweep();
    const tenant: Tenant = { id, writes: 0 };
    this.#tenantRefs.set(id, new WeakRef(tenant));
    return tenant;
  }

  /** Removes garbage-collected tenants. Runs when the number of entries has doubled: its cost per tenant is low. */
  #sweep(): void {
    // A new Map: V8 keeps deleted entries of a Map in use until a full garbage collection.
    const aliveRefs = new Map<string, WeakRef<Tenant>>();
    for (const [id, tenant] of this.#tenantRefs) {
      // `has` comes first, because `deref` keeps a tenant alive until the current job ends.
      if (this.#remembered.has(id) || tenant.deref() !== undefined) aliveRefs.set(id, tenant);
    }
    this.#tenantRefs = aliveRefs;
    this.#sweepAtSize = 2 * Math.max(aliveRefs.size, this.#remembered.max);
  }
}
