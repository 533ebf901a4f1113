import { type Cancellation, untilAborted } from '../concurrency/cancellation.ts';
import { AbortedError, OperationDeadlineError } from '../rest/errors.ts';
import type { Tenant } from '../tenancy/tenant.ts';
import { ConflictError } from './errors.ts';
import type { KeyName } from './store/key-store.ts';

/** @throws OperationDeadlineError or AbortedError after the signal has aborted. */
export function expectNotAborted({ aborted, reason }: Cancellation): void {
  if (!aborted) return;
  throw reason instanceof OperationDeadlineError
    ? reason
    : new AbortedError(abortedMessage, { cause: reason });
}

interface TurnRequest {
  name: KeyName;
  fingerprint: string;
  /** Ends the waiting. */
  signal: Cancellation;
  tenant: Tenant;
}

/** The work of this process on each key. One request at a time asks the store for a key. */
interface Turns {
  /** Runs work after all earlier work on the key. @throws ConflictError for another fingerprint, and AbortedError. */
  take<Result>(request: TurnRequest, work: () => Promise<Result>): Promise<Result>;
  /** Like `take`, but takes the result of the last work on the key if the same access token runs it now. */
  takeOrShare<Result>(request: TurnRequest, work: () => Promise<Result>): Promise<Result>;
}

export function createTurns(): Turns {
  const lastByKey = new Map<
    string,
    { request: TurnRequest; result: Promise<unknown>; ended: Promise<void> }
  >();
  const keyOf = ({ name: { merchant, id } }: TurnRequest) => `${merchant}.${id}`;

  function take<Result>(request: TurnRequest, work: () => Promise<Result>): Promise<Result> {
    const key = keyOf(request);
    const earlier = lastByKey.get(key);
    if (earlier !== undefined && earlier.request.fingerprint !== request.fingerprint) throw otherInputError();
    const result = (earlier?.ended ?? Promise.resolve()).then(() => {
      expectNotAborted(request.signal);
      return work();
    });
    const last = { request, result, ended: result.then(ignore, ignore) };
    lastByKey.set(key, last);
    void last.ended.then(() => {
      if (lastByKey.get(key) === last) lastByKey.delete(key);
    });
    if (earlier === undefined) return result;
    return untilAborted(earlier.ended, request.signal).then(() => {
      expectNotAborted(request.signal);
      return result;
    });
  }

  return {
    take,
    async takeOrShare<Result>(request: TurnRequest, work: () => Promise<Result>) {
      while (true) {
        const { tenant, fingerprint, signal } = request;
        const earlier = lastByKey.get(keyOf(request));
        const isSame = earlier?.request.tenant === tenant && earlier.request.fingerprint === fingerprint;
        if (earlier === undefined || !isSame) return take(request, work);
        try {
          // The key belongs to one mutation, so its work has results of the same type.
          return (await earlier.result) as Result;
        } catch (error) {
          // The operation of the earlier work was aborted. This operation was not, so it runs the work itself.
          if (!(error instanceof AbortedError) || signal.aborted) throw error;
        }
      }
    },
  };
}

const ignore = () => {};

const abortedMessage = 'The request was aborted while it waited for its idempotencyKey';

export function otherInputError(): ConflictError {
  return new ConflictError(
    'This idempotencyKey was used with another input. Nothing was sent. Use a new key for a new write, or the original ' +
      'input to get the original result.',
    'KEY_REUSED',
  );
}
