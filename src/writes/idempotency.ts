import { createHmac, randomBytes } from 'node:crypto';
import type { Tenant } from '../concurrency/tenant.ts';
import { AbortedError, mayHaveHappened } from '../rest/errors.ts';
import { ConflictError } from './errors.ts';
import type { IdempotencyStore, KeyRecord } from './idempotency-store.ts';
import { createSharedStore } from './shared-store.ts';

/** Work that must not be done twice under one key. */
export interface Work<Outcome, Progress> {
  /** What is done, such as `createOrder`: the same key may be used for another operation too. */
  operation: string;
  /** What it is done with, as JSON whose fields are always in the same order. */
  input: unknown;
  /** Does it. `keep` remembers how far it has come, for `resume`. */
  perform(checkpoint: (progress: Progress) => Promise<void>): Promise<Outcome>;
  /**
   * Takes the place of `perform` where an earlier attempt came to no known end: looks for what that has done before it
   * does anything again, or throws OutcomeUnknownError.
   */
  resume(progress: Progress | undefined, checkpoint: (progress: Progress) => Promise<void>): Promise<Outcome>;
}

/** Whose key it is. Without a key, nothing is remembered. */
export interface Keyed {
  tenant: Tenant;
  key: string | null | undefined;
  /** Is asked before an answer out of memory; throws where REST does not take the tenant's token any more. */
  expectAccepted?: () => Promise<void>;
}

export interface Idempotency {
  /**
   * The outcome of the work: done now, or the same as before where the key was given already, also while that runs. What
   * failed without having happened leaves the key free.
   * @throws ConflictError where the key was given with another input, and what the work throws.
   */
  runOnce<Outcome, Progress>(work: Work<Outcome, Progress>, keyed: Keyed): Promise<Outcome>;
  /**
   * Does work on a thing of a tenant, such as an order, while no other work holds it, in this process or another.
   * @throws what the work throws.
   */
  hold<Note, Result>(
    thing: string,
    tenant: Tenant,
    work: (held: Held<Note>) => Promise<Result>,
  ): Promise<Result>;
}

/** A thing that is held, and what is noted of it. A note is JSON, and is remembered for as long as a key. */
export interface Held<Note> {
  /** What is noted now: at first by the last work that held the thing. */
  readonly note: Note | undefined;
  /** Replaces the note; undefined removes it. */
  checkpoint(note: Note | undefined): Promise<void>;
  /** The same where the work goes on whatever becomes of the note: a failure is reported. */
  tryCheckpoint(note: Note | undefined): Promise<void>;
}

export interface IdempotencyOptions {
  /** One without `ended` is for this process alone. */
  store: IdempotencyStore;
  /** Told where a store has failed to remember what is done, or to forget what is not. */
  report: (error: unknown) => void;
  /** Turns keys and inputs into digests; by default random, so that they mean nothing outside of this process. */
  secret?: Buffer;
}

/** Remembers by tenant, operation and key what was done. One for the whole process. */
export function createIdempotency({
  store: given,
  report,
  secret = randomBytes(32),
}: IdempotencyOptions): Idempotency {
  // Work on a key waits for other work on it, in this process or another.
  const store = given.ended === undefined ? createSharedStore(given).join() : given;
  const running = new Map<string, { fingerprint: string; outcome: Promise<unknown> }>();
  const digest = (value: unknown) =>
    createHmac('sha256', secret).update(JSON.stringify(value)).digest('base64url');

  async function remembered<Outcome, Progress>(
    id: string,
    fingerprint: string,
    { perform, resume }: Work<Outcome, Progress>,
    { expectAccepted }: Keyed,
  ): Promise<Outcome> {
    const earlier = await store.claim(id, { fingerprint });
    if (earlier !== undefined) expectSameInput(earlier.fingerprint, fingerprint);
    if (earlier?.outcome !== undefined) {
      await expectAccepted?.();
      // Put there by this work under this key, so that it is what this work makes.
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
      // It is done, whatever becomes of the memory of it.
      await store.replace(id, { fingerprint, outcome }).catch(report);
      return outcome;
    } catch (error) {
      // What an earlier attempt may have done is not undone by the failure of this one.
      if (earlier === undefined && !mayHaveHappened(error)) await store.release(id).catch(report);
      throw error;
    } finally {
      await store.ended?.(id).catch(report);
    }
  }

  async function runOnce<Outcome, Progress>(work: Work<Outcome, Progress>, keyed: Keyed): Promise<Outcome> {
    const { tenant, key } = keyed;
    if (key === undefined || key === null) return work.perform(async () => {});
    const id = `${tenant.id}.${digest([work.operation, key])}`;
    const fingerprint = digest(work.input);
    const other = running.get(id);
    if (other === undefined) {
      const outcome = remembered(id, fingerprint, work, keyed);
      running.set(id, { fingerprint, outcome });
      return outcome.finally(() => running.delete(id));
    }
    expectSameInput(other.fingerprint, fingerprint);
    try {
      // By the same work under the same key.
      return (await other.outcome) as Outcome;
    } catch (error) {
      // It was given up as its own client left; this one is still there.
      if (error instanceof AbortedError) return runOnce(work, keyed);
      throw error;
    }
  }

  async function hold<Note, Result>(
    thing: string,
    tenant: Tenant,
    work: (held: Held<Note>) => Promise<Result>,
  ): Promise<Result> {
    const id = `${tenant.id}.${digest(['hold', thing])}`;
    // The same for all, so that each waits for the one before.
    const fingerprint = 'hold';
    const earlier = await store.claim(id, { fingerprint });
    // Put there by the same work.
    let note = earlier?.progress as Note | undefined;
    const checkpoint = async (next: Note | undefined) => {
      await store.replace(id, { fingerprint, progress: next });
      note = next;
    };
    try {
      return await work({
        get note() {
          return note;
        },
        checkpoint,
        tryCheckpoint: (next) => checkpoint(next).catch(report),
      });
    } finally {
      if (note === undefined) await store.release(id).catch(report);
      await store.ended?.(id).catch(report);
    }
  }

  return { runOnce, hold };
}

function expectSameInput(earlier: string, fingerprint: string): void {
  if (earlier === fingerprint) return;
  throw new ConflictError(
    'This idempotencyKey was given before, with another input. Nothing was done. Take a new key for what is to be ' +
      'done anew, or send the same input to learn what came of it.',
  );
}
