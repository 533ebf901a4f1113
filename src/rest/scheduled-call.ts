import type { Cancellation } from './cancellation.ts';
import type { OverloadedError } from './errors.ts';
import { type Away, neverBegun, QueuedCall } from './queued-call.ts';
import type { Turns } from './turns.ts';

/**
 * Makes a call in its turn, unless `signal` gives it up before.
 * @throws OverloadedError where too many wait for theirs, and AbortedError.
 */
export function scheduled<Answer>(
  turns: Turns,
  kind: 'read' | 'write',
  make: (away: Away) => Promise<Answer>,
  signal: Cancellation,
): Promise<Answer> {
  if (signal.aborted) return Promise.reject(neverBegun(signal));
  return new Promise((resolve, reject) => {
    const call = new ScheduledCall(kind, signal, reject, async (away) => {
      try {
        resolve(await make(away));
      } catch (error) {
        reject(error);
      }
    });
    signal.addEventListener('abort', call);
    turns.add(call);
  });
}

class ScheduledCall extends QueuedCall {
  readonly kind: 'read' | 'write';
  readonly #signal: Cancellation;
  readonly #reject: (error: unknown) => void;
  readonly #run: (away: Away) => Promise<void>;

  constructor(
    kind: 'read' | 'write',
    signal: Cancellation,
    reject: (error: unknown) => void,
    run: (away: Away) => Promise<void>,
  ) {
    super();
    this.kind = kind;
    this.#signal = signal;
    this.#reject = reject;
    this.#run = run;
  }

  get isGivenUp(): boolean {
    return this.#signal.aborted;
  }

  make(): void {
    this.#signal.removeEventListener('abort', this);
    void this.#run((pause, signal) => this.pauseAway(pause, signal)).then(() => this.endTurn());
  }

  refuse(error: OverloadedError): void {
    this.#signal.removeEventListener('abort', this);
    this.#reject(error);
  }

  /** It is given up before its turn has come. */
  handleEvent(): void {
    this.leaveQueue();
    this.#reject(neverBegun(this.#signal));
  }
}
