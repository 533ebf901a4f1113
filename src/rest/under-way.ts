import { PassingMap } from './passing-map.ts';

/** Something that an operation has under way, which other operations of its tenant may share. */
export interface Shareable {
  /** The id of the tenant. Not the tenant, whom nothing is to hold that has ended. */
  readonly tenantId: string;
  /**
   * The same for all that are equal; undefined for one that is equal to no other. It is put together when it is first asked
   * for, perhaps long after, out of what held when the work was made.
   */
  readonly key: string | undefined;
}

/**
 * For how long after its start work may be joined, in milliseconds. An answer is so much older than another one at most, and
 * one that is held up on its way answers nobody who asks later.
 */
export const joinableMs = 100;

/**
 * What tenants have under way, to be found by what is equal to it. Most tenants have one thing under way at a time, for which
 * no key is put together: that and looking it up would cost more than all else that is done to share.
 */
export class UnderWay<Work extends Shareable> {
  readonly #byTenantId = new PassingMap<string, Work | PassingMap<string, Work>>();

  /** What is under way and equal to `work`. */
  equalTo(work: Work): Work | undefined {
    const known = this.#byTenantId.get(work.tenantId);
    if (known === undefined || work.key === undefined) return undefined;
    if (known instanceof PassingMap) return known.get(work.key);
    return known.key === work.key ? known : undefined;
  }

  /** `work` is found from now on, in the place of one that is equal to it. */
  add(work: Work): void {
    const known = this.#byTenantId.get(work.tenantId);
    if (known === undefined) {
      this.#byTenantId.set(work.tenantId, work);
    } else if (work.key !== undefined) {
      const several = known instanceof PassingMap ? known : this.#several(known);
      several.set(work.key, work);
    }
  }

  /** `work` is not found any more. One that has taken its place still is. */
  remove(work: Work): void {
    const known = this.#byTenantId.get(work.tenantId);
    if (known instanceof PassingMap) {
      if (work.key === undefined || known.get(work.key) !== work) return;
      known.delete(work.key);
      if (known.size > 0) return;
    } else if (known !== work) return;
    this.#byTenantId.delete(work.tenantId);
  }

  /** Where a tenant has another thing under way besides `alone`. */
  #several(alone: Work): PassingMap<string, Work> {
    const several = new PassingMap<string, Work>();
    if (alone.key !== undefined) several.set(alone.key, alone);
    this.#byTenantId.set(alone.tenantId, several);
    return several;
  }
}
