import { type ExecutionResult, getOperationAST } from 'graphql';
import type { Plugin, YogaInitialContext } from 'graphql-yoga';
import type { CompiledQueries } from '../compiled-queries/compiled-queries.ts';
import type { OperationRequest } from './operation-request.ts';
import type { OperationRunner } from './run-operation.ts';
import type { NodeContext } from './yoga-request.ts';

/** Yoga plugin: runs operations by `runner`. Queries without a plan are executed by Yoga's own executor. */
export function yogaOperations(
  runner: OperationRunner,
  compiledQueries: CompiledQueries | undefined,
): Plugin<NodeContext> {
  return {
    onExecute({ args, executeFn, setExecuteFn, setResultAndStopExecution }) {
      const { document, operationName, variableValues } = args;
      const definition = getOperationAST(document, operationName);
      // Yoga's executor reports a missing or ambiguous operation name.
      if (definition === null || definition === undefined) return;
      const { refusal } = args.contextValue;
      if (refusal !== undefined) return setResultAndStopExecution(refusal);
      const operation = { document, definition, variables: variableValues ?? undefined };
      const accepted = runner.prepare(operation, operationRequestOf(args.contextValue));
      if ('refusal' in accepted) return setResultAndStopExecution(accepted.refusal);
      const { context } = accepted;
      const runCompiled = compiledQueries?.(operation)?.(operation.variables);
      setExecuteFn((executorArgs) =>
        accepted.run(() =>
          runCompiled === undefined
            ? // Never a stream: the schema has no subscriptions and no @defer.
              (executeFn({ ...executorArgs, contextValue: context }) as
                | ExecutionResult
                | Promise<ExecutionResult>)
            : runCompiled(context),
        ),
      );
    },
  };
}

function operationRequestOf({
  request,
  requestRecord,
  res,
}: YogaInitialContext & NodeContext): OperationRequest {
  const { headers, signal } = request;
  return {
    headers,
    requestRecord,
    response: res,
    sharesBody: false,
    onAbort(listener) {
      if (signal.aborted) listener(signal.reason);
      else signal.addEventListener('abort', () => listener(signal.reason), { once: true });
    },
  };
}
