import type { IdempotencyStore, KeyRecord } from './idempotency-store.ts';

/** A store that several processes have in common. */
export interface SharedStore {
  /** The store as one more process sees it. */
  join(): WorkerStore;
}

export interface WorkerStore extends Required<IdempotencyStore> {
  /** The process is gone: the work that it was at came to no known end, so that its keys stay taken. */
  leave(): void;
}

/** Work on a key that has not ended. */
interface Work {
  member: object;
  fingerprint: string;
  ended: Promise<void>;
  end(): void;
}

/** Has those who claim a key wait while others are at work on it, in this process or another, so that it is done once. */
export function createSharedStore(store: IdempotencyStore): SharedStore {
  const inProgress = new Map<string, Work>();

  function begin(member: object, key: string, fingerprint: string): void {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    inProgress.set(key, { member, fingerprint, ended, end });
  }

  function end(member: object, key: string): void {
    const work = inProgress.get(key);
    if (work?.member !== member) return;
    inProgress.delete(key);
    work.end();
  }

  async function claim(
    member: { isGone: boolean },
    key: string,
    record: KeyRecord,
  ): Promise<KeyRecord | undefined> {
    const { fingerprint } = record;
    for (let other = inProgress.get(key); other !== undefined; other = inProgress.get(key)) {
      // Another input is a conflict whatever comes of the work.
      if (other.fingerprint !== fingerprint) return { fingerprint: other.fingerprint };
      await other.ended;
    }
    if (member.isGone) throw new Error('The process that claimed this key is gone');
    // Before the store is asked, so that whoever else asks meanwhile waits.
    begin(member, key, fingerprint);
    let hasWork = false;
    try {
      const earlier = await store.claim(key, record);
      hasWork =
        earlier === undefined || (earlier.outcome === undefined && earlier.fingerprint === fingerprint);
      return earlier;
    } finally {
      if (!hasWork) end(member, key);
    }
  }

  return {
    join() {
      const member = { isGone: false };
      return {
        claim: (key, record) => claim(member, key, record),
        replace: (key, record) => store.replace(key, record),
        release: (key) => store.release(key),
        ended: async (key) => end(member, key),
        leave() {
          member.isGone = true;
          for (const [key, work] of inProgress) if (work.member === member) end(member, key);
        },
      };
    },
  };
}
