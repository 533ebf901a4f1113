import type { Cancellation } from './cancellation.ts';
import { AbortedError, type OverloadedError } from './errors.ts';
import type { InLine } from './line.ts';
import type { Turns } from './turns.ts';

/**
 * Leaves the place of a call to others during a pause, and queues for it again.
 * @throws what the pause does, and OverloadedError and AbortedError where no turn comes any more; the place is then gone.
 */
export type Away = (pause: () => Promise<void>, signal: Cancellation) => Promise<void>;

/**
 * A call that is made in its turn. It is itself what stands in the queue of its operation, and then in that of all: one
 * object and no promise, as queueing would cost more than sending otherwise.
 */
export abstract class QueuedCall implements InLine<QueuedCall> {
  before: QueuedCall | undefined;
  after: QueuedCall | undefined;
  /** Those of the operation that it was put into. */
  turns: Turns | undefined;
  /** At first as at last, it is in no queue. */
  stage: 'away from it' | 'in the operation' | 'among all' | 'under way' = 'away from it';
  #hasPlace = false;
  #comeBack: (() => void) | undefined;

  abstract readonly kind: 'read' | 'write';
  /** Whether nobody waits for it any more, so that its turn is left out. */
  abstract readonly isGivenUp: boolean;
  /** Its turn has come. Calls `endTurn` once it is over, and never throws. */
  protected abstract make(): void;
  /** No turn comes. Never throws. */
  abstract refuse(error: OverloadedError): void;

  /** Called by the queue of all, which has a place for it. */
  begin(): void {
    this.#hasPlace = true;
    if (this.#comeBack !== undefined) {
      this.#comeBack();
      return;
    }
    this.turns?.began(this);
    this.make();
    this.turns?.queueNext();
  }

  endTurn(): void {
    if (this.#hasPlace) this.turns?.queue.next();
    this.#hasPlace = false;
    this.turns?.ended(this);
  }

  /** Makes room for others where it still waits for its turn, which does not come then. */
  leaveQueue(): void {
    this.turns?.remove(this);
  }

  /** An `Away`, for a call whose turn has come. */
  async pauseAway(pause: () => Promise<void>, signal: Cancellation): Promise<void> {
    this.#hasPlace = false;
    this.turns?.queue.next();
    await pause();
    await this.#placeAgain(signal);
  }

  #placeAgain(signal: Cancellation): Promise<void> {
    const { turns } = this;
    return new Promise((resolve, reject) => {
      if (signal.aborted) throw neverBegun(signal);
      const giveUp = () => {
        turns?.queue.remove(turns.tenant, this);
        reject(neverBegun(signal));
      };
      this.#comeBack = () => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      signal.addEventListener('abort', giveUp);
      const refused = turns?.queue.enter(turns.tenant, this);
      if (refused === undefined) return;
      signal.removeEventListener('abort', giveUp);
      reject(refused);
    });
  }
}

/** What a call ends with that is given up before its turn has come. */
export function neverBegun({ reason }: Cancellation): AbortedError {
  return new AbortedError('A call to REST was given up before its turn came', { cause: reason });
}
