import type { IdempotencyStore, KeyRecord } from './idempotency-store.ts';

/** A store that several processes share. */
export interface SharedStore {
  /** Adds a process, and returns the store for that process. */
  join(): WorkerStore;
}

/** The shared store as one process uses it. */
export interface WorkerStore extends Required<IdempotencyStore> {
  /** The process has exited. Its keys stay claimed, because the outcome of its pending work is unknown. */
  leave(): void;
}

/** Work on a key that has not ended. */
interface PendingWork {
  worker: object;
  fingerprint: string;
  ended: Promise<void>;
  end(): void;
}

/**
 * Creates a shared store on top of `store`. A process that claims a key waits until no other process works on that
 * key, so the work runs once.
 */
export function createSharedStore(store: IdempotencyStore): SharedStore {
  const pending = new Map<string, PendingWork>();

  function begin(worker: object, key: string, fingerprint: string): void {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    pending.set(key, { worker, fingerprint, ended, end });
  }

  function end(worker: object, key: string): void {
    const work = pending.get(key);
    if (work?.worker !== worker) return;
    pending.delete(key);
    work.end();
  }

  async function claim(
    worker: { hasLeft: boolean },
    key: string,
    record: KeyRecord,
  ): Promise<KeyRecord | undefined> {
    const { fingerprint } = record;
    for (let other = pending.get(key); other !== undefined; other = pending.get(key)) {
      // Another input is a conflict, whether the pending work succeeds or fails.
      if (other.fingerprint !== fingerprint) return { fingerprint: other.fingerprint };
      await other.ended;
    }
    if (worker.hasLeft) throw new Error('The process that claimed this key is gone');
    // Before the store responds, so that a second claim waits meanwhile.
    begin(worker, key, fingerprint);
    let hasWork = false;
    try {
      const earlier = await store.claim(key, record);
      hasWork =
        earlier === undefined || (earlier.outcome === undefined && earlier.fingerprint === fingerprint);
      return earlier;
    } finally {
      if (!hasWork) end(worker, key);
    }
  }

  return {
    join() {
      const worker = { hasLeft: false };
      return {
        claim: (key, record) => claim(worker, key, record),
        replace: (key, record) => store.replace(key, record),
        release: (key) => store.release(key),
        finish: async (key) => end(worker, key),
        leave() {
          worker.hasLeft = true;
          for (const [key, work] of pending) if (work.worker === worker) end(worker, key);
        },
      };
    },
  };
}
