import { type Cancellation, CancelSource, neverAborted } from '../../concurrency/cancellation.ts';
import type { Deadline } from '../../concurrency/operation-scope.ts';
import type { Owner } from '../../concurrency/owner.ts';
import { Semaphore } from '../../concurrency/semaphore.ts';
import type { Tenant, Tenants } from '../../tenancy/tenant.ts';
import type { RestCall } from '../call.ts';
import { operationEnded, ReadBudgetExceededError } from '../errors.ts';
import { CallLog } from './call-log.ts';
import { ScanBudget } from './scan-budget.ts';

interface OperationState {
  readsLeft: number;
  isAccepted: boolean;
}

/** The access token, deadline, limits and call log that the REST calls of one GraphQL operation share. */
export class CallContext {
  /** The client's access token, sent to REST unchanged. */
  readonly bearer: string;
  /** The access token's tenant. Data that outlives the operation refers to the tenant, not to the token. */
  readonly tenant: Tenant;
  /** Whose turn the operation takes, and its calls. It stays the same when REST accepts the token. */
  readonly owner: Owner;
  /** Aborts the calls when no client waits for the operation any more, or when the operation ends. */
  readonly signal: Cancellation;
  /** The operation's deadline. Applies even while clients still wait. */
  readonly deadline: Deadline;
  readonly callLog: CallLog;
  readonly scanBudget: ScanBudget;
  /** Called before the bytes of a write leave, also again before it is sent on another connection. May throw. */
  readonly beforeWrite: (() => void) | undefined;
  readonly #process: ProcessState;
  readonly #operation: OperationState;

  constructor(process: ProcessState, operation: OperationState, parts: ContextParts) {
    this.#process = process;
    this.#operation = operation;
    this.bearer = parts.bearer;
    this.tenant = parts.tenant;
    this.owner = parts.owner;
    this.signal = parts.signal;
    this.deadline = parts.deadline;
    this.callLog = parts.callLog;
    this.scanBudget = parts.scanBudget;
    this.beforeWrite = parts.beforeWrite;
  }

  /** The context of calls that end with the deadline alone, not with the clients. */
  untilDeadline(beforeWrite?: () => void): CallContext {
    return this.#derive({ signal: this.deadline.deadlineSignal, beforeWrite });
  }

  /** The context of calls that serve another call of the operation: they end when that call fails. */
  whileSucceeding(served: Promise<unknown>): CallContext {
    const { signal: ofOperation } = this;
    const signal = new CancelSource();
    const end = () => signal.abort(ofOperation.reason);
    ofOperation.addEventListener('abort', end);
    served.then(
      () => {},
      () => {
        ofOperation.removeEventListener('abort', end);
        signal.abort(operationEnded);
      },
    );
    if (ofOperation.aborted) end();
    return this.#derive({ signal });
  }

  /** The context of reads that outlive the operation. They take slots, but no read budget. */
  detach(): CallContext {
    const operation = { ...this.#operation, readsLeft: Number.POSITIVE_INFINITY };
    return this.#derive({ signal: neverAborted, ...newCounts() }, operation);
  }

  /**
   * Takes one read from the operation's read budget. Writes are free, so a list of writes does not stop half-way.
   * Reads that a write needs first are not free. If none is left for them, the write does not start.
   * @throws ReadBudgetExceededError if no read is left.
   */
  useReadBudget(call: RestCall): void {
    if (this.#operation.readsLeft === 0)
      throw new ReadBudgetExceededError(call, this.#process.readsPerOperation);
    this.#operation.readsLeft -= 1;
  }

  /** The number of reads left in the budget. Reads that wait for a slot count as used. */
  readsLeft(): number {
    return this.#operation.readsLeft;
  }

  /** The slots of calls. Waiting calls are never refused. */
  get slots(): Semaphore {
    return this.#process.slots;
  }

  /** REST rejected the access token (401). */
  onTokenRejected(): void {
    this.#process.tenants.reject(this.tenant.id);
    // What was read before the rejection is stale, as after a write.
    this.tenant.writes += 1;
    this.#process.onTokenRejected?.(this.tenant, this.bearer);
  }

  /** REST accepted the access token: it responded with 2xx. Some proxies return 4xx to any token. */
  onTokenAccepted(): void {
    if (this.#operation.isAccepted) return;
    this.#operation.isAccepted = true;
    this.#process.tenants.accept(this.tenant);
  }

  #derive(changes: Partial<ContextParts>, operation = this.#operation): CallContext {
    return new CallContext(this.#process, operation, { ...this, ...changes });
  }
}

type ContextParts = Pick<
  CallContext,
  'bearer' | 'tenant' | 'owner' | 'signal' | 'deadline' | 'callLog' | 'scanBudget'
> &
  Partial<Pick<CallContext, 'beforeWrite'>>;

const newCounts = () => ({
  callLog: new CallLog(),
  scanBudget: new ScanBudget(),
});

export interface CallContextsOptions {
  /** The read budget: one operation makes at most this number of reads. */
  readsPerOperation: number;
  /** All operations together have at most this number of calls in progress at a time. */
  callsAtOnce: number;
  tenants: Tenants;
  onTokenRejected?: (tenant: Tenant, bearer: string) => void;
}

interface ProcessState extends Omit<CallContextsOptions, 'callsAtOnce'> {
  readonly slots: Semaphore;
}

export type CallContexts = ReturnType<typeof createCallContexts>;

/**
 * The call contexts. All contexts share the slots of calls, which tokens get in turn
 * (docs/design/how-the-server-is-shared.md#calls-and-labels).
 */
export function createCallContexts({ callsAtOnce, ...options }: CallContextsOptions) {
  const slots = new Semaphore({ total: callsAtOnce });
  const process = { slots, ...options };
  return {
    callsWaiting: () => slots.waiting,
    /** The call context of one operation. `connection`: the client's. */
    of(bearer: string, signal: Cancellation, deadline: Deadline, connection: object): CallContext {
      const tenant = options.tenants.of(bearer);
      const owner = options.tenants.owner(tenant, connection);
      const operation = { readsLeft: options.readsPerOperation, isAccepted: false };
      return new CallContext(process, operation, { bearer, tenant, owner, signal, deadline, ...newCounts() });
    },
  };
}
