import { type ExecutionResult, GraphQLError } from 'graphql';
import type { MissingBearerError } from '../../rest/errors.ts';
import { perOperation } from '../documents/per-operation.ts';
import { toClientError } from '../http/client-error.ts';
import { definitionsOf, selectedFields } from '../limits/selections.ts';

/** The answer to an operation that needs the REST service, but bears no access token: HTTP 401. */
export function unauthenticated(error: MissingBearerError): ExecutionResult {
  const { message, ...extensions } = toClientError(error);
  const http = { status: 401, headers: { 'www-authenticate': 'Bearer' } };
  return { errors: [new GraphQLError(message, { extensions: { ...extensions, http } })] };
}

/** Whether any field at the root is one of the graph's own: all of these are answered by REST. Introspection is not. */
export const needsRest = perOperation(({ selectionSet }, document): boolean => {
  const { fragments } = definitionsOf(document);
  const fields = selectedFields([selectionSet], (name) => fragments.get(name));
  return fields.some(({ node }) => !node.name.value.startsWith('__'));
});
