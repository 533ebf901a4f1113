// Runs an accepted operation: charges its points, waits for its turn, shares equal queries, and executes the others.

import type { ExecutionResult } from 'graphql';
import { joinableMs } from '../../concurrency/coalescing-map.ts';
import type { RunningMutations } from '../../concurrency/running-mutations.ts';
import type { Tenant } from '../../concurrency/tenant.ts';
import type { Operation } from '../document-syntax/operation.ts';
import type { PointCost, RateLimit } from '../limits/rate-limit.ts';
import type { Admission, QueuedOperation } from './admission.ts';
import { withUpstreamCost } from './cost-report.ts';
import { withOrderedErrors } from './error-mapping.ts';
import type { OperationContext } from './operation-context.ts';
import type { Execute, OperationRequest } from './operation-request.ts';
import type { InFlightQuery, QuerySharing } from './query-sharing.ts';
import { refusalOf } from './refusal.ts';

/** An operation that may run. */
export interface AcceptedOperation {
  /** The context value of the resolvers. */
  context: object;
  /** Runs the operation by `execute`, or returns the result of an equal query that is already running. */
  run(execute: Execute): Promise<ExecutionResult>;
}

/** The state by which operations pay, wait for their turn, and share results. All operations share it. */
export interface RunState {
  sharing: QuerySharing;
  /** Undefined: mutations are not tracked. */
  mutations: RunningMutations | undefined;
  admission: Admission;
  /** Undefined: no rate limit. */
  rateLimit: RateLimit | undefined;
}

/** An operation that needs only the schema, such as an introspection. It ends at once, so it waits for no turn. */
export class SchemaOperation implements AcceptedOperation {
  readonly context = {};
  readonly #request: OperationRequest;
  readonly #admission: Admission;

  constructor(request: OperationRequest, admission: Admission) {
    this.#request = request;
    this.#admission = admission;
  }

  async run(execute: Execute): Promise<ExecutionResult> {
    return this.#admission.watchSchemaResponse(this.#request.response) ?? execute();
  }
}

/** An operation that makes REST calls. A class: closures and async functions would cost several times as much. */
export class RestOperation implements AcceptedOperation, QueuedOperation {
  before: QueuedOperation | undefined;
  after: QueuedOperation | undefined;
  owner: Tenant | undefined;
  readonly context: OperationContext;
  readonly weight: number;
  readonly #operation: Operation;
  readonly #request: OperationRequest;
  readonly #runState: RunState;
  /** Set once the points are charged. */
  #cost: PointCost | undefined;
  #isGranted = false;
  /** Equal queries have the same key. Undefined for a mutation, and for a query that is never shared. */
  #sharingKey: string | undefined;
  /** Ends the wait: with undefined when the turn comes, and otherwise with the result of the operation. */
  #endWait: ((refusal: ExecutionResult | undefined) => void) | undefined;
  /** Set while other requests may join the query. */
  #inFlight: InFlightQuery | undefined;

  constructor(
    context: OperationContext,
    nodes: number,
    operation: Operation,
    request: OperationRequest,
    runState: RunState,
  ) {
    this.context = context;
    this.weight = Math.max(1, nodes);
    this.#operation = operation;
    this.#request = request;
    this.#runState = runState;
  }

  run(execute: Execute): Promise<ExecutionResult> {
    const { scope, tenant, showsCost } = this.context;
    const { admission, rateLimit, sharing } = this.#runState;
    scope.startTimeout();
    const charge = rateLimit?.charge(tenant, this.weight);
    this.#cost = charge?.cost;
    if (charge?.error !== undefined) return Promise.resolve(this.#refused(refusalOf(charge.error)));
    const { response, sharesBody } = this.#request;
    if (this.#isQuery) this.#sharingKey = sharing.keyOf(this.#operation, showsCost);
    // A query that shares the response body of an equal one costs next to nothing, so it needs no turn.
    // A call through `fetch` has no unread bytes, so it may always join.
    const mayJoin =
      response === undefined || (sharesBody && !this.#showsPoints && admission.isOpenTo(tenant));
    const equalQuery = mayJoin ? this.#findEqualQuery() : undefined;
    const refusal =
      equalQuery === undefined ? admission.enter(tenant, this, response) : admission.admit(tenant, response);
    if (refusal !== undefined) return Promise.resolve(this.#refused(refusal));
    if (equalQuery === undefined && !this.#isGranted) return this.#waitAndStart(execute);
    // An operation with a slot of its own may share the result of an equal query too.
    return this.#start(execute, mayJoin ? equalQuery : this.#findEqualQuery());
  }

  get tenant(): Tenant {
    return this.context.tenant;
  }

  /** Called when the turn of the operation comes. */
  onSlotGranted(): void {
    this.#isGranted = true;
    this.#endWait?.(undefined);
  }

  /** Handles the end of the scope while the operation waits: its client has gone, or its time has passed. */
  handleEvent(): void {
    if (this.#isGranted) return;
    const { scope, tenant } = this.context;
    this.#endWait?.(this.#runState.admission.stopWaiting(tenant, this, scope.deadline.signal.aborted));
  }

  async #waitAndStart(execute: Execute): Promise<ExecutionResult> {
    const { signal } = this.context.scope;
    const refusal = await new Promise<ExecutionResult | undefined>((resolve) => {
      this.#endWait = resolve;
      signal.addEventListener('abort', this);
      // A scope that has ended calls no listener.
      if (signal.aborted) this.handleEvent();
    });
    signal.removeEventListener('abort', this);
    if (refusal !== undefined) return this.#refused(refusal);
    const equalQuery = this.#findEqualQuery();
    // It shares the body of the equal query, so it needs its slot no more.
    if (equalQuery !== undefined && this.#request.sharesBody && !this.#showsPoints) this.#releaseSlot();
    return this.#start(execute, equalQuery);
  }

  #refused(refusal: ExecutionResult): ExecutionResult {
    this.#endScope();
    return this.#withPoints(refusal);
  }

  /** Adds the points to a result. Not a part of the execution, because requests that share it pay each. */
  #withPoints(result: ExecutionResult): ExecutionResult {
    if (!this.#showsPoints) return result;
    return { ...result, extensions: { ...result.extensions, cost: this.#cost } };
  }

  get #showsPoints(): boolean {
    return this.#cost !== undefined && this.context.showsCost;
  }

  /** Starts the operation, or joins an equal query. */
  #start(execute: Execute, equalQuery: InFlightQuery | undefined): Promise<ExecutionResult> {
    const { callLog, showsCost } = this.context;
    const instrumentedExecute = showsCost ? async () => withUpstreamCost(await execute(), callLog) : execute;
    try {
      return this.#executeOrJoin(instrumentedExecute, equalQuery).then(
        (result) => {
          this.#finish();
          return this.#withPoints(withOrderedErrors(result));
        },
        (error: unknown) => {
          this.#finish();
          throw error;
        },
      );
    } catch (error) {
      this.#finish();
      return Promise.reject(error);
    }
  }

  /** A running equal query that this query may join. */
  #findEqualQuery(): InFlightQuery | undefined {
    if (this.#sharingKey === undefined) return undefined;
    const { tenant, scope } = this.context;
    const equalQuery = this.#runState.sharing.find(tenant, this.#sharingKey);
    if (equalQuery?.result === undefined) return undefined;
    // A wait for a turn may have used up time. Without a timeout, the difference is NaN.
    const aheadMs = equalQuery.scope.deadline.remainingMs() - scope.deadline.remainingMs();
    return Math.abs(aheadMs) > joinableMs ? undefined : equalQuery;
  }

  get #isQuery(): boolean {
    return this.#operation.definition.operation === 'query';
  }

  #executeOrJoin(execute: Execute, equalQuery: InFlightQuery | undefined): Promise<ExecutionResult> {
    if (!this.#isQuery) {
      // A mutation that has started is finished even if its client disconnects.
      const mutation = Promise.resolve(execute());
      return this.#runState.mutations?.track(mutation) ?? mutation;
    }
    const { tenant, scope } = this.context;
    const key = this.#sharingKey;
    if (key === undefined) return Promise.resolve(execute());
    if (equalQuery?.result !== undefined) {
      this.#request.onAbort(equalQuery.scope.addWaiter());
      if (this.#request.requestRecord !== undefined) this.#request.requestRecord.joined = true;
      return equalQuery.result;
    }
    const result = Promise.resolve(execute());
    this.#inFlight = this.#runState.sharing.add(tenant, key, scope, result);
    return result;
  }

  #finish(): void {
    if (this.#inFlight !== undefined) this.#runState.sharing.remove(this.#inFlight);
    this.#endScope();
    this.#releaseSlot();
  }

  #releaseSlot(): void {
    if (!this.#isGranted) return;
    this.#isGranted = false;
    this.#runState.admission.release(this.context.tenant, this);
  }

  #endScope(): void {
    const { scope } = this.context;
    // Abort the remaining calls of a query: calls below a propagated null, and prefetched pages that were not used.
    // These calls would occupy slots and delay the shutdown. The calls of a mutation are finished.
    if (this.#isQuery) scope.end();
    else scope.stopTimeout();
  }
}
