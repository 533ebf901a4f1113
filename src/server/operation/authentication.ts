import { type ExecutionResult, GraphQLError, type SelectionSetNode } from 'graphql';
import type { MissingBearerError } from '../../rest/errors.ts';
import { toClientError } from '../client-error.ts';
import { perOperation } from '../documents/per-operation.ts';
import { type Definitions, definitionsOf } from '../limits/fragments.ts';

/** The answer to an operation that needs the REST service, but bears no access token: HTTP 401. */
export function unauthenticated(error: MissingBearerError): ExecutionResult {
  const { message, ...extensions } = toClientError(error);
  const http = { status: 401, headers: { 'www-authenticate': 'Bearer' } };
  return { errors: [new GraphQLError(message, { extensions: { ...extensions, http } })] };
}

/** Whether any field at the root is one of the graph's own: all of these are answered by REST. Introspection is not. */
export const needsRest = perOperation((definition, document): boolean => {
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

  return hasOwnField(definition.selectionSet);
});
