import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { type OperationDefinitionNode, parse } from 'graphql';
import { expect, test, vi } from 'vitest';
import { loopBudget } from '../../../src/concurrency/event-loop-round.ts';
import { anonymousOwner } from '../../../src/concurrency/owner.ts';
import { RunningMutations } from '../../../src/concurrency/running-mutations.ts';
import { Admission } from '../../../src/server/operations/admission.ts';
import { runSchemaOperation } from '../../../src/server/operations/schema-operation.ts';

/** Runs `{ __typename }` for a request that no server received. */
function runTypename() {
  const document = parse('{ __typename }');
  // The document has one definition.
  const definition = document.definitions[0] as OperationDefinitionNode;
  const request = {
    headers: new Headers(),
    requestRecord: undefined,
    response: new ServerResponse(new IncomingMessage(new Socket())),
    onAbort() {},
  };
  const toOwner = vi.fn(() => anonymousOwner({}));
  const respond = vi.fn();
  runSchemaOperation(
    { operation: { document, definition, variables: undefined }, nodes: 1, request, respond },
    toOwner,
    {
      execute: () => ({ data: { __typename: 'Query' } }),
      admission: new Admission({ requestsAtOnce: 10, maxNodes: 10, unreadBytesAtOnce: 10 }),
      rateLimit: undefined,
      mutations: new RunningMutations(),
    },
  );
  return { toOwner, respond };
}

test('a small schema operation starts without a turn while the event loop has time', () => {
  const { toOwner, respond } = runTypename();
  expect(respond).toHaveBeenCalledOnce();
  expect(toOwner).not.toHaveBeenCalled();
});

test('a small schema operation waits for its turn while the event loop has no time', async () => {
  loopBudget.start(1_000);
  const { toOwner, respond } = runTypename();
  expect(respond).not.toHaveBeenCalled();
  expect(toOwner).toHaveBeenCalledOnce();
  await vi.waitFor(() => expect(respond).toHaveBeenCalledOnce());
});
