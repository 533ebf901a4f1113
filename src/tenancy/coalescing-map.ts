import { PerTenant, type Tenant } from './tenant.ts';

/**
 * How long after its start other callers may join a piece of work, in milliseconds.
 * A shared response is at most this much older than a separate response. Later callers do not wait for a slow request
 * (docs/decisions/0008-shared-in-flight-requests.md).
 */
export const joinableMs = 100;

/** The minimum number of additions before a Map is copied. The copy costs less than these additions. */
const minAddsBeforeCopy = 256;

/** The pending work of one tenant. All of it started after the tenant's write number `writes`. */
interface JoinableWork<Work> {
  writes: number;
  byKey: Map<string, Work>;
  addsBeforeCopy: number;
}

/** The pending work of each tenant by key. The end of a write hides all work that started before it. */
export class CoalescingMap<Work> {
  readonly #joinable = new PerTenant<JoinableWork<Work>>();

  /** @returns pending work of the tenant with this key, if any. */
  find(tenant: Tenant, key: string): Work | undefined {
    return this.#current(tenant)?.byKey.get(key);
  }

  /** Makes `work` findable. It replaces earlier work with the same key. */
  add(tenant: Tenant, key: string, work: Work): void {
    const joinable = this.#current(tenant) ?? this.#joinable.of(tenant, () => emptyFor(tenant));
    joinable.byKey.set(key, work);
    joinable.addsBeforeCopy -= 1;
    if (joinable.addsBeforeCopy > 0) return;
    // V8 keeps each outgrown table of a Map, and the work in it, until a full garbage collection.
    joinable.byKey = new Map(joinable.byKey);
    joinable.addsBeforeCopy = Math.max(minAddsBeforeCopy, 4 * joinable.byKey.size);
  }

  /** Removes `work` when it has ended. Other work that replaced it under the same key stays. */
  remove(tenant: Tenant, key: string, work: Work): void {
    const byKey = this.#current(tenant)?.byKey;
    if (byKey === undefined || byKey.get(key) !== work) return;
    byKey.delete(key);
    // An empty Map would outlive the operation: many tenants are remembered, and most run one operation at a time.
    if (byKey.size === 0) this.#joinable.drop(tenant);
  }

  /** The tenant's work since the last write; drops older work. */
  #current(tenant: Tenant): JoinableWork<Work> | undefined {
    const joinable = this.#joinable.known(tenant);
    if (joinable === undefined || joinable.writes === tenant.writes) return joinable;
    this.#joinable.drop(tenant);
    return undefined;
  }
}

function emptyFor<Work>({ writes }: Tenant): JoinableWork<Work> {
  return { writes, byKey: new Map(), addsBeforeCopy: minAddsBeforeCopy };
}
