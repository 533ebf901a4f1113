import type { ExecutionResult } from 'graphql';
import type { Owner } from '../../concurrency/owner.ts';
import { SlotRequest } from '../../concurrency/semaphore.ts';
import { operationCost } from '../../rest/client/call-log.ts';
import type { PageGate } from '../../rest/client/scan-budget.ts';
import { operationEnded } from '../../rest/errors.ts';
import type { HttpError } from '../http/http-error.ts';
import type { PointCost } from '../limits/points-bucket.ts';
import type { PagesSlot } from './admission.ts';
import type { OperationContext } from './operation-context.ts';
import { minWeight, type PreparedOperation, type SharedParts } from './operation-interfaces.ts';
import { clientGone, didNotRun, refuse } from './refusal.ts';

/**
 * A prepared operation that makes REST calls. The methods follow its course: it pays its points, waits for a slot, runs,
 * pays for further pages, and gives the slot back. A class: closures and async functions would cost several times as much.
 */
export class RestOperation extends SlotRequest implements PageGate {
  readonly owner: Owner;
  readonly weight: number;
  readonly #prepared: PreparedOperation;
  readonly #context: OperationContext;
  readonly #shared: SharedParts;
  #pagesSlot: PagesSlot | undefined;
  #cost: PointCost | undefined;

  constructor(prepared: PreparedOperation, context: OperationContext, shared: SharedParts) {
    super();
    this.owner = context.callContext.owner;
    this.weight = Math.max(minWeight, prepared.nodes);
    this.#prepared = prepared;
    this.#context = context;
    this.#shared = shared;
    // Scans then call `takeMorePages`. A mutation searches while it holds a key or an order, for which the operation that
    // has the slot may wait.
    if (!this.#isMutation) context.callContext.scanBudget.gate = this;
  }

  /** Pays the points and asks for a slot. */
  run(): void {
    const { scope, callContext } = this.#context;
    const { admission, rateLimit } = this.#shared;
    scope.startTimeout();
    const charge = rateLimit?.charge(callContext.tenant, Math.max(1, this.#prepared.nodes));
    this.#cost = charge?.cost;
    if (charge?.error !== undefined) {
      this.#refuse(charge.error);
      return;
    }
    const outcome = admission.enter(this, this.#prepared.request.response);
    if (outcome === 'started') this.#start();
    else if (outcome === 'waiting') this.#waitForSlot();
    else this.#refuse(outcome);
  }

  #waitForSlot(): void {
    const { signal } = this.#context.scope;
    signal.addEventListener('abort', this);
    // A scope that has ended calls no listener.
    if (signal.aborted) this.handleEvent();
  }

  /** Called when the scope ends while the operation waits: the client left, or the time is up. */
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

  onSlotGranted(): void {
    this.#context.scope.signal.removeEventListener('abort', this);
    this.#start();
  }

  /** Runs the operation, and leaves once its response is written. */
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
    const { execute, mutations } = this.#shared;
    let result = Promise.resolve(execute(this.#prepared.operation, this.#context));
    if (showsCost)
      result = result.then((result) => withExtension(result, 'upstream', operationCost(callContext.callLog)));
    // A mutation that has started is finished even if its client disconnects.
    if (this.#isMutation) mutations.track(result);
    return result;
  }

  /** Before each further page of a scan: a light operation then takes the slot of a heavy one. */
  takeMorePages(): Promise<void> | undefined {
    this.#pagesSlot ??= this.#shared.admission.pagesSlotFor(this);
    return this.#pagesSlot?.acquire(this.#context.scope.signal);
  }

  #finish(): void {
    const { scanBudget, tenant } = this.#context.callContext;
    const { rateLimit } = this.#shared;
    // Only now it is known how many pages the scans needed. Each costs 100 points.
    if (scanBudget.used > 0 && this.#cost !== undefined)
      this.#cost = rateLimit?.chargeMore(tenant, this.#cost, 100 * scanBudget.used);
    this.#endScope();
    this.#pagesSlot?.release();
  }

  #endScope(): void {
    const { scope } = this.#context;
    // Abort the remaining calls of a query: calls below a propagated null, and prefetched pages that were not used.
    // These calls would occupy slots and delay the shutdown. The calls of a mutation are finished.
    if (this.#isMutation) scope.stopTimeout();
    else scope.end(operationEnded);
  }

  get #isMutation(): boolean {
    return this.#prepared.operation.definition.operation === 'mutation';
  }

  #withPoints(result: ExecutionResult): ExecutionResult {
    const showsPoints = this.#cost !== undefined && this.#context.showsCost;
    return showsPoints ? withExtension(result, 'cost', this.#cost) : result;
  }

  readonly #leave = (): void => this.#shared.admission.leave(this, this.#prepared.request.response);
}

function withExtension(result: ExecutionResult, name: string, value: unknown): ExecutionResult {
  return { ...result, extensions: { ...result.extensions, [name]: value } };
}
