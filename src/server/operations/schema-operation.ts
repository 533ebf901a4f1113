import type { ExecutionResult } from 'graphql';
import type { Owner } from '../../concurrency/owner.ts';
import { SlotRequest } from '../../concurrency/semaphore.ts';
import { minWeight, type PreparedOperation, type RunState } from './operation-interfaces.ts';
import { clientGone, refuse } from './refusal.ts';

/** An operation that needs only the schema, such as an introspection. It takes a slot like each operation. */
export class SchemaOperation extends SlotRequest {
  readonly owner: Owner;
  readonly weight: number;
  readonly #prepared: PreparedOperation;
  readonly #runState: RunState;

  constructor(prepared: PreparedOperation, owner: Owner, runState: RunState) {
    super();
    this.owner = owner;
    this.weight = Math.max(minWeight, prepared.nodes);
    this.#prepared = prepared;
    this.#runState = runState;
  }

  run(): void {
    const outcome = this.#runState.admission.enter(this, this.#prepared.request.response);
    if (outcome === 'started') this.onSlotGranted();
    else if (outcome !== 'waiting') this.#prepared.respond(Promise.resolve(refuse(outcome)));
  }

  onSlotGranted(): void {
    const result = this.#execute();
    this.#prepared.respond(result);
    const leave = () => this.#runState.admission.leave(this, this.#prepared.request.response);
    // After the reactions of `respond`, which write the response.
    result.then(leave, leave);
  }

  async #execute(): Promise<ExecutionResult> {
    const { operation, request } = this.#prepared;
    return request.response.destroyed ? refuse(clientGone) : this.#runState.execute(operation, {});
  }
}
