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
    return this.#known(tenant)?.byKey.get(key);
  }

  /** `work` is found from now on, in place of other work with the same key. */
  add(tenant: Tenant, key: string, work: Work): void {
    const joinable = this.#known(tenant) ?? this.#joinable.of(tenant, () => nothingOf(tenant));
    joinable.byKey.set(key, work);
    joinable.untilCopy -= 1;
    if (joinable.untilCopy > 0) return;
    // V8 keeps each table that a Map has outgrown, and the work in it, until a full collection of garbage.
    joinable.byKey = new Map(joinable.byKey);
    joinable.untilCopy = Math.max(leastUntilCopy, 4 * joinable.byKey.size);
  }

  /** `work` is not found any more. Work that has taken its place still is. */
  remove(tenant: Tenant, key: string, work: Work): void {
    const byKey = this.#known(tenant)?.byKey;
    if (byKey === undefined || byKey.get(key) !== work) return;
    byKey.delete(key);
    // Most tenants have one operation at a time, and many are remembered beyond it.
    if (byKey.size === 0) this.#joinable.drop(tenant);
  }

  #known(tenant: Tenant): Joinable<Work> | undefined {
    const joinable = this.#joinable.known(tenant);
    if (joinable === undefined || joinable.writes === tenant.writes) return joinable;
    this.#joinable.drop(tenant);
    return undefined;
  }
}

function nothingOf<Work>({ writes }: Tenant): Joinable<Work> {
  return { writes, byKey: new Map(), untilCopy: leastUntilCopy };
}
