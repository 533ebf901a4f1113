import type { Asker } from './asking.ts';
import { givenUp } from './attempt.ts';
import { isRead, type RestCall, routeOf } from './call.ts';
import type { CallObserver } from './call-observer.ts';
import type { Caller } from './caller.ts';
import type { Cancellation } from './cancellation.ts';
import type { Admission, CircuitBreaker, Circuits } from './circuit-breaker.ts';
import { CircuitOpenError, isUnauthenticated, OverloadedError } from './errors.ts';
import type { Exchange, Hearer } from './exchange.ts';
import { outcomeOf } from './failure.ts';
import { paused } from './giving-up.ts';
import { enter, type LedgerEntry } from './ledger.ts';
import type { Retries } from './retries.ts';

/** The turn of a call, in which it is made for one or several. */
export interface Turn<Answer> extends Hearer<Answer> {
  /** Gives the call up. */
  readonly signal: Cancellation;
  /** Who asks; of when the call was queued, as its turn may come while another operation runs. */
  readonly asker: Asker | undefined;
  /** Leaves its place to others; undefined where it has none. */
  away?(pause: () => Promise<void>, signal: Cancellation): Promise<void>;
  /** The call's; set here by the call as it leaves its queue. */
  entry?: LedgerEntry | undefined;
}

/** What the calls of a client have in common. */
export interface CallPolicy {
  circuits: Circuits;
  retries: Retries;
  observer: CallObserver | undefined;
}

/**
 * Makes a call whose turn has come, and tells the turn what came of it: a read up to so many times as it may be tried again,
 * a write once.
 */
export function makeInTurn<Answer>(
  policy: CallPolicy,
  send: Exchange<Answer>,
  call: RestCall,
  caller: Caller,
  turn: Turn<Answer>,
): void {
  const { signal } = turn;
  // First, as a call whose caller has given up in the queue is none, and not for the ledger.
  if (signal.aborted) {
    turn.failed(givenUp(call, signal));
    return;
  }
  const circuit = policy.circuits.of(call.method, routeOf(call));
  const admission = circuit.admit(caller.tenant);
  if (admission === undefined) turn.failed(new CircuitOpenError(call, circuit.retryAfterMs()));
  else new CallInTurn(policy, send, call, caller, turn, circuit, admission).try();
}

/** With callbacks, as promises and async functions for each call cost thrice as much. */
class CallInTurn<Answer> implements Hearer<Answer> {
  readonly #policy: CallPolicy;
  readonly #send: Exchange<Answer>;
  readonly #call: RestCall;
  readonly #caller: Caller;
  readonly #turn: Turn<Answer>;
  readonly #circuit: CircuitBreaker;
  readonly #entry: LedgerEntry;
  readonly #headers: Readonly<Record<string, string>> | undefined;
  #admission: Admission;
  #triedAt: number;

  constructor(
    policy: CallPolicy,
    send: Exchange<Answer>,
    call: RestCall,
    caller: Caller,
    turn: Turn<Answer>,
    circuit: CircuitBreaker,
    admission: Admission,
  ) {
    this.#policy = policy;
    this.#send = send;
    this.#call = call;
    this.#caller = caller;
    this.#turn = turn;
    this.#circuit = circuit;
    this.#admission = admission;
    this.#entry = enter(caller.ledger, call, turn.asker);
    this.#triedAt = this.#entry.startMs;
    turn.entry = this.#entry;
    this.#headers = this.#leave();
    if (isRead(call)) policy.retries.begin();
  }

  try(): void {
    try {
      this.#send(this.#call, this.#caller, this.#turn.signal, this.#entry, this.#headers, this);
    } catch (error) {
      this.failed(error);
    }
  }

  answered(answer: Answer): void {
    const { tenant, ledger } = this.#caller;
    // Seldom, and two looks at a clock otherwise.
    if (this.#caller.isRefused()) {
      this.#caller.accepted(performance.now() - (ledger.elapsedMs() - this.#triedAt));
    }
    this.#circuit.note(tenant, this.#admission, 'answered');
    this.#end();
    this.#turn.answered(answer);
  }

  failed(error: unknown): void {
    if (isUnauthenticated(error)) this.#caller.refused();
    void this.#failed(error);
  }

  async #failed(error: unknown): Promise<void> {
    try {
      await this.#beforeNext(error);
    } catch (thrown) {
      this.#end();
      this.#turn.failed(thrown);
      return;
    }
    this.try();
  }

  /** @returns what is to be sent along as headers. */
  #leave(): Readonly<Record<string, string>> | undefined {
    try {
      return this.#policy.observer?.left(this.#entry, this.#caller.ledger);
    } catch {
      // The call is made all the same: its circuit is to hear what comes of it.
      return undefined;
    }
  }

  #end(): void {
    const { ledger } = this.#caller;
    this.#entry.durationMs ??= ledger.elapsedMs() - this.#entry.startMs;
    try {
      this.#policy.observer?.ended(this.#entry, ledger);
    } catch {
      // It changes nothing of what came of the call: a write that was done must not be told as one that has failed.
    }
  }

  /** Waits until the call may be tried again. @throws what it has failed with for good. */
  async #beforeNext(error: unknown): Promise<void> {
    const { tenant, ledger, deadline } = this.#caller;
    const entry = this.#entry;
    const silentMs = entry.status === undefined ? ledger.elapsedMs() - this.#triedAt : 0;
    this.#circuit.note(tenant, this.#admission, outcomeOf(error, silentMs));
    const pauseMs = isRead(this.#call)
      ? this.#policy.retries.pauseMs(error, tenant, entry.retries, deadline.remainingMs())
      : undefined;
    if (pauseMs === undefined) throw error;
    if (pauseMs > 0) await this.#pause(pauseMs, error);
    const admission = this.#circuit.admit(tenant);
    if (admission === undefined) throw error;
    this.#admission = admission;
    entry.retries += 1;
    entry.status = undefined;
    entry.durationMs = undefined;
    this.#triedAt = ledger.elapsedMs();
  }

  /** Others have its place meanwhile. Where they leave it none to come back to, it has failed as it has. */
  async #pause(pauseMs: number, error: unknown): Promise<void> {
    const { signal } = this.#turn;
    const pause = () => paused(this.#call, pauseMs, signal);
    try {
      await (this.#turn.away?.(pause, signal) ?? pause());
    } catch (thrown) {
      throw thrown instanceof OverloadedError ? error : thrown;
    }
  }
}
