// Runs an accepted operation: charges its points, waits for its turn, shares equal queries, and executes the others.

import type { ExecutionResult } from 'graphql';
import { loopBudget, StepQueue } from '../../concurrency/event-loop-round.ts';
import { QueueEntry } from '../../concurrency/fair-queue.ts';
import type { Owner } from '../../concurrency/owner.ts';
import type { RunningMutations } from '../../concurrency/running-mutations.ts';
import type { Operation } from '../document-syntax/operation.ts';
import type { PointCost, RateLimit } from '../limits/rate-limit.ts';
import { type Admission, didNotRun } from './admission.ts';
import { withUpstreamCost } from './cost-report.ts';
import type { OperationContext } from './operation-context.ts';
import type { Execute, OperationRequest } from './operation-request.ts';
import { type InFlightQuery, joinableMs, type QuerySharing } from './query-sharing.ts';
import { clientGone, refusalOf } from './refusal.ts';

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

const schemaSteps = new StepQueue();

/** An operation that needs only the schema, such as an introspection. It waits until the event loop has time. */
export class SchemaOperation implements AcceptedOperation {
  readonly context = {};
  readonly #nodes: number;
  readonly #request: OperationRequest;
  readonly #admission: Admission;

  constructor(nodes: number, request: OperationRequest, admission: Admission) {
    this.#nodes = nodes;
    this.#request = request;
    this.#admission = admission;
  }

  run(execute: Execute): Promise<ExecutionResult> {
    return new Promise((resolve) => {
      schemaSteps.run(this.#nodes, () => resolve(this.#start(execute)));
    });
  }

  async #start(execute: Execute): Promise<ExecutionResult> {
    const { response } = this.#request;
    if (response?.destroyed === true) return clientGone();
    return this.#admission.watchSchemaResponse(response) ?? execute();
  }
}

/** An operation that makes REST calls. A class: closures and async functions would cost several times as much. */
export class RestOperation extends QueueEntry implements AcceptedOperation {
  readonly context: OperationContext;
  readonly weight: number;
  readonly #operation: Operation;
  readonly #request: OperationRequest;
  readonly #runState: RunState;
  /** Set once the points are charged. */
  #cost: PointCost | undefined;
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
    super();
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
    const { response } = this.#request;
    if (this.#isQuery) this.#sharingKey = sharing.keyOf(this.#operation, showsCost);
    // A query that shares the response body of an equal one costs next to nothing, so it needs no turn.
    const mayJoin = response === undefined || (this.#sharesBody && admission.isOpenTo(this.owner));
    const equalQuery = mayJoin ? this.#findEqualQuery() : undefined;
    if (equalQuery !== undefined) {
      const refusal = admission.admit(this.owner, response);
      return refusal === undefined
        ? this.#start(execute, equalQuery)
        : Promise.resolve(this.#refused(refusal));
    }
    const outcome = admission.enter(this, response);
    if (outcome === 'waiting') return this.#waitAndStart(execute);
    if (outcome !== 'started') return Promise.resolve(this.#refused(outcome));
    loopBudget.start(this.weight);
    // An operation with a slot of its own may share the result of an equal query too.
    return this.#start(execute, mayJoin ? undefined : this.#findEqualQuery());
  }

  get owner(): Owner {
    return this.context.owner;
  }

  onSlotGranted(): void {
    loopBudget.start(this.weight);
    this.#endWait?.(undefined);
  }

  /** Handles the end of the scope while the operation waits. */
  handleEvent(): void {
    if (this.turn !== 'waiting') return;
    this.#runState.admission.leave(this);
    const hasTimedOut = this.context.scope.deadline.signal.aborted;
    this.#endWait?.(hasTimedOut ? didNotRun('It waited too long for its turn.') : clientGone());
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
    // It makes no body of its own, so it needs its slot no more.
    if (equalQuery !== undefined && this.#sharesBody) this.#runState.admission.leave(this);
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

  /** Whether a query that joins an equal one makes no body of its own. A call through `fetch` has no unread bytes. */
  get #sharesBody(): boolean {
    const { response, sharesBody } = this.#request;
    return response === undefined || (sharesBody && !this.#showsPoints);
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
          return this.#withPoints(result);
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
    this.#runState.admission.leave(this);
  }

  #endScope(): void {
    const { scope } = this.context;
    // Abort the remaining calls of a query: calls below a propagated null, and prefetched pages that were not used.
    // These calls would occupy slots and delay the shutdown. The calls of a mutation are finished.
    if (this.#isQuery) scope.end();
    else scope.stopTimeout();
  }
}
