import type { ExecutionResult } from 'graphql';
import type { Owner } from '../../concurrency/owner.ts';
import { SlotRequest } from '../../concurrency/semaphore.ts';
import { minWeight, type PreparedOperation, type SharedParts } from './operation-interfaces.ts';
import { clientGone, refuse } from './refusal.ts';

/** An operation that needs only the schema, such as an introspection. It takes a slot like each operation. */
export class SchemaOperation extends SlotRequest {
  readonly owner: Owner;
  readonly weight: number;
  readonly #prepared: PreparedOperation;
  readonly #shared: SharedParts;

  constructor(prepared: PreparedOperation, owner: Owner, shared: SharedParts) {
    super();
    this.owner = owner;
    this.weight = Math.max(minWeight, prepared.nodes);
    this.#prepared = prepared;
    this.#shared = shared;
  }

  run(): void {
    const outcome = this.#shared.admission.enter(this, this.#prepared.request.response);
    if (outcome === 'started') this.onSlotGranted();
    else if (outcome !== 'waiting') this.#prepared.respond(Promise.resolve(refuse(outcome)));
  }

  onSlotGranted(): void {
    const result = this.#execute();
    this.#prepared.respond(result);
    const leave = () => this.#shared.admission.leave(this, this.#prepared.request.response);
    // After the reactions of `respond`, which write the response.
    result.then(leave, leave);
  }

  async #execute(): Promise<ExecutionResult> {
    const { operation, request } = this.#prepared;
    return request.response.destroyed ? refuse(clientGone) : this.#shared.execute(operation, {});
  }
}
