import type { ExecutionResult } from 'graphql';
import type { Owner } from '../../concurrency/owner.ts';
import type { RunningMutations } from '../../concurrency/running-mutations.ts';
import { SlotRequest } from '../../concurrency/semaphore.ts';
import { operationCost } from '../../rest/client/call-log.ts';
import type { PageGate } from '../../rest/client/scan-budget.ts';
import { operationEnded } from '../../rest/errors.ts';
import type { Operation } from '../document-syntax/operation.ts';
import type { Execute } from '../execution/executor.ts';
import type { HttpError } from '../http/http-error.ts';
import type { PointCost, RateLimit } from '../limits/rate-limit.ts';
import type { Admission, PagesSlot } from './admission.ts';
import type { OperationContext } from './operation-context.ts';
import type { OperationRequest } from './operation-request.ts';
import { clientGone, didNotRun, refuse } from './refusal.ts';

export interface RunState {
  execute: Execute;
  admission: Admission;
  rateLimit: RateLimit | undefined;
  mutations: RunningMutations;
}

/**
 * Takes the result of an operation: without `data` if the operation did not run, rejected only by an error of this server.
 * Not a promise that also waits for the turn: V8 keeps the results of long-lived promises until a full collection. Yoga
 * still has such promises.
 */
export type Respond = (result: Promise<ExecutionResult>) => void;

/** The least weight: an operation without nodes takes as long as these. */
export const minWeight = 10;

/** An operation within the limits, and who gets its result. */
export interface PreparedOperation {
  operation: Operation;
  /** The weight: see `limits/operation-limits.ts`. */
  nodes: number;
  request: OperationRequest;
  respond: Respond;
}

/**
 * A prepared operation that makes REST calls: pays its points, waits for its turn, and runs. A class: closures and async
 * functions would cost several times as much.
 */
export class RestOperation extends SlotRequest implements PageGate {
  readonly owner: Owner;
  readonly weight: number;
  readonly #prepared: PreparedOperation;
  readonly #context: OperationContext;
  readonly #runState: RunState;
  #pagesSlot: PagesSlot | undefined;
  #cost: PointCost | undefined;

  constructor(prepared: PreparedOperation, context: OperationContext, runState: RunState) {
    super();
    this.owner = context.callContext.owner;
    this.weight = Math.max(minWeight, prepared.nodes);
    this.#prepared = prepared;
    this.#context = context;
    this.#runState = runState;
    context.callContext.scanBudget.gate = this;
  }

  run(): void {
    const { scope, callContext } = this.#context;
    const { admission, rateLimit } = this.#runState;
    scope.startTimeout();
    const charge = rateLimit?.charge(callContext.tenant, Math.max(1, this.#prepared.nodes));
    this.#cost = charge?.cost;
    if (charge?.error !== undefined) {
      this.#refuse(charge.error);
      return;
    }
    const outcome = admission.enter(this, this.#prepared.request.response);
    if (outcome === 'started') this.#start();
    else if (outcome === 'waiting') {
      scope.signal.addEventListener('abort', this);
      // A scope that has ended calls no listener.
      if (scope.signal.aborted) this.handleEvent();
    } else this.#refuse(outcome);
  }

  onSlotGranted(): void {
    this.#context.scope.signal.removeEventListener('abort', this);
    this.#start();
  }

  takeMorePages(): Promise<void> | undefined {
    this.#pagesSlot ??= this.#runState.admission.morePagesOf(this);
    return this.#pagesSlot?.take(this.#context.scope.signal);
  }

  handleEvent(): void {
    if (this.slot !== 'waiting') return;
    const { scope } = this.#context;
    scope.signal.removeEventListener('abort', this);
    this.#leave();
    const hasTimedOut = scope.deadlineSignal.aborted;
    this.#refuse(hasTimedOut ? didNotRun('It waited too long in the queue.') : clientGone);
  }

  #refuse(refusal: HttpError): void {
    this.#endScope();
    this.#prepared.respond(Promise.resolve(this.#withPoints(refuse(refusal))));
  }

  #withPoints(result: ExecutionResult): ExecutionResult {
    const showsPoints = this.#cost !== undefined && this.#context.showsCost;
    return showsPoints ? withExtension(result, 'cost', this.#cost) : result;
  }

  get #isMutation(): boolean {
    return this.#prepared.operation.definition.operation === 'mutation';
  }

  #start(): void {
    let result: Promise<ExecutionResult>;
    try {
      result = this.#execute();
    } catch (error) {
      result = Promise.reject(error);
    }
    const ended = result.then(
      (result) => {
        this.#finish();
        return this.#withPoints(result);
      },
      (error: unknown) => {
        this.#finish();
        throw error;
      },
    );
    this.#prepared.respond(ended);
    // After the reactions of `respond`, which write the response.
    ended.then(this.#leave, this.#leave);
  }

  #execute(): Promise<ExecutionResult> {
    const { callContext, showsCost } = this.#context;
    const { execute, mutations } = this.#runState;
    let result = Promise.resolve(execute(this.#prepared.operation, this.#context));
    if (showsCost)
      result = result.then((result) => withExtension(result, 'upstream', operationCost(callContext.callLog)));
    // A mutation that has started is finished even if its client disconnects.
    if (this.#isMutation) mutations.track(result);
    return result;
  }

  #finish(): void {
    const { scanBudget, tenant } = this.#context.callContext;
    const { rateLimit } = this.#runState;
    // Only now it is known how many pages the scans needed. Each costs 100 points.
    if (scanBudget.used > 0 && this.#cost !== undefined)
      this.#cost = rateLimit?.chargeMore(tenant, this.#cost, 100 * scanBudget.used);
    this.#endScope();
    this.#pagesSlot?.release();
  }

  readonly #leave = (): void => this.#runState.admission.leave(this, this.#prepared.request.response);

  #endScope(): void {
    const { scope } = this.#context;
    // Abort the remaining calls of a query: calls below a propagated null, and prefetched pages that were not used.
    // These calls would occupy slots and delay the shutdown. The calls of a mutation are finished.
    if (this.#isMutation) scope.stopTimeout();
    else scope.end(operationEnded);
  }
}

function withExtension(result: ExecutionResult, name: string, value: unknown): ExecutionResult {
  return { ...result, extensions: { ...result.extensions, [name]: value } };
}
