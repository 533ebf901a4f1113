import { loopBudget } from '../../concurrency/event-loop-round.ts';
import type { Owner } from '../../concurrency/owner.ts';
import { StepQueue } from '../../concurrency/step-queue.ts';
import { clientGone, refuse } from './refusal.ts';
import type { PreparedOperation, RunState } from './rest-operation.ts';

const schemaSteps = new StepQueue('starting');

/** While the event loop has time: docs/design/how-the-server-is-shared.md#light-and-heavy. */
const maxNodesWithoutTurn = 10;

/** Runs an operation that needs only the schema, such as an introspection, when its owner's turn comes. */
export function runSchemaOperation(
  { operation, nodes, request, respond }: PreparedOperation,
  toOwner: () => Owner,
  { execute, admission }: RunState,
): void {
  const { response } = request;
  const start = async () => {
    const refusal = response.destroyed ? clientGone : admission.watchSchemaResponse(response);
    return refusal === undefined ? execute(operation, {}) : refuse(refusal);
  };
  if (nodes <= maxNodesWithoutTurn && loopBudget.hasTime()) {
    loopBudget.start(nodes);
    respond(start());
  } else schemaSteps.run(toOwner(), nodes, () => respond(start()));
}
