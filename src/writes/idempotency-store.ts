/** The stored state of an idempotency key or of a lock. All of it is JSON, so any store can hold it. */
export interface KeyRecord {
  /** A digest of the input, from which the input cannot be recovered. */
  fingerprint: string;
  /** The last checkpoint of the work. Optional: some work has none. */
  progress?: unknown;
  /** The result of the work. Absent while the work runs, and after work whose outcome is unknown. */
  outcome?: unknown;
}

/**
 * Stores the records of keys. A key here is `<tenant>.<digest>`, which reveals neither the access token nor the
 * client's key.
 */
export interface IdempotencyStore {
  /**
   * Stores `record` under a free key, as one atomic step. A claimed key keeps its record, which is returned.
   * Several processes may share a store. A process works on the key if it was free or its record has no outcome.
   * Other processes wait in `claim` until that process calls `finish`.
   * @returns the earlier record; undefined if the key was free.
   */
  claim(key: string, record: KeyRecord): Promise<KeyRecord | undefined>;
  /** Replaces the record of a claimed key. The key's time of expiry does not change. */
  replace(key: string, record: KeyRecord): Promise<void>;
  /** Frees a key, as if no process had claimed the key. */
  release(key: string): Promise<void>;
  /**
   * The caller no longer works on the claimed key, after success or failure. For stores that several processes share.
   */
  finish?(key: string): Promise<void>;
}

/** Options of `createMemoryStore`. */
export interface MemoryStoreOptions {
  /**
   * The maximum number of keys. Beyond that, the tenant with the most keys loses its oldest key, so no tenant evicts
   * the keys of another.
   */
  maxKeys: number;
  /** How long a key is stored after `claim`, in milliseconds. By default 24 hours. */
  lifetimeMs?: number;
  /** Milliseconds of a monotonic clock. By default `performance.now`. */
  now?: () => number;
}

const dayMs = 24 * 60 * 60 * 1000;

/** Creates a store in the memory of this process. A restart loses the keys, and other servers do not see them. */
export function createMemoryStore({
  maxKeys,
  lifetimeMs = dayMs,
  now = () => performance.now(),
}: MemoryStoreOptions): IdempotencyStore {
  // The entries of each tenant, in the order of their claims, which is also the order of their expiry.
  const tenants = new Map<string, Map<string, Entry>>();
  let size = 0;

  function remove(key: string): void {
    const entries = tenants.get(tenantOf(key));
    if (entries?.delete(key) !== true) return;
    size -= 1;
    if (entries.size === 0) tenants.delete(tenantOf(key));
  }

  function removeExpired(entries: Map<string, Entry>): void {
    for (const [key, { expiresAtMs }] of entries) {
      if (expiresAtMs > now()) return;
      remove(key);
    }
  }

  function evict(): void {
    for (const entries of tenants.values()) removeExpired(entries);
    while (size >= maxKeys) {
      const [first, ...others] = tenants.values();
      const largest = others.reduce(
        (most, entries) => (entries.size > (most?.size ?? 0) ? entries : most),
        first,
      );
      const [oldest] = largest?.keys() ?? [];
      if (oldest === undefined) return;
      remove(oldest);
    }
  }

  return {
    claim: async (key, record) => {
      const entry = tenants.get(tenantOf(key))?.get(key);
      if (entry !== undefined && entry.expiresAtMs > now()) return entry.record;
      // Without this, the Map would keep an expired entry at its old position, and the order of expiry would be
      // wrong.
      remove(key);
      if (size >= maxKeys) evict();
      const entries = tenants.get(tenantOf(key)) ?? new Map<string, Entry>();
      removeExpired(entries);
      tenants.set(tenantOf(key), entries.set(key, { record, expiresAtMs: now() + lifetimeMs }));
      size += 1;
      return undefined;
    },
    replace: async (key, record) => {
      const entries = tenants.get(tenantOf(key));
      const entry = entries?.get(key);
      // An evicted key stays evicted: its time of expiry is lost.
      if (entry !== undefined) entries?.set(key, { ...entry, record });
    },
    release: async (key) => remove(key),
  };
}

interface Entry {
  record: KeyRecord;
  expiresAtMs: number;
}

function tenantOf(key: string): string {
  return key.slice(0, key.indexOf('.'));
}
