import { hash, randomBytes } from 'node:crypto';

/** What the operations of one bearer share with each other, and with nobody else's. */
export interface Tenant {
  /** A keyed hash of the bearer, which may be kept and logged as the bearer itself may not. */
  readonly id: string;
  /** Counts the writes that have ended. What was asked for before one is no answer to who asks after it. */
  writes: number;
}

export interface Tenants {
  /** The tenant of a bearer, who lives as long as an operation of theirs, and where remembered beyond it. */
  of(bearer: string): Tenant;
  /** Remembers a tenant beyond their operations; only one whom REST knows, so that no made-up token takes a place. */
  remember(tenant: Tenant): void;
}

export interface TenantsOptions {
  /** How many are remembered at most, 1,000 when left out; beyond that, those that have not been there for longest go. */
  maxTenants?: number;
  /** The key of the hash; by default random, so that a hash means nothing outside of this process. */
  secret?: Buffer;
}

/** A hash that tells nothing without the key. Twice, as HMAC does it; which itself takes thirty times as long in Node. */
function keyedHash(key: string, text: string): string {
  return hash('sha256', key + hash('sha256', key + text, 'base64url'), 'base64url');
}

/** The tenants of this process. What is to be kept for one is kept by its object, and goes with it. */
export function createTenants({
  maxTenants = 1_000,
  secret = randomBytes(32),
}: TenantsOptions = {}): Tenants {
  const key = secret.toString('base64url');
  // In the order in which they were last there.
  const remembered = new Map<string, Tenant>();
  let newest: Tenant | undefined;
  // Those too that only an operation of theirs holds: beside a second one of the same id, the writes of the one would
  // leave what is shared by the other as it is.
  const known = new Map<string, WeakRef<Tenant>>();
  const gone = new FinalizationRegistry<string>((id) => {
    if (known.get(id)?.deref() === undefined) known.delete(id);
  });

  function create(id: string): Tenant {
    const tenant = { id, writes: 0 };
    known.set(id, new WeakRef(tenant));
    gone.register(tenant, id);
    return tenant;
  }

  function remember(tenant: Tenant): void {
    if (tenant === newest) return;
    newest = tenant;
    remembered.delete(tenant.id);
    remembered.set(tenant.id, tenant);
    const [oldest] = remembered.keys();
    if (remembered.size > maxTenants && oldest !== undefined) remembered.delete(oldest);
  }

  return {
    of(bearer) {
      const id = keyedHash(key, bearer);
      const tenant = known.get(id)?.deref();
      if (tenant === undefined) return create(id);
      if (remembered.has(id)) remember(tenant);
      return tenant;
    },
    remember,
  };
}
