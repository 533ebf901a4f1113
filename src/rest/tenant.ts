import { createHmac, randomBytes } from 'node:crypto';

/** What the operations of one bearer share with each other, and with nobody else's. */
export interface Tenant {
  /** A keyed hash of the bearer, which may be kept and logged as the bearer itself may not. */
  readonly id: string;
  /** Counts the writes that have ended. What was asked for before one is no answer to who asks after it. */
  writes: number;
}

export interface Tenants {
  of(bearer: string): Tenant;
}

export interface TenantsOptions {
  /** How many are remembered at most, 1,000 when left out; beyond that, those that have not been there for longest go. */
  maxTenants?: number;
  /** The key of the hash; by default random, so that a hash means nothing outside of this process. */
  secret?: Buffer;
}

/** The tenants of this process. What is to be kept for one is kept by its object, and goes with it. */
export function createTenants({
  maxTenants = 1_000,
  secret = randomBytes(32),
}: TenantsOptions = {}): Tenants {
  // In the order in which they were last there.
  const tenants = new Map<string, Tenant>();
  return {
    of(bearer) {
      const id = createHmac('sha256', secret).update(bearer).digest('base64url');
      const tenant = tenants.get(id) ?? { id, writes: 0 };
      tenants.delete(id);
      tenants.set(id, tenant);
      const [oldest] = tenants.keys();
      if (tenants.size > maxTenants && oldest !== undefined) tenants.delete(oldest);
      return tenant;
    },
  };
}
