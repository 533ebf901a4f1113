import { PerTenant, type Tenant } from './tenant.ts';

/**
 * For how long after its start work in flight may be joined, in milliseconds. A response is so much older than another one
 * at most, and one that is held up on its way answers nobody who asks later.
 */
export const joinableMs = 100;

/** A Map is copied after at least so many additions, which cost more than the copy. */
const leastUntilCopy = 256;

/** The work of one tenant, all of it asked for since the write that `writes` counts last. */
interface Joinable<Work> {
  writes: number;
  byKey: Map<string, Work>;
  untilCopy: number;
}

/** The work in flight of each tenant, to be joined by what has an equal key. A write that ends hides all that began before. */
export class InFlight<Work> {
  readonly #joinable = new PerTenant<Joinable<Work>>();

  find(tenant: Tenant, key: string): Work | undefined {
    return this.#of(tenant).byKey.get(key);
  }

  /** `work` is found from now on, in place of other work with the same key. */
  add(tenant: Tenant, key: string, work: Work): void {
    const joinable = this.#of(tenant);
    joinable.byKey.set(key, work);
    joinable.untilCopy -= 1;
    if (joinable.untilCopy > 0) return;
    // V8 keeps each table that a Map has outgrown, and the work in it, until a full collection of garbage.
    joinable.byKey = new Map(joinable.byKey);
    joinable.untilCopy = Math.max(leastUntilCopy, 4 * joinable.byKey.size);
  }

  /** `work` is not found any more. Work that has taken its place still is. */
  remove(tenant: Tenant, key: string, work: Work): void {
    const { byKey } = this.#of(tenant);
    if (byKey.get(key) === work) byKey.delete(key);
  }

  #of(tenant: Tenant): Joinable<Work> {
    const { writes } = tenant;
    const joinable = this.#joinable.of(tenant, () => ({
      writes,
      byKey: new Map(),
      untilCopy: leastUntilCopy,
    }));
    if (joinable.writes !== writes) {
      joinable.writes = writes;
      joinable.byKey = new Map();
    }
    return joinable;
  }
}
