// Called by resource-client.ts. Turns equal reads of a tenant that are pending at the same time into one request, and
// waits for the slot of that request. Writes pass through. api.ts puts this file in front of execute-call.ts, the next
// step.

import { CancelSource } from '../../concurrency/cancellation.ts';
import { CoalescingMap, joinableMs } from '../../tenancy/coalescing-map.ts';
import { isRead, queryString, type RestCall } from '../call.ts';
import { abortedError } from '../errors.ts';
import { Slot } from '../protection/operation-queue.ts';
import type { CallContext } from './call-context.ts';
import { type CallLogEntry, recordCall } from './call-log.ts';
import type { Calls, PendingCall } from './execute-call.ts';
import { currentFieldPath } from './field-path.ts';

/** Sends a call. @returns the parsed JSON of the response. @throws the errors of `Calls`, and BudgetExceededError. */
export type SendJsonCall = (call: RestCall, callContext: CallContext) => Promise<unknown>;

/**
 * Creates the function that sends reads and writes. Equal reads of one tenant share one request if they start before
 * the request is sent or at most 100 ms later (docs/decisions/0008-shared-in-flight-requests.md). All sharing reads
 * get the same response object or error, so callers must not modify a response. Nothing is cached.
 */
export function singleFlight(calls: Calls): SendJsonCall {
  const inFlight = new CoalescingMap<InFlightRequest>();

  function read(call: RestCall, callContext: CallContext): Promise<unknown> {
    const { tenant, signal } = callContext;
    if (signal.aborted) return Promise.reject(abortedError(call, signal));
    const key = call.path + queryString(call);
    const pending = inFlight.find(tenant, key);
    if (pending?.isJoinable === true) return pending.subscribe(callContext);
    const request = new InFlightRequest(calls, call, inFlight, key);
    inFlight.add(tenant, key, request);
    return request.subscribe(callContext);
  }

  return (call, callContext) => (isRead(call) ? read(call, callContext) : calls.write(call, callContext));
}

const noWaiters: readonly Waiter[] = [];

/**
 * A shared read request with waiters. The first waiter is the leader: the request takes a slot and one read of the
 * budget from the leader's operation. If the leader is aborted before the request is sent, the next waiter becomes
 * the leader. A request that has been sent is aborted only when no waiter is left.
 */
class InFlightRequest extends Slot implements PendingCall<unknown> {
  readonly call: RestCall;
  /** Aborted when the last waiter of a sent request unsubscribes. */
  readonly signal = new CancelSource();
  /** The entry in the leader's call log. Undefined until the request is sent. */
  entry: CallLogEntry | undefined;
  readonly #calls: Calls;
  readonly #inFlight: CoalescingMap<InFlightRequest>;
  readonly #key: string;
  #waiters = noWaiters;
  #leader: Waiter | undefined;
  #isSent = false;
  #isQueueing = false;

  constructor(calls: Calls, call: RestCall, inFlight: CoalescingMap<InFlightRequest>, key: string) {
    super();
    this.call = call;
    this.#calls = calls;
    this.#inFlight = inFlight;
    this.#key = key;
  }

  /** Whether an operation may still join the request. */
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

  /** Adds a waiter. @returns the response. @throws the error of the request, or the error that ends the waiting. */
  subscribe(callContext: CallContext): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const waiter = new Waiter(this, callContext, resolve, reject);
      // A new array: usually there is one waiter, and `push` on an empty array reserves room for 17.
      this.#waiters = [...this.#waiters, waiter];
      callContext.signal.addEventListener('abort', waiter);
      if (this.#isSent) waiter.recordShared(this.call);
      else if (this.#leader === undefined) this.#queue();
    });
  }

  /** Removes a waiter and rejects the waiter's promise. Aborts the request if no waiter is left. */
  unsubscribe(waiter: Waiter, error: unknown): void {
    if (!this.#waiters.includes(waiter)) return;
    this.#waiters = this.#waiters.filter((each) => each !== waiter);
    if (this.#waiters.length === 0) this.#inFlight.remove(waiter.callContext.tenant, this.#key, this);
    if (!this.#isSent) {
      if (waiter === this.#leader) this.#replaceLeader(waiter);
    } else if (this.#waiters.length === 0) {
      this.signal.abort(waiter.callContext.signal.reason);
    }
    waiter.stopWaiting(this.entry);
    waiter.reject(error);
  }

  /** Called when the leader has a slot: sends the request for all waiters. */
  start(): void {
    const leader = this.#leader;
    if (leader === undefined) {
      this.release();
      return;
    }
    this.#isSent = true;
    try {
      leader.callContext.onCallSent();
      for (const waiter of this.#waiters) if (waiter !== leader) waiter.recordShared(this.call);
      this.#calls.read(this.call, leader.callContext, this);
    } catch (error) {
      // No error is expected here. An unexpected error must still release the slot.
      this.reject(error);
    }
  }

  /** Called when the leader's operation gets no slot: the leader fails, and the next waiter becomes the leader. */
  refuse(error: Error): void {
    if (this.#leader !== undefined) this.unsubscribe(this.#leader, error);
  }

  resolve(value: unknown): void {
    for (const waiter of this.#finish()) waiter.resolve(value);
  }

  reject(error: unknown): void {
    for (const waiter of this.#finish()) waiter.reject(error);
  }

  /** The longest time left of all waiters, in milliseconds. */
  remainingMs(): number {
    // Not `Math.max(...)`: the waiters may outnumber the arguments that fit on the stack.
    return this.#waiters.reduce(
      (most, { callContext }) => Math.max(most, callContext.deadline.remainingMs()),
      0,
    );
  }

  /** Makes the first waiter the leader and queues the request. A waiter without read budget or slot fails alone. */
  #queue(): void {
    // `acquire` may refuse a leader synchronously and re-enter this method. The loop below avoids deep recursion.
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

  #replaceLeader({ callContext }: Waiter): void {
    this.#leader = undefined;
    this.leave();
    callContext.refundRead();
    this.#queue();
  }

  /** Cleans up after the request has finished. @returns the waiters, whose promises the caller must settle. */
  #finish(): readonly Waiter[] {
    const waiters = this.#waiters;
    // First, so that a waiter that repeats the read starts another request.
    if (this.#leader !== undefined) this.#inFlight.remove(this.#leader.callContext.tenant, this.#key, this);
    for (const waiter of waiters) {
      waiter.stopWaiting(this.entry);
      if (this.entry !== undefined) waiter.reportFinished(this.entry);
    }
    this.release();
    // V8 may keep this request alive in an outgrown Map table, so the request must not hold the waiters.
    this.#waiters = noWaiters;
    this.#leader = undefined;
    this.entry = undefined;
    return waiters;
  }
}

/** One operation that waits for a shared request. The operation's signal ends the waiting. */
class Waiter {
  readonly callContext: CallContext;
  readonly resolve: (response: unknown) => void;
  readonly reject: (error: unknown) => void;
  // Read in the constructor: the request may be sent while code of another operation runs.
  readonly fieldPath = currentFieldPath.getStore();
  readonly #request: InFlightRequest;
  /** The entry in this operation's call log. Set only if another operation leads the request. */
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

  /** Adds the request to this operation's call log, as a request that another operation leads. */
  recordShared(call: RestCall): void {
    this.callContext.onCallSent();
    this.#entry = recordCall(this.callContext.callLog, call, this.fieldPath);
    this.#entry.isShared = true;
  }

  /** Removes the abort listener and completes the shared entry. `leaderEntry`: undefined if no request was sent. */
  stopWaiting(leaderEntry: CallLogEntry | undefined): void {
    this.callContext.signal.removeEventListener('abort', this);
    const sharedEntry = this.#entry;
    if (sharedEntry === undefined) return;
    sharedEntry.status = leaderEntry?.status;
    sharedEntry.bytes = leaderEntry?.bytes ?? 0;
    sharedEntry.retries = leaderEntry?.retries ?? 0;
    sharedEntry.durationMs = this.callContext.callLog.elapsedMs() - sharedEntry.startMs;
  }

  /** Reports the finished request to the call context. Never throws, so that all waiters are settled. */
  reportFinished(leaderEntry: CallLogEntry): void {
    try {
      this.callContext.onCallFinished(leaderEntry);
    } catch (error) {
      this.reject(error);
    }
  }

  /** Called when the operation is aborted. */
  handleEvent(): void {
    this.#request.unsubscribe(this, abortedError(this.#request.call, this.callContext.signal));
  }
}
