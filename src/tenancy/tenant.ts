import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Owner } from '../concurrency/owner.ts';

/** The holder of one access token. All operations with the same token share one Tenant object. */
export interface Tenant {
  /** A keyed hash of the access token. The hash may be stored and logged, unlike the token. */
  readonly id: string;
  /** The number of calls to `stopSharingPendingReads`. Work that started at a lower count may be stale. */
  writes: number;
}

/** Stops later reads of the tenant from joining pending work, whose result may be stale after a write. */
export function stopSharingPendingReads(tenant: Tenant): void {
  tenant.writes += 1;
}

/** A tenant object with the value of one PerTenant, under a symbol that only the PerTenant has. */
type TenantWithValue<Value> = Tenant & { [key: symbol]: Value | undefined };

/**
 * One value per tenant, garbage-collected with the tenant. The value is a property of the tenant object.
 * A WeakMap entry would double the cost of a new token and slow down garbage collection.
 */
export class PerTenant<Value> {
  readonly #key = Symbol('kept for a tenant');

  /** @returns the tenant's value, made on the first call. */
  of(tenant: Tenant, make: () => Value): Value {
    const owner = tenant as TenantWithValue<Value>;
    owner[this.#key] ??= make();
    return owner[this.#key] as Value; // Set by the line above.
  }

  /** @returns the tenant's value, if any. */
  known(tenant: Tenant): Value | undefined {
    return (tenant as TenantWithValue<Value>)[this.#key];
  }

  /** Removes the tenant's value. */
  drop(tenant: Tenant): void {
    (tenant as TenantWithValue<Value>)[this.#key] = undefined;
  }
}

/** The tenants of this process. */
export interface Tenants {
  /** @returns the tenant of an access token: the same object while an operation uses it or while it is remembered. */
  of(bearer: string): Tenant;
  /** @returns the tenant with this id, if one exists. */
  withId(id: string): Tenant | undefined;
  /** Records that REST rejected the tenant's access token (401). */
  reject(id: string): void;
  /** Records that REST accepted the access token. `sentAtMs`: when the call was sent, by `performance.now()`. */
  accept(id: string, sentAtMs: number): void;
  /** Whether REST rejected the access token and has not accepted it since. */
  isRejected(id: string): boolean;
  /** Keeps a tenant after its operations end. Only for tokens that REST accepted: made-up tokens would evict them. */
  remember(tenant: Tenant): void;
  /**
   * The owner of a request. An accepted token is an owner of its own.
   * @param connection undefined for a call through `fetch`.
   */
  owner(tenant: Tenant, connection: object | undefined): Owner;
  /** Whether REST has accepted the tenant's access token within an hour, and has not rejected it since. */
  isAccepted(tenant: Tenant): boolean;
}

/** Options of `createTenants`. */
export interface TenantsOptions {
  /** At most this many tenants are remembered, by default 1,000. The least recently used one is evicted first. */
  maxTenants?: number;
  /** The key of the hash. Processes with the same secret give a token the same id. */
  secret: Buffer;
}

/**
 * A hash that reveals nothing without the key. A length-extension attack, the reason for HMAC, is harmless here:
 * it appends SHA-256 padding, which has bytes that no access token may contain (server/http/request-checks.ts).
 */
function keyedHash(key: string, text: string): string {
  return hash('sha256', key + text, 'base64url');
}

const noConnection = {};
const maxAccepted = 100_000;
const acceptedMs = 3_600_000;
// More than the number of real tokens. Made-up tokens evict the oldest entries.
const maxRejected = 10_000;

/** Creates the tenants of this process. PerTenant adds values to them. */
export function createTenants({ maxTenants = 1_000, secret }: TenantsOptions): Tenants {
  const key = secret.toString('base64url');
  const remembered = new LRUCache<string, Tenant>({ max: maxTenants });
  // Also tenants that only an operation references. A second object with the same id would be wrong:
  // a write counted on one object would not end joining on the other.
  let tenantRefs = new Map<string, WeakRef<Tenant>>();
  let sweepAtSize = 2 * maxTenants;
  // When REST rejected each token. By id, because the tenant object may no longer exist.
  const rejectedAtMs = new LRUCache<string, number>({ max: maxRejected });

  // Ids only, in two generations: many more tokens than tenants are remembered. A Map of times would delete an entry for
  // each new one, which cost a tenth of a small request.
  let accepted = new Set<string>();
  let acceptedBefore = new Set<string>();
  let acceptedSinceMs = performance.now();

  function noteAccepted(id: string): void {
    if (accepted.size >= maxAccepted / 2 || performance.now() - acceptedSinceMs >= acceptedMs) {
      acceptedBefore = accepted;
      accepted = new Set();
      acceptedSinceMs = performance.now();
    }
    accepted.add(id);
  }

  const isAccepted = ({ id }: Tenant): boolean => accepted.has(id) || acceptedBefore.has(id);

  function create(id: string): Tenant {
    if (tenantRefs.size >= sweepAtSize) sweep();
    const tenant: Tenant = { id, writes: 0 };
    tenantRefs.set(id, new WeakRef(tenant));
    return tenant;
  }

  /** Removes garbage-collected tenants. Runs when the number of entries has doubled: its cost per tenant is low. */
  function sweep(): void {
    // A new Map: V8 keeps deleted entries of a Map in use until a full garbage collection.
    const aliveRefs = new Map<string, WeakRef<Tenant>>();
    for (const [id, tenant] of tenantRefs) {
      // `has` comes first, because `deref` keeps a tenant alive until the current job ends.
      if (remembered.has(id) || tenant.deref() !== undefined) aliveRefs.set(id, tenant);
    }
    tenantRefs = aliveRefs;
    sweepAtSize = 2 * Math.max(tenantRefs.size, maxTenants);
  }

  return {
    of(bearer) {
      const id = keyedHash(key, bearer);
      return remembered.get(id) ?? tenantRefs.get(id)?.deref() ?? create(id);
    },
    withId: (id) => tenantRefs.get(id)?.deref(),
    reject(id) {
      rejectedAtMs.set(id, performance.now());
      accepted.delete(id);
      acceptedBefore.delete(id);
    },
    accept(id, sentAtMs) {
      if (sentAtMs > (rejectedAtMs.peek(id) ?? Number.POSITIVE_INFINITY)) rejectedAtMs.delete(id);
    },
    isRejected: (id) => rejectedAtMs.has(id),
    remember(tenant) {
      remembered.set(tenant.id, tenant);
      noteAccepted(tenant.id);
    },
    isAccepted,
    owner: (token, connection = noConnection) => ({
      token,
      connection: isAccepted(token) ? undefined : connection,
    }),
  };
}
