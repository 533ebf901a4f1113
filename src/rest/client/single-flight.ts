import { CancelSource } from '../../concurrency/cancellation.ts';
import { InFlight, joinableMs } from '../../concurrency/in-flight.ts';
import { isRead, queryString, type RestCall } from '../call.ts';
import { abortedError } from '../errors.ts';
import { Slot } from '../protection/operation-queue.ts';
import type { CallContext } from './call-context.ts';
import { type CallLogEntry, recordCall } from './call-log.ts';
import type { Calls, PendingCall } from './execute-call.ts';
import { currentFieldPath } from './field-path.ts';

/** Makes a call that is answered with JSON. @throws as `Calls` does, and BudgetExceededError. */
export type JsonCall = (call: RestCall, callContext: CallContext) => Promise<unknown>;

/**
 * Makes calls so that equal reads of one tenant are one request, if they are asked for before it is sent or at most 100 ms
 * later. All get its response or its error, of which nothing is kept. The response is one object for all, so nobody may
 * change it.
 */
export function singleFlight(calls: Calls): JsonCall {
  const inFlight = new InFlight<InFlightRequest>();

  function read(call: RestCall, callContext: CallContext): Promise<unknown> {
    const { tenant, signal } = callContext;
    if (signal.aborted) return Promise.reject(abortedError(call, signal));
    const key = call.path + queryString(call);
    const known = inFlight.find(tenant, key);
    if (known?.isJoinable === true) return known.subscribe(callContext);
    const request = new InFlightRequest(calls, call, inFlight, key);
    inFlight.add(tenant, key, request);
    return request.subscribe(callContext);
  }

  return (call, callContext) => (isRead(call) ? read(call, callContext) : calls.write(call, callContext));
}

const none: readonly Waiter[] = [];

/**
 * A read and its waiters. The first waiter leads: its operation queues for a slot and pays for the request. Where the leader
 * gives up before the request is sent, the next waiter leads. Once sent, the request goes on until no waiter is left.
 */
class InFlightRequest extends Slot implements PendingCall<unknown> {
  readonly call: RestCall;
  /** Ends the request once nobody waits for it. */
  readonly signal = new CancelSource();
  /** In the ledger of the leader; undefined until the request is sent. */
  entry: CallLogEntry | undefined;
  readonly #calls: Calls;
  readonly #inFlight: InFlight<InFlightRequest>;
  readonly #key: string;
  #waiters = none;
  #leader: Waiter | undefined;
  #isSent = false;
  #isQueueing = false;

  constructor(calls: Calls, call: RestCall, inFlight: InFlight<InFlightRequest>, key: string) {
    super();
    this.call = call;
    this.#calls = calls;
    this.#inFlight = inFlight;
    this.#key = key;
  }

  /** Whether its response will do for an operation that asks now. */
  get isJoinable(): boolean {
    if (this.#leader === undefined || this.entry === undefined) return true;
    return this.#leader.callContext.callLog.elapsedMs() - this.entry.startMs <= joinableMs;
  }

  get slot(): Slot {
    return this;
  }

  get fieldPath(): Waiter['fieldPath'] {
    return this.#leader?.fieldPath;
  }

  /** @returns the response. @throws what the request fails with, or what keeps this operation from waiting for it. */
  subscribe(callContext: CallContext): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const waiter = new Waiter(this, callContext, resolve, reject);
      // There is one as a rule, and an array that grows takes room for 17.
      this.#waiters = [...this.#waiters, waiter];
      callContext.signal.addEventListener('abort', waiter);
      if (this.#isSent) waiter.share(this.call);
      else if (this.#leader === undefined) this.#queue();
    });
  }

  /** A waiter fails before the request has ended, which ends the request where no waiter is left. */
  unsubscribe(waiter: Waiter, error: unknown): void {
    if (!this.#waiters.includes(waiter)) return;
    this.#waiters = this.#waiters.filter((each) => each !== waiter);
    if (this.#waiters.length === 0) this.#inFlight.remove(waiter.callContext.tenant, this.#key, this);
    if (!this.#isSent) {
      if (waiter === this.#leader) this.#handOn(waiter);
    } else if (this.#waiters.length === 0) {
      this.signal.abort(waiter.callContext.signal.reason);
    }
    waiter.end(this.entry);
    waiter.reject(error);
  }

  /** The leader has a slot: the request is sent for all waiters. */
  start(): void {
    const leader = this.#leader;
    if (leader === undefined) {
      this.release();
      return;
    }
    this.#isSent = true;
    try {
      leader.callContext.onCallSent();
      for (const waiter of this.#waiters) if (waiter !== leader) waiter.share(this.call);
      this.#calls.read(this.call, leader.callContext, this);
    } catch (error) {
      // Nothing should throw here. If something does, the slot must not stay taken.
      this.reject(error);
    }
  }

  refuse(error: Error): void {
    if (this.#leader !== undefined) this.unsubscribe(this.#leader, error);
  }

  resolve(value: unknown): void {
    for (const waiter of this.#settle()) waiter.resolve(value);
  }

  reject(error: unknown): void {
    for (const waiter of this.#settle()) waiter.reject(error);
  }

  /** How long the waiter with the most time can wait, in milliseconds. */
  remainingMs(): number {
    // Not as arguments of one call, as there may be more waiters than the stack has room for.
    return this.#waiters.reduce(
      (most, { callContext }) => Math.max(most, callContext.deadline.remainingMs()),
      0,
    );
  }

  /** Has the first waiter lead. One whose operation has no reads left, or gets no slot, fails alone. */
  #queue(): void {
    // A leader that is refused at once comes back here. The next one leads below, as each nested call takes stack.
    if (this.#isQueueing) return;
    this.#isQueueing = true;
    while (this.#leader === undefined && this.#waiters[0] !== undefined) {
      const leader = this.#waiters[0];
      try {
        leader.callContext.useReadBudget(this.call);
      } catch (error) {
        this.unsubscribe(leader, error);
        continue;
      }
      this.#leader = leader;
      leader.callContext.queue.acquire(this);
    }
    this.#isQueueing = false;
  }

  #handOn({ callContext }: Waiter): void {
    this.#leader = undefined;
    this.leave();
    callContext.refundRead();
    this.#queue();
  }

  /** The request has ended. @returns the waiters, whose promises are still to be settled. */
  #settle(): readonly Waiter[] {
    const waiters = this.#waiters;
    // First, so that a waiter that then asks for the same starts another request.
    if (this.#leader !== undefined) this.#inFlight.remove(this.#leader.callContext.tenant, this.#key, this);
    for (const waiter of waiters) {
      waiter.end(this.entry);
      if (this.entry !== undefined) waiter.hear(this.entry);
    }
    this.release();
    // What a Map has outgrown may hold this request for long.
    this.#waiters = none;
    this.#leader = undefined;
    this.entry = undefined;
    return waiters;
  }
}

/** An operation that waits for the response of a request, until its own signal aborts. */
class Waiter {
  readonly callContext: CallContext;
  readonly resolve: (response: unknown) => void;
  readonly reject: (error: unknown) => void;
  // Read now, as the request may be sent while another operation runs.
  readonly fieldPath = currentFieldPath.getStore();
  readonly #request: InFlightRequest;
  /** Set where another operation pays for the request. */
  #entry: CallLogEntry | undefined;

  constructor(
    request: InFlightRequest,
    callContext: CallContext,
    resolve: (response: unknown) => void,
    reject: (error: unknown) => void,
  ) {
    this.#request = request;
    this.callContext = callContext;
    this.resolve = resolve;
    this.reject = reject;
  }

  /** Enters the request in the ledger of this operation, where another one pays for it. */
  share(call: RestCall): void {
    this.callContext.onCallSent();
    this.#entry = recordCall(this.callContext.callLog, call, this.fieldPath);
    this.#entry.isShared = true;
  }

  /** Ends the waiting. `sent` is what is known of the request by now. */
  end(sent: CallLogEntry | undefined): void {
    this.callContext.signal.removeEventListener('abort', this);
    const own = this.#entry;
    if (own === undefined) return;
    own.status = sent?.status;
    own.bytes = sent?.bytes ?? 0;
    own.retries = sent?.retries ?? 0;
    own.durationMs = this.callContext.callLog.elapsedMs() - own.startMs;
  }

  /** Tells the caller of the request that was sent. Never throws, as the other waiters are to be told too. */
  hear(sent: CallLogEntry): void {
    try {
      this.callContext.onCallFinished(sent);
    } catch (error) {
      this.reject(error);
    }
  }

  /** Its caller gives up. */
  handleEvent(): void {
    this.#request.unsubscribe(this, abortedError(this.#request.call, this.callContext.signal));
  }
}
