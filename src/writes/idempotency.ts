import { type Cancellation, pause } from '../concurrency/cancellation.ts';
import type { CallContext } from '../rest/client/call-context.ts';
import { mayHaveHappened, StatusError, WaybillError } from '../rest/errors.ts';
import { createDigest } from './digest.ts';
import { ConflictError, EarlierAttemptUnknownError, NotFoundError } from './errors.ts';
import type { Merchants } from './merchant.ts';
import { type LossTime, lossNow } from './search-until-settled.ts';
import { ClaimLostError, type ClaimResult, type KeyName, type KeyStore } from './store/key-store.ts';
import { expectNotAborted, otherInputError, Turns } from './turns.ts';

/** A write that runs once per idempotency key. `Stored` is JSON: the names and times of what the write created. */
export interface IdempotentWrite<Result, Stored, Progress> {
  /** The name of the mutation, such as `createOrder`. Each mutation has its own keys. */
  operation: string;
  /** The validated input without its defaults, as JSON. */
  input: object;
  /** Runs the write for the first time. */
  run(attempt: Attempt<Progress>): Promise<Result>;
  /**
   * Runs instead of `run` if the outcome of an earlier attempt is unknown. Looks for its records before it creates any.
   * @param progress the last checkpoint of the earlier attempt; undefined if the attempt stored none.
   * @throws OutcomeUnknownError if the outcome stays unknown.
   */
  resume(progress: Progress | undefined, attempt: Attempt<Progress>): Promise<Result>;
  toStored(result: Result): Stored;
  /** Reads a result through REST with the access token of the caller. */
  restore(stored: Stored): Promise<Result>;
}

/** The lock of a resource, with a note about the resource. The note is JSON, and is stored for 24 hours. */
export interface Lock<Note> {
  /** The current note. At first, the note that the previous holder of the lock stored. */
  readonly note: Note | undefined;
  /** Replaces the note, before the write that it describes is sent; undefined removes it. */
  checkpoint(note: Note | undefined): Promise<void>;
  /** Replaces the note like `checkpoint`, but reports a failure instead of throwing it. */
  tryCheckpoint(note: Note | undefined): Promise<void>;
  /** Replaces the note when the lock ends, in the same transaction. */
  noteAtEnd(note: Note): void;
  /** When the store may have lost notes of this lock, by failing over. Undefined where it has lost none in 24 hours. */
  readonly notesLost: LossTime | undefined;
  /** Called before the bytes of a write leave. @throws ClaimLostError if another process may have the claim. */
  expectHeld(): void;
}

/** Work under the claim of a key. Its checkpoints store the progress. */
export type Attempt<Progress> = Pick<Lock<Progress>, 'checkpoint' | 'tryCheckpoint' | 'expectHeld'>;

/** The claim of a key or a lock. */
export type Held = Pick<Lock<unknown>, 'expectHeld'>;

/** The merchant has too many keys. Keys leave after 24 hours. */
export class KeysFullError extends WaybillError {}

export interface IdempotencyOptions {
  store: KeyStore;
  merchants: Merchants;
  /** Called with an error of the store that does not change the outcome of the work. */
  report: (error: unknown) => void;
  /** How long after a lost write REST may still do the write, or not show its record. In milliseconds, by default 10,000. */
  processingMs?: number | undefined;
}

/** Whether an error says something about the records that the write is about. */
function isAboutRecords(error: unknown): boolean {
  return error instanceof ConflictError || error instanceof NotFoundError || error instanceof StatusError;
}

type Claimed = Extract<ClaimResult, { state: 'claimed' | 'done' }>;

/** The pauses between the questions whether another process still works on a key. */
const firstPollMs = 20;
const maxPollMs = 200;
/** The fingerprint of all work on a lock: the same, so that a lock has no conflicts. */
const lockFingerprint = 'lock';

const fullMessage =
  'This merchant has reached its limit of idempotency keys. Nothing was written. A key expires 24 hours after ' +
  'its last write.';

/** The attempt of a write without a key: nothing is stored, and nothing can be lost. */
const withoutClaim: Attempt<unknown> = {
  checkpoint: async () => {},
  tryCheckpoint: async () => {},
  expectHeld: () => {},
};

export type Idempotency = ReturnType<typeof createIdempotency>;

/** Runs writes once per key, and one at a time on a resource (docs/design/how-a-write-happens-once.md#a-key). */
export function createIdempotency(options: IdempotencyOptions) {
  const { store, merchants, report, processingMs = 10_000 } = options;
  const digest = createDigest(store.secret);
  const turns = new Turns();

  /** Claims a key, and waits while another process works on it. @throws AbortedError */
  async function claim(name: KeyName, fingerprint: string, signal: Cancellation): Promise<Claimed> {
    let pollMs = firstPollMs;
    while (true) {
      expectNotAborted(signal);
      const result = await store.claim(name, fingerprint);
      if (result.state === 'claimed' || result.state === 'done') return result;
      if (result.state === 'conflict') throw otherInputError();
      if (result.state === 'full') throw new KeysFullError(fullMessage);
      await pause(pollMs, signal);
      pollMs = Math.min(2 * pollMs, maxPollMs);
    }
  }

  /** What work may do under its claim. The store keeps the note for the next claim of the same key or lock. */
  function hold<Note>(
    { claim, progress, lossAgeMs }: Claimed & { state: 'claimed' },
    outer?: Held,
  ): Lock<Note> {
    const lock = {
      notesLost: lossAgeMs === undefined ? undefined : lossNow(lossAgeMs),
      note: progress as Note | undefined, // Work on the same key or lock stored it.
      async checkpoint(note: Note | undefined): Promise<void> {
        await store.checkpoint(claim, note);
        lock.note = note;
      },
      noteAtEnd(note: Note): void {
        lock.note = note;
      },
      tryCheckpoint: (note: Note | undefined) => lock.checkpoint(note).catch(report),
      expectHeld() {
        outer?.expectHeld();
        if (!store.holds(claim)) throw new ClaimLostError();
      },
    };
    return lock;
  }

  /** Ends a claim. The work has ended already, so a failure of the store changes no result. */
  async function endClaim(ended: Promise<void>): Promise<void> {
    // Another process has taken over a lost claim.
    await ended.catch((error: unknown) => (error instanceof ClaimLostError ? undefined : report(error)));
  }

  async function runClaimed<Result, Stored, Progress>(
    claimed: Claimed & { state: 'claimed' },
    write: IdempotentWrite<Result, Stored, Progress>,
  ): Promise<Result> {
    const { claim, isResumed } = claimed;
    const attempt = hold<Progress>(claimed);
    try {
      const result = await (isResumed ? write.resume(attempt.note, attempt) : write.run(attempt));
      await endClaim(store.finish(claim, write.toStored(result)));
      return result;
    } catch (error) {
      // After an earlier attempt the key stays taken, because that attempt may have succeeded.
      const hasSentNothing = error instanceof EarlierAttemptUnknownError || !mayHaveHappened(error);
      const isFree = !isResumed && hasSentNothing;
      // After a pause of this process, another one may have done the write, and caused this very refusal.
      const isLost = isAboutRecords(error) && !store.holds(claim);
      await endClaim(isFree ? store.release(claim) : store.abandon(claim));
      throw isLost ? new ClaimLostError() : error;
    }
  }

  return {
    digest,
    processingMs,
    /** For work that reads REST before it takes a lock. @throws StoreUnavailableError if the store is not open. */
    expectOpen: () => void store.secret(),

    /**
     * Runs the write, or restores the result of earlier work under the same key of the merchant. A write that fails and
     * certainly changed nothing frees the key. Without a key, the write just runs.
     * @throws ConflictError if the key was used with another input, KeysFullError, and the errors of the write.
     */
    async runOnce<Result, Stored, Progress>(
      write: IdempotentWrite<Result, Stored, Progress>,
      key: string | null | undefined,
      callContext: CallContext,
    ): Promise<Result> {
      if (key === undefined || key === null) return write.run(withoutClaim);
      const { signal, tenant } = callContext;
      const name = { merchant: await merchants.of(callContext), id: digest([write.operation, key]) };
      const fingerprint = digest(write.input);
      return turns.runOrShare({ name, fingerprint, signal, tenant }, async () => {
        const claimed = await claim(name, fingerprint, signal);
        if (claimed.state === 'claimed') return runClaimed(claimed, write);
        // The key belongs to one mutation, so work of the same type stored the outcome.
        return write.restore(claimed.outcome as Stored);
      });
    },

    /**
     * Runs work under the lock of a resource, such as an order. `expectHeld` of the lock also fails when the claim `outer`
     * is lost.
     */
    async withLock<Note, Result>(
      resource: string,
      outer: Held,
      callContext: CallContext,
      work: (lock: Lock<Note>) => Promise<Result>,
    ): Promise<Result> {
      const { signal, tenant } = callContext;
      const name = { merchant: await merchants.of(callContext), id: digest(['lock', resource]) };
      return turns.runInTurn({ name, fingerprint: lockFingerprint, signal, tenant }, async () => {
        const claimed = await claim(name, lockFingerprint, signal);
        if (claimed.state === 'done') throw new Error('expected a lock without an outcome');
        const lock = hold<Note>(claimed, outer);
        try {
          return await work(lock);
        } finally {
          const { claim } = claimed;
          // `abandon` frees the lock, and keeps the note for its next holder.
          await endClaim(lock.note === undefined ? store.release(claim) : store.abandon(claim, lock.note));
        }
      });
    },
  };
}
