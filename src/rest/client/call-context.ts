import type { Cancellation } from '../../concurrency/cancellation.ts';
import { FairQueue } from '../../concurrency/fair-queue.ts';
import { type Deadline, noDeadline } from '../../concurrency/operation-scope.ts';
import { createTenants, endJoining, type Tenant, type Tenants } from '../../concurrency/tenant.ts';
import type { RestCall } from '../call.ts';
import { BudgetExceededError, OverloadedError } from '../errors.ts';
import { OperationQueue, type Slot } from '../protection/operation-queue.ts';
import { type CallLog, type CallLogEntry, createCallLog } from './call-log.ts';

/** On whose behalf calls are made, until when, how many, and what they cost. One per GraphQL operation. */
export interface CallContext {
  /** The access token, passed through as it came. */
  readonly bearer: string;
  /** Who that is, to all that outlives the operation. */
  readonly tenant: Tenant;
  readonly signal: Cancellation;
  /** Until when at the latest, whoever still waits. */
  readonly deadline: Deadline;
  readonly callLog: CallLog;
  /** How many of its calls are under way at a time at most. */
  readonly callsPerOperation: number;
  /** Where its calls wait for their slots. */
  readonly queue: OperationQueue;
  /**
   * Takes a read from the operation's budget. Writes cost nothing of it, so that a list of them is not cut short in the
   * middle; the reads that one needs do, and where none is left it is not begun.
   * @throws BudgetExceededError where none is left.
   */
  useReadBudget(call: RestCall): void;
  /** Gives a read back that was taken from the budget and is not sent. */
  refundRead(): void;
  /** How many reads it may still make, if all that wait for a slot are sent. */
  readsLeft(): number;
  /** Is told when the call has left that will answer a read of this operation, whoever makes it. */
  onCallSent(): void;
  /** Is told of the call by which a read of this operation was answered, whoever has made it. */
  onCallFinished(entry: CallLogEntry): void;
  /** Is told that REST does not take the bearer, or no longer. */
  onTokenRejected(): void;
  /** Is told that REST has taken it, in answer to a call that was sent at this time of `performance.now()`. */
  onTokenAccepted(sentAt: number): void;
  /** Whether REST has refused the bearer, and has not taken it since. */
  isRefused(): boolean;
}

/** Makes the callers of this process. */
export interface CallContexts {
  /** `deadline`: none when left out. */
  of(bearer: string, signal: Cancellation, deadline?: Deadline): CallContext;
  /** Who that is, where no calls are to be made. */
  tenantOf(bearer: string): Tenant;
  /** How many calls of all operations wait for their turn. */
  callsWaiting(): number;
}

export interface CallContextsOptions {
  /** How many calls of one operation are under way at a time at most. */
  callsPerOperation: number;
  /** How many reads one operation may make. */
  readsPerOperation: number;
  /** How many calls of all operations are under way at a time at most. */
  callsAtOnce: number;
  /** How many more wait for their turn at most, of one tenant half of these. */
  callsWaiting: number;
  tenants?: Tenants;
  /** Is told whose bearer REST does not take; nobody when left out. */
  onRefused?: (tenant: Tenant) => void;
}

export function createCallContexts({
  callsPerOperation,
  readsPerOperation,
  callsAtOnce,
  callsWaiting,
  tenants = createTenants(),
  onRefused = nothing,
}: CallContextsOptions): CallContexts {
  const calls = new FairQueue<Tenant, Slot>({
    capacity: callsAtOnce,
    maxWaiting: callsWaiting,
    overloaded: (waiting, whose) =>
      new OverloadedError(waiting, whose === 'all' ? 'all tokens' : 'this token'),
  });
  return {
    callsWaiting: () => calls.waiting,
    tenantOf: tenants.of,
    of(bearer, signal, deadline = noDeadline) {
      const tenant = tenants.of(bearer);
      let left = readsPerOperation;
      let isRemembered = false;
      return {
        bearer,
        tenant,
        signal,
        deadline,
        callLog: createCallLog(),
        callsPerOperation,
        queue: new OperationQueue(calls, tenant, callsPerOperation),
        useReadBudget(call) {
          if (left === 0) throw new BudgetExceededError(call, readsPerOperation);
          left -= 1;
        },
        refundRead() {
          left += 1;
        },
        readsLeft: () => left,
        onCallSent: nothing,
        onCallFinished({ status }) {
          if (isRemembered || status === undefined || !isKnownTo(status)) return;
          // Once is enough for one operation.
          isRemembered = true;
          tenants.remember(tenant);
        },
        onTokenRejected() {
          tenants.refuse(tenant.id);
          endJoining(tenant);
          onRefused(tenant);
        },
        onTokenAccepted: (sentAt) => tenants.accept(tenant.id, sentAt),
        isRefused: () => tenants.isRefused(tenant.id),
      };
    },
  };
}

/** One for all, as each operation has a caller. */
function nothing(): void {}

/**
 * Whether an answer of this status says that REST knows the token. Other 4xx too are mostly given to known tokens alone,
 * but by some proxies to anyone; and a tenant without a 2xx has nothing yet that would be lost with it.
 */
function isKnownTo(status: number): boolean {
  return status >= 200 && status <= 299;
}
