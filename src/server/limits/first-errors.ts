import { GraphQLError } from 'graphql';

// Longer ones quote long names from the document, or many conflicts.
const maxMessageCharacters = 1_000;

/**
 * The errors of a refused request as far as they are told: so many at most, the last of which says how many there are
 * besides.
 */
export function firstErrors(errors: readonly GraphQLError[], most: number): readonly GraphQLError[] {
  if (errors.length <= most && errors.every(({ message }) => message.length <= maxMessageCharacters)) {
    return errors;
  }
  const untold = errors.length - most;
  const more = untold === 1 ? '1 more error is not shown.' : `${untold} more errors are not shown.`;
  return errors.slice(0, most).map((error, index) => {
    const { message } = error;
    const short =
      message.length > maxMessageCharacters ? `${message.slice(0, maxMessageCharacters)}…` : message;
    const isLast = index === most - 1 && untold > 0;
    return reworded(error, isLast ? `${short} (${more})` : short);
  });
}

function reworded(error: GraphQLError, message: string): GraphQLError {
  const { nodes, source, positions, path, originalError, extensions } = error;
  return new GraphQLError(message, { nodes, source, positions, path, originalError, extensions });
}
