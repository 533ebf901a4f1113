import { GraphQLError } from 'graphql';
import { truncateMessage } from '../../base/truncate-message.ts';
import { maxErrorsShown } from './limits.ts';

/** The first errors of a rejected request, with shortened messages. The last one says how many are not shown. */
export function truncateErrors(errors: readonly GraphQLError[]): readonly GraphQLError[] {
  const areMessagesShort = errors.every(({ message }) => message === truncateMessage(message));
  if (errors.length <= maxErrorsShown && areMessagesShort) return errors;
  const hiddenCount = errors.length - maxErrorsShown;
  // When graphql-js stops looking for errors, its last one says so, and has no location.
  const atLeast = errors.at(-1)?.locations === undefined ? 'At least ' : '';
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
