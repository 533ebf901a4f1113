import type { Cancellation } from '../../concurrency/cancellation.ts';
import { FairQueue } from '../../concurrency/fair-queue.ts';
import { type Deadline, noDeadline } from '../../concurrency/operation-scope.ts';
import type { Owner } from '../../concurrency/owner.ts';
import { stopSharingPendingReads, type Tenant, type Tenants } from '../../tenancy/tenant.ts';
import type { RestCall } from '../call.ts';
import { BudgetExceededError } from '../errors.ts';
import { OperationQueue } from '../protection/operation-queue.ts';
import { type CallLog, type CallLogEntry, createCallLog } from './call-log.ts';

/** The access token, deadline, limits and call log that the REST calls of one GraphQL operation share. */
export interface CallContext {
  /** The client's access token, sent to REST unchanged. */
  readonly bearer: string;
  /** The access token's tenant. Data that outlives the operation refers to the tenant, not to the token. */
  readonly tenant: Tenant;
  /** Whose turn the operation takes, and its calls. */
  readonly owner: Owner;
  /** Aborts the calls when no client waits for the operation any more, or when the operation ends. */
  readonly signal: Cancellation;
  /** The operation's deadline. Applies even while clients still wait. */
  readonly deadline: Deadline;
  readonly callLog: CallLog;
  /** The operation has at most this number of calls in progress at a time. */
  readonly callsPerOperation: number;
  /** The queue in which the operation's calls wait for slots. */
  readonly queue: OperationQueue;
  /**
   * Takes one read from the operation's read budget. Writes are free, so a list of writes does not stop half-way.
   * Reads that a write needs first are not free. If none is left for them, the write does not start.
   * @throws BudgetExceededError if no read is left.
   */
  useReadBudget(call: RestCall): void;
  /** Returns one read to the budget because the read was not sent. */
  refundRead(): void;
  /** The number of reads left in the budget. Reads that wait for a slot count as used. */
  readsLeft(): number;
  /** Called when a call for a read of this operation is sent. Another operation may have sent the shared call. */
  onCallSent(): void;
  /** Called when a call for a read of this operation finishes. Another operation may have sent the shared call. */
  onCallFinished(entry: CallLogEntry): void;
  /** Called when REST rejects the access token (401). */
  onTokenRejected(): void;
  /** Called when REST accepts the access token. `sentAtMs`: when that call was sent, by `performance.now()`. */
  onTokenAccepted(sentAtMs: number): void;
  /** Called before the bytes of a write leave, also again before it is sent on another connection. May throw. */
  readonly beforeWrite?: () => void;
  /** Whether REST has rejected the access token and has not accepted the token since. */
  isTokenRejected(): boolean;
}

/** Creates the call contexts of this process. */
export interface CallContexts {
  /**
   * Creates the call context of one operation.
   * @param bearer the access token.
   * @param deadline none by default.
   * @param connection the client's connection. Undefined for a call through `fetch`.
   */
  of(bearer: string, signal: Cancellation, deadline?: Deadline, connection?: object): CallContext;
  /** The tenant of an access token, for code that makes no calls. */
  tenantOf(bearer: string): Tenant;
  /** The number of calls, of all operations, that wait for a slot. */
  callsWaiting(): number;
}

/** The limits of `createCallContexts`. */
export interface CallContextsOptions {
  /** One operation has at most this number of calls in progress at a time. */
  callsPerOperation: number;
  /** The read budget: one operation makes at most this number of reads. */
  readsPerOperation: number;
  /** All operations together have at most this number of calls in progress at a time. */
  callsAtOnce: number;
  /** At most this number of calls wait for a slot, and at most half of them for one tenant. */
  callsWaiting: number;
  tenants: Tenants;
  /** Optional: called with the tenant whose access token REST rejected (401). */
  onTokenRejected?: (tenant: Tenant) => void;
}

/** Creates the call contexts. All contexts share one fair queue of slots. */
export function createCallContexts({
  callsPerOperation,
  readsPerOperation,
  callsAtOnce,
  callsWaiting,
  tenants,
  onTokenRejected = noop,
}: CallContextsOptions): CallContexts {
  const calls = new FairQueue({ capacity: callsAtOnce, maxWaiting: callsWaiting });
  return {
    callsWaiting: () => calls.waiting,
    tenantOf: tenants.of,
    of(bearer, signal, deadline = noDeadline, connection) {
      const tenant = tenants.of(bearer);
      const owner = tenants.owner(tenant, connection);
      let readsLeft = readsPerOperation;
      let isRemembered = false;
      return {
        bearer,
        tenant,
        owner,
        signal,
        deadline,
        callLog: createCallLog(),
        callsPerOperation,
        queue: new OperationQueue(calls, owner, callsPerOperation),
        useReadBudget(call) {
          if (readsLeft === 0) throw new BudgetExceededError(call, readsPerOperation);
          readsLeft -= 1;
        },
        refundRead() {
          readsLeft += 1;
        },
        readsLeft: () => readsLeft,
        onCallSent: noop,
        onCallFinished({ status }) {
          if (isRemembered || status === undefined || !provesTokenKnown(status)) return;
          // Remembered once per operation.
          isRemembered = true;
          tenants.remember(tenant);
        },
        onTokenRejected() {
          tenants.reject(tenant.id);
          stopSharingPendingReads(tenant);
          onTokenRejected(tenant);
        },
        onTokenAccepted: (sentAtMs) => tenants.accept(tenant.id, sentAtMs),
        isTokenRejected: () => tenants.isRejected(tenant.id),
      };
    },
  };
}

/** Shared by all call contexts, so that no operation creates closures of its own. */
function noop(): void {}

/**
 * Whether a response with this status proves that REST knows the access token. 2xx only: some proxies return 4xx to
 * any token, and a tenant without a 2xx response has no data to lose.
 */
function provesTokenKnown(status: number): boolean {
  return status >= 200 && status <= 299;
}
