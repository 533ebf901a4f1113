import type { Plugin } from 'graphql-yoga';
import type { OperationContext } from './context.ts';

/**
 * Has the time of an operation run while it is executed. When it is up, its calls end, the fields that still wait fail, and
 * what is there already is answered. Stands behind what may answer an operation without executing it.
 */
export function operationDeadline(): Plugin<OperationContext> {
  return {
    onExecute({ args }) {
      const context: OperationContext = args.contextValue;
      if ('missingBearer' in context) return undefined;
      context.lifetime.startClock();
      return { onExecuteDone: () => context.lifetime.stopClock() };
    },
  };
}
