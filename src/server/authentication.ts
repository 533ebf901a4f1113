import { type DocumentNode, GraphQLError, getOperationAST, type SelectionSetNode } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { toClientError } from './client-error.ts';
import type { OperationContext } from './context.ts';
import { type Definitions, definitionsOf } from './limits/fragments.ts';

/**
 * Answers an operation that needs the REST service, but bears no access token, with HTTP 401 before it runs.
 * Introspection needs none.
 */
export function authentication(): Plugin<OperationContext> {
  return {
    onExecute({ args, setResultAndStopExecution }) {
      const context: OperationContext = args.contextValue;
      if (!('missingBearer' in context) || !needsRest(args.document, args.operationName)) return;
      const { message, ...extensions } = toClientError(context.missingBearer);
      const http = { status: 401, headers: { 'www-authenticate': 'Bearer' } };
      setResultAndStopExecution({
        errors: [new GraphQLError(message, { extensions: { ...extensions, http } })],
      });
    },
  };
}

/** Whether any field at the root is one of the graph's own: all of these are answered by REST. */
export function needsRest(document: DocumentNode, operationName: string | null | undefined): boolean {
  const operation = getOperationAST(document, operationName);
  if (operation === null || operation === undefined) return false;

  // Most operations have a field before any fragment, and so need no list of these.
  let fragments: Definitions['fragments'] | undefined;
  function hasOwnField({ selections }: SelectionSetNode): boolean {
    return selections.some((selection) => {
      if (selection.kind === 'Field') return !selection.name.value.startsWith('__');
      if (selection.kind === 'InlineFragment') return hasOwnField(selection.selectionSet);
      fragments ??= definitionsOf(document).fragments;
      const fragment = fragments.get(selection.name.value);
      return fragment !== undefined && hasOwnField(fragment.selectionSet);
    });
  }

  return hasOwnField(operation.selectionSet);
}
