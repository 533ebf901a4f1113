/** What is known of the work that a key was given to. All of it is JSON, so that any store can hold it. */
export interface KeyRecord {
  /** Stands for the input, without telling it. */
  fingerprint: string;
  /** How far the work has come; undefined where it keeps no such thing. */
  progress?: unknown;
  /** What came of it; absent while that is not known, because it runs or because no answer came. */
  outcome?: unknown;
}

/** Where keys are remembered. Its keys are digests; whose they are can't be told from them. */
export interface IdempotencyStore {
  /** Takes a key that is free, as one step; where it is taken, nothing changes and its record is answered. */
  claim(key: string, record: KeyRecord): Promise<KeyRecord | undefined>;
  /** Puts a record in the place of the one that has been claimed; its time of life stays as it is. */
  replace(key: string, record: KeyRecord): Promise<void>;
  /** Frees a key, as if it had never been given. */
  release(key: string): Promise<void>;
}

export interface MemoryStoreOptions {
  /** How many keys are remembered at most, 20,000 when left out; beyond that the oldest are forgotten first. */
  maxKeys?: number;
  /** How long a key is remembered after it was claimed, in milliseconds; a day when left out. */
  lifetimeMs?: number;
  /** Milliseconds on a clock that never goes back. */
  now?: () => number;
}

const dayMs = 24 * 60 * 60 * 1000;

/** A store in this process's memory. A restart forgets, and other servers don't know of it. */
export function createMemoryStore({
  maxKeys = 20_000,
  lifetimeMs = dayMs,
  now = () => performance.now(),
}: MemoryStoreOptions = {}): IdempotencyStore {
  // In the order in which the keys were claimed, which is also that in which they expire.
  const entries = new Map<string, { record: KeyRecord; expiresAt: number }>();

  function forget(): void {
    for (const [key, { expiresAt }] of entries) {
      if (expiresAt > now() && entries.size < maxKeys) return;
      entries.delete(key);
    }
  }

  return {
    claim: async (key, record) => {
      const held = entries.get(key);
      if (held !== undefined && held.expiresAt > now()) return held.record;
      // An expired entry would keep its early place in the order.
      entries.delete(key);
      forget();
      entries.set(key, { record, expiresAt: now() + lifetimeMs });
      return undefined;
    },
    replace: async (key, record) => {
      const held = entries.get(key);
      // Forgotten meanwhile: it would come back without its time.
      if (held !== undefined) entries.set(key, { ...held, record });
    },
    release: async (key) => {
      entries.delete(key);
    },
  };
}
