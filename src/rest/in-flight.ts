import { PerTenant, type Tenant } from './tenant.ts';

/**
 * For how long after its start work in flight may be joined, in milliseconds. A response is so much older than another one
 * at most, and one that is held up on its way answers nobody who asks later.
 */
export const joinableMs = 100;

/** The work of one tenant, all of it asked for since the write that `writes` counts last. */
interface Joinable<Work> {
  writes: number;
  byKey: Map<string, Work>;
}

/** The work in flight of each tenant, to be joined by what has an equal key. A write that ends hides all that began before. */
export class InFlight<Work> {
  readonly #joinable = new PerTenant<Joinable<Work>>();

  find(tenant: Tenant, key: string): Work | undefined {
    return this.#of(tenant).get(key);
  }

  /** `work` is found from now on, in place of other work with the same key. */
  add(tenant: Tenant, key: string, work: Work): void {
    this.#of(tenant).set(key, work);
  }

  /** `work` is not found any more. Work that has taken its place still is. */
  remove(tenant: Tenant, key: string, work: Work): void {
    const byKey = this.#of(tenant);
    if (byKey.get(key) === work) byKey.delete(key);
  }

  #of(tenant: Tenant): Map<string, Work> {
    const known = this.#joinable.of(tenant, () => ({ writes: tenant.writes, byKey: new Map() }));
    if (known.writes !== tenant.writes) {
      known.writes = tenant.writes;
      known.byKey = new Map();
    }
    return known.byKey;
  }
}
