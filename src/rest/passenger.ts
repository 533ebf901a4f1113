import { asking } from './asking.ts';
import { givenUp } from './attempt.ts';
import type { Caller } from './caller.ts';
import type { OverloadedError } from './errors.ts';
import type { Flight } from './flight.ts';
import { enter, type LedgerEntry } from './ledger.ts';
import { QueuedCall } from './queued-call.ts';

/** An operation that waits for the answer of a flight, until it gives up. */
export class Passenger extends QueuedCall {
  readonly kind = 'read';
  readonly caller: Caller;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
  // Of now, as the call may leave while another operation runs.
  readonly asker = asking.getStore();
  readonly #flight: Flight;
  /** Of a call that another operation makes. */
  #entry: LedgerEntry | undefined;

  constructor(
    flight: Flight,
    caller: Caller,
    resolve: (answer: unknown) => void,
    reject: (error: unknown) => void,
  ) {
    super();
    this.#flight = flight;
    this.caller = caller;
    this.resolve = resolve;
    this.reject = reject;
  }

  get isGivenUp(): boolean {
    return this.caller.signal.aborted;
  }

  make(): void {
    if (this.#flight.hasLeft || !this.#spend()) this.endTurn();
    else this.#flight.leave(this);
  }

  refuse(error: OverloadedError): void {
    this.#leave(error);
  }

  /** The call has left, and another operation makes it, which costs this one nothing of its budget. */
  follow(): void {
    this.leaveQueue();
    this.caller.left();
    this.#entry = enter(this.caller.ledger, this.#flight.call, this.asker);
    this.#entry.isShared = true;
  }

  /** It waits no more, as the call has ended. Its promise is to be settled. Never throws: others are to arrive as well. */
  arrive(): void {
    try {
      this.#endWaiting();
      if (this.#flight.entry !== undefined) this.caller.heard(this.#flight.entry);
    } catch (error) {
      this.reject(error);
    }
  }

  /** Its caller gives up. */
  handleEvent(): void {
    this.leaveQueue();
    this.#leave(givenUp(this.#flight.call, this.caller.signal));
  }

  /** It fails before the call has ended, and ends that where nobody else waits for it. */
  #leave(error: unknown): void {
    if (!this.#flight.disembark(this)) return;
    this.#endWaiting();
    this.reject(error);
  }

  /** @returns whether there was enough: that there is not is this operation's own business and nobody else's. */
  #spend(): boolean {
    try {
      this.caller.spend(this.#flight.call);
      return true;
    } catch (error) {
      this.#leave(error);
      return false;
    }
  }

  #endWaiting(): void {
    this.caller.signal.removeEventListener('abort', this);
    const own = this.#entry;
    if (own === undefined) return;
    // With what is known by then.
    const { status, bytes = 0, retries = 0 } = this.#flight.entry ?? {};
    own.status = status;
    own.bytes = bytes;
    own.retries = retries;
    own.durationMs = this.caller.ledger.elapsedMs() - own.startMs;
  }
}
