import { createHmac } from 'node:crypto';
import type { Tenant } from '../concurrency/tenant.ts';
import { AbortedError, mayHaveHappened } from '../rest/errors.ts';
import { ConflictError } from './errors.ts';
import type { IdempotencyStore, KeyRecord } from './idempotency-store.ts';
import { createSharedStore } from './shared-store.ts';

/** Work that runs once per idempotency key. */
export interface Work<Outcome, Progress> {
  /** The name of the mutation, such as `createOrder`. Each mutation has its own keys. */
  operation: string;
  /** The input, as JSON whose fields are always in the same order. */
  input: unknown;
  /** Runs the work for the first time. `checkpoint` stores the progress for `resume`. */
  perform(checkpoint: (progress: Progress) => Promise<void>): Promise<Outcome>;
  /**
   * Runs instead of `perform` if the outcome of an earlier attempt is unknown. Looks for the records that the attempt
   * has created before it creates any.
   * @param progress the last checkpoint of the earlier attempt; undefined if the attempt stored none.
   * @throws OutcomeUnknownError if the outcome stays unknown.
   */
  resume(progress: Progress | undefined, checkpoint: (progress: Progress) => Promise<void>): Promise<Outcome>;
}

/** The idempotency key of a mutation, and the tenant it belongs to. Without a key, nothing is stored. */
export interface IdempotencyKey {
  tenant: Tenant;
  key: string | null | undefined;
  /** Called before a stored outcome is returned. Throws if REST no longer accepts the tenant's access token. */
  expectTokenAccepted?: () => Promise<void>;
}

/** Runs work once per key, and serializes work on one resource (docs/decisions/0012-idempotent-writes.md). */
export interface Idempotency {
  /**
   * Runs the work, or returns the outcome of earlier or still running work under the same key. Work that fails and
   * certainly changed nothing frees the key.
   * @throws ConflictError if the key was used with another input, and the errors of the work.
   */
  runOnce<Outcome, Progress>(work: Work<Outcome, Progress>, idempotencyKey: IdempotencyKey): Promise<Outcome>;
  /**
   * Runs work while it holds the lock of a resource, such as an order. No other work of the tenant holds the lock
   * then, in this process or another.
   * @throws the errors of the work.
   */
  withLock<Note, Result>(
    resource: string,
    tenant: Tenant,
    work: (lock: Lock<Note>) => Promise<Result>,
  ): Promise<Result>;
}

/** The lock of a resource, with a note about the resource. The note is JSON, and is stored as long as a key. */
export interface Lock<Note> {
  /** The current note. At first, the note that the previous holder of the lock stored. */
  readonly note: Note | undefined;
  /** Replaces the note; undefined removes it. */
  checkpoint(note: Note | undefined): Promise<void>;
  /** Replaces the note like `checkpoint`, but reports a failure instead of throwing it. */
  tryCheckpoint(note: Note | undefined): Promise<void>;
}

/** Options of `createIdempotency`. */
export interface IdempotencyOptions {
  /** The store of keys. A store without `finish` serves this process alone. */
  store: IdempotencyStore;
  /** Called with an error of the store that does not change the outcome of the work. */
  report: (error: unknown) => void;
  /** The key of the digests of keys and inputs. Processes that share a store need the same one. */
  secret: Buffer;
}

/** Creates the idempotency of a process. Keys are separate for each tenant and operation. */
export function createIdempotency({
  store: configuredStore,
  report,
  secret,
}: IdempotencyOptions): Idempotency {
  // A store without `finish` does not wait in `claim`. The shared store waits for pending work on the same key.
  const store =
    configuredStore.finish === undefined ? createSharedStore(configuredStore).join() : configuredStore;
  const running = new Map<string, { fingerprint: string; outcome: Promise<unknown> }>();
  const digest = (value: unknown) =>
    createHmac('sha256', secret).update(JSON.stringify(value)).digest('base64url');

  async function claimAndRun<Outcome, Progress>(
    id: string,
    fingerprint: string,
    { perform, resume }: Work<Outcome, Progress>,
    { expectTokenAccepted }: IdempotencyKey,
  ): Promise<Outcome> {
    const earlier = await store.claim(id, { fingerprint });
    if (earlier !== undefined) expectSameInput(earlier.fingerprint, fingerprint);
    if (earlier?.outcome !== undefined) {
      await expectTokenAccepted?.();
      // The id contains the operation, so work of the same type stored the outcome.
      return earlier.outcome as Outcome;
    }

    let record: KeyRecord = earlier ?? { fingerprint };
    const checkpoint = async (progress: Progress) => {
      record = { fingerprint, progress };
      await store.replace(id, record);
    };
    try {
      const outcome = await (earlier === undefined
        ? perform(checkpoint)
        : resume(earlier.progress as Progress | undefined, checkpoint));
      // The work has succeeded, even if its outcome cannot be stored.
      await store.replace(id, { fingerprint, outcome }).catch(report);
      return outcome;
    } catch (error) {
      // After an earlier attempt, the key stays claimed, because that attempt may have succeeded.
      if (earlier === undefined && !mayHaveHappened(error)) await store.release(id).catch(report);
      throw error;
    } finally {
      await store.finish?.(id).catch(report);
    }
  }

  async function runOnce<Outcome, Progress>(
    work: Work<Outcome, Progress>,
    idempotencyKey: IdempotencyKey,
  ): Promise<Outcome> {
    const { tenant, key } = idempotencyKey;
    if (key === undefined || key === null) return work.perform(async () => {});
    const id = `${tenant.id}.${digest([work.operation, key])}`;
    const fingerprint = digest(work.input);
    const runningWork = running.get(id);
    if (runningWork === undefined) {
      const outcome = claimAndRun(id, fingerprint, work, idempotencyKey);
      running.set(id, { fingerprint, outcome });
      return outcome.finally(() => running.delete(id));
    }
    expectSameInput(runningWork.fingerprint, fingerprint);
    try {
      // The id contains the operation, so work of the same type is running.
      return (await runningWork.outcome) as Outcome;
    } catch (error) {
      // The operation of the running work was aborted. This operation was not, so it runs the work itself.
      if (error instanceof AbortedError) return runOnce(work, idempotencyKey);
      throw error;
    }
  }

  async function withLock<Note, Result>(
    resource: string,
    tenant: Tenant,
    work: (lock: Lock<Note>) => Promise<Result>,
  ): Promise<Result> {
    const id = `${tenant.id}.${digest(['hold', resource])}`;
    // The same for all work, so that `claim` waits for the previous holder instead of reporting a conflict.
    const fingerprint = 'hold';
    const earlier = await store.claim(id, { fingerprint });
    // Work on the same kind of resource stored the note.
    let note = earlier?.progress as Note | undefined;
    const checkpoint = async (newNote: Note | undefined) => {
      await store.replace(id, { fingerprint, progress: newNote });
      note = newNote;
    };
    try {
      return await work({
        get note() {
          return note;
        },
        checkpoint,
        tryCheckpoint: (newNote) => checkpoint(newNote).catch(report),
      });
    } finally {
      if (note === undefined) await store.release(id).catch(report);
      await store.finish?.(id).catch(report);
    }
  }

  return { runOnce, withLock };
}

function expectSameInput(earlier: string, fingerprint: string): void {
  if (earlier === fingerprint) return;
  throw new ConflictError(
    'This idempotencyKey was given before, with another input. Nothing was done. Take a new key for what is to be ' +
      'done anew, or send the same input to learn what came of it.',
  );
}
