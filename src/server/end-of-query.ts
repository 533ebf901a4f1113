import { getOperationAST } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { OperationContext } from './context.ts';

/**
 * Ends the calls that are still under way when a query is answered: those beside a field whose failure has blanked all, and
 * pages that were asked for ahead in vain. They would keep others waiting, and the server from closing.
 */
export function endOfQuery(): Plugin<OperationContext> {
  return {
    onExecute({ args }) {
      const context: OperationContext = args.contextValue;
      const operation = getOperationAST(args.document, args.operationName)?.operation;
      // What a mutation has begun is left to finish.
      if ('missingBearer' in context || operation !== 'query') return undefined;
      return { onExecuteDone: () => context.lifetime.end() };
    },
  };
}
