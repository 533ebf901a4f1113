import { getOperationAST } from 'graphql';
import type { Plugin, YogaInitialContext } from 'graphql-yoga';
import type { NodeContext } from '../http/node-context.ts';
import type { OperationRequest } from '../operations/operation-request.ts';
import type { RunOperation } from '../operations/operation-runner.ts';
import type { Respond } from '../operations/prepared-operation.ts';

/** Yoga plugin: runs operations by the same function as the fast path. */
export function yogaExecution(runOperation: RunOperation): Plugin<NodeContext> {
  return {
    onExecute({ args, setExecuteFn }) {
      const { document, operationName, variableValues, contextValue } = args;
      const definition = getOperationAST(document, operationName);
      // Yoga's executor reports a missing or ambiguous operation name.
      if (definition === null || definition === undefined) return;
      const operation = { document, definition, variables: variableValues ?? undefined };
      const run = (respond: Respond) => runOperation(operation, operationRequest(contextValue), respond);
      setExecuteFn(() => contextValue.result ?? new Promise(run));
    },
  };
}

function operationRequest(context: YogaInitialContext & NodeContext): OperationRequest {
  const { headers, signal } = context.request;
  return {
    headers,
    requestRecord: context.requestRecord,
    response: context.res,
    onAbort(listener) {
      if (signal.aborted) listener(signal.reason);
      else signal.addEventListener('abort', () => listener(signal.reason), { once: true });
    },
  };
}
