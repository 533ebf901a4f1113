import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { maxMessageCharacters, truncateMessage } from '../http/client-error.ts';
import { maxErrorsShown } from './limits.ts';

/** Yoga plugin: limits the number of errors in the response to a rejected request. */
export function truncatedErrors(): Plugin {
  return {
    onExecutionResult({ result, setResult }) {
      // A result with data keeps the errors of all its fields.
      if (result === undefined || !('errors' in result) || result.data !== undefined) return;
      const { errors } = result;
      const truncated = errors && truncateErrors(errors);
      if (truncated !== errors) setResult({ ...result, errors: truncated });
    },
  };
}

/** The first errors of a rejected request, with shortened messages. The last one says how many are not shown. */
export function truncateErrors(errors: readonly GraphQLError[]): readonly GraphQLError[] {
  const areMessagesShort = errors.every(({ message }) => message.length <= maxMessageCharacters);
  if (errors.length <= maxErrorsShown && areMessagesShort) return errors;
  const hiddenCount = errors.length - maxErrorsShown;
  // graphql-js ends its errors with "Too many …" when it stops looking for more.
  const atLeast = errors.at(-1)?.message.startsWith('Too many ') ? 'At least ' : '';
  const hiddenNote =
    hiddenCount === 1 ? '1 more error is not shown.' : `${hiddenCount} more errors are not shown.`;
  return errors.slice(0, maxErrorsShown).map((error, index) => {
    const message = truncateMessage(error.message);
    const isLast = index === maxErrorsShown - 1 && hiddenCount > 0;
    return withMessage(error, isLast ? `${message} (${atLeast}${hiddenNote})` : message);
  });
}

/** Copies an error with another message. */
export function withMessage(error: GraphQLError, message: string): GraphQLError {
  const { nodes, source, positions, path, originalError, extensions } = error;
  return new GraphQLError(message, { nodes, source, positions, path, originalError, extensions });
}
