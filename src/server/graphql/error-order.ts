import type { ExecutionResult, GraphQLError } from 'graphql';

/** A result whose errors stand in the order of their paths, so that equal queries always answer alike. */
export function withOrderedErrors<Result extends ExecutionResult>(result: Result): Result {
  const { errors } = result;
  return errors === undefined || errors.length < 2 ? result : { ...result, errors: errors.toSorted(byPath) };
}

/** Part by part: indexes by their number, names by their letters, and what is above before what is below. */
function byPath({ path: one = [] }: GraphQLError, { path: other = [] }: GraphQLError): number {
  for (const [index, part] of one.entries()) {
    const against = other[index];
    if (against === undefined) return 1;
    if (part === against) continue;
    if (typeof part === 'number' && typeof against === 'number') return part - against;
    return String(part) < String(against) ? -1 : 1;
  }
  return one.length - other.length;
}
