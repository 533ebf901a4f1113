import { GraphQLError } from 'graphql';

// Longer ones quote long names and values from the request, or many conflicts.
const maxMessageCharacters = 1_000;

/** A message as far as it is told. */
export function shortMessage(message: string): string {
  return message.length > maxMessageCharacters ? `${message.slice(0, maxMessageCharacters)}…` : message;
}

/**
 * The errors of a refused request as far as they are told: so many at most, the last of which says how many there are
 * besides.
 */
export function firstErrors(errors: readonly GraphQLError[], most: number): readonly GraphQLError[] {
  if (errors.length <= most && errors.every(({ message }) => message.length <= maxMessageCharacters)) {
    return errors;
  }
  const untold = errors.length - most;
  // Validation and the executor end with an error that says so, where they look for no more.
  const least = errors.at(-1)?.message.startsWith('Too many ') ? 'At least ' : '';
  const more = untold === 1 ? '1 more error is not shown.' : `${untold} more errors are not shown.`;
  return errors.slice(0, most).map((error, index) => {
    const short = shortMessage(error.message);
    const isLast = index === most - 1 && untold > 0;
    return reworded(error, isLast ? `${short} (${least}${more})` : short);
  });
}

function reworded(error: GraphQLError, message: string): GraphQLError {
  const { nodes, source, positions, path, originalError, extensions } = error;
  return new GraphQLError(message, { nodes, source, positions, path, originalError, extensions });
}
