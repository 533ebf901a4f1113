/** What is known of the work that a key was given to. All of it is JSON, so that any store can hold it. */
export interface KeyRecord {
  /** Stands for the input, without telling it. */
  fingerprint: string;
  /** How far the work has come; undefined where it keeps no such thing. */
  progress?: unknown;
  /** What came of it; absent while that is not known, because it runs or because no answer came. */
  outcome?: unknown;
}

/**
 * Where keys are remembered. A key here is `<tenant>.<digest>`; neither part tells the token or the client's key.
 */
export interface IdempotencyStore {
  /**
   * Takes a key that is free, as one step; where it is taken, nothing changes and its record is answered. Several processes
   * may share a store: one whose record has no outcome then, or whose key was free, is at work on it until it says `ended`,
   * and the others wait here for that.
   */
  claim(key: string, record: KeyRecord): Promise<KeyRecord | undefined>;
  /** Puts a record in the place of the one that has been claimed; its time of life stays as it is. */
  replace(key: string, record: KeyRecord): Promise<void>;
  /** Frees a key, as if it had never been given. */
  release(key: string): Promise<void>;
  /** The work on a claimed key is over for now, in whatever way. For stores that several processes share. */
  ended?(key: string): Promise<void>;
}

export interface MemoryStoreOptions {
  /** How many keys are remembered at most. Beyond, the tenant with most keys loses its oldest, so that none pushes out another's. */
  maxKeys: number;
  /** How long a key is remembered after it was claimed, in milliseconds; a day when left out. */
  lifetimeMs?: number;
  /** Milliseconds on a clock that never goes back. */
  now?: () => number;
}

const dayMs = 24 * 60 * 60 * 1000;

/** A store in this process's memory. A restart forgets, and other servers don't know of it. */
export function createMemoryStore({
  maxKeys,
  lifetimeMs = dayMs,
  now = () => performance.now(),
}: MemoryStoreOptions): IdempotencyStore {
  // Of each tenant, in the order in which the keys were claimed, which is also that in which they expire.
  const tenants = new Map<string, Map<string, Entry>>();
  let size = 0;

  function remove(key: string): void {
    const entries = tenants.get(tenantOf(key));
    if (entries?.delete(key) !== true) return;
    size -= 1;
    if (entries.size === 0) tenants.delete(tenantOf(key));
  }

  function removeExpired(entries: Map<string, Entry>): void {
    for (const [key, { expiresAt }] of entries) {
      if (expiresAt > now()) return;
      remove(key);
    }
  }

  function makeRoom(): void {
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
      const held = tenants.get(tenantOf(key))?.get(key);
      if (held !== undefined && held.expiresAt > now()) return held.record;
      // An expired entry would keep its early place in the order.
      remove(key);
      if (size >= maxKeys) makeRoom();
      const entries = tenants.get(tenantOf(key)) ?? new Map<string, Entry>();
      removeExpired(entries);
      tenants.set(tenantOf(key), entries.set(key, { record, expiresAt: now() + lifetimeMs }));
      size += 1;
      return undefined;
    },
    replace: async (key, record) => {
      const entries = tenants.get(tenantOf(key));
      const held = entries?.get(key);
      // Forgotten meanwhile: it would come back without its time.
      if (held !== undefined) entries?.set(key, { ...held, record });
    },
    release: async (key) => remove(key),
  };
}

interface Entry {
  record: KeyRecord;
  expiresAt: number;
}

function tenantOf(key: string): string {
  return key.slice(0, key.indexOf('.'));
}
