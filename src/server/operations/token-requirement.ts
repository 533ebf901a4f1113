import { type ExecutionResult, GraphQLError } from 'graphql';
import type { MissingBearerError } from '../../rest/errors.ts';
import { perOperation } from '../document-syntax/operation-memo.ts';
import { collectDefinitions, selectedFields } from '../document-syntax/selections.ts';
import { toClientError } from './client-error.ts';

/** The HTTP 401 result for an operation that needs the REST service but has no access token. */
export function unauthenticated(error: MissingBearerError): ExecutionResult {
  const { message, ...extensions } = toClientError(error);
  const http = { status: 401, headers: { 'www-authenticate': 'Bearer' } };
  return { errors: [new GraphQLError(message, { extensions: { ...extensions, http } })] };
}

/** Whether an operation needs the REST service. All root fields do, except those of introspection. */
export const needsRest = perOperation(({ selectionSet }, document): boolean => {
  const { fragments } = collectDefinitions(document);
  const fields = selectedFields([selectionSet], (name) => fragments.get(name));
  return fields.some(({ node }) => !node.name.value.startsWith('__'));
});
