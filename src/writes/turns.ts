import { type Cancellation, untilAborted } from '../concurrency/cancellation.ts';
import { AbortedError, OperationDeadlineError } from '../rest/errors.ts';
import type { Tenant } from '../tenancy/tenant.ts';
import { ConflictError } from './errors.ts';
import type { KeyName } from './store/key-store.ts';

interface TurnRequest {
  name: KeyName;
  fingerprint: string;
  /** Ends the waiting. */
  signal: Cancellation;
  tenant: Tenant;
}

/**
 * Queues the work of this process on each key or lock. One request at a time asks the store for a key, and those that
 * wait here need not ask again and again.
 */
export class Turns {
  readonly #latestByKey = new Map<string, { request: TurnRequest; result: Promise<unknown> }>();

  /**
   * Runs work after all earlier work on the key.
   * @param work looks at the signal first: it starts even if the request was aborted while it waited.
   * @throws ConflictError for another fingerprint, and AbortedError.
   */
  async runInTurn<Result>(request: TurnRequest, work: () => Promise<Result>): Promise<Result> {
    const key = keyOf(request);
    const earlier = this.#latestByKey.get(key);
    if (earlier !== undefined && earlier.request.fingerprint !== request.fingerprint) throw otherInputError();
    const result = Promise.allSettled([earlier?.result]).then(() => work());
    const turn = { request, result };
    this.#latestByKey.set(key, turn);
    void Promise.allSettled([result]).then(() => {
      if (this.#latestByKey.get(key) === turn) this.#latestByKey.delete(key);
    });
    if (earlier !== undefined) {
      await untilAborted(Promise.allSettled([earlier.result]), request.signal);
      expectNotAborted(request.signal);
    }
    return result;
  }

  /** Like `runInTurn`, but shares the result of the latest work on the key if the same access token runs it now. */
  async runOrShare<Result>(request: TurnRequest, work: () => Promise<Result>): Promise<Result> {
    while (true) {
      const { tenant, fingerprint, signal } = request;
      const latest = this.#latestByKey.get(keyOf(request));
      const isSame = latest?.request.tenant === tenant && latest.request.fingerprint === fingerprint;
      if (latest === undefined || !isSame) return this.runInTurn(request, work);
      try {
        // The key belongs to one mutation, so its work has results of the same type.
        return (await latest.result) as Result;
      } catch (error) {
        // The operation of the latest work was aborted. This operation was not, so it runs the work itself.
        if (!(error instanceof AbortedError) || signal.aborted) throw error;
      }
    }
  }
}

function keyOf({ name: { merchant, id } }: TurnRequest): string {
  return `${merchant}.${id}`;
}

/** @throws OperationDeadlineError or AbortedError after the signal has aborted. */
export function expectNotAborted({ aborted, reason }: Cancellation): void {
  if (!aborted) return;
  if (reason instanceof OperationDeadlineError) throw reason;
  throw new AbortedError(
    'The request was aborted while it waited for another request with the same idempotencyKey or order',
    { cause: reason },
  );
}

export function otherInputError(): ConflictError {
  return new ConflictError(
    'This idempotencyKey was used with another input. Nothing was written. Use a new key for a new write, or the ' +
      'original input to get the original result.',
    { reason: 'KEY_REUSED' },
  );
}
