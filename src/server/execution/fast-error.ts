import { GraphQLError } from 'graphql';

/**
 * Creates a `GraphQLError` without its constructor, which takes about 10 µs. Thousands of fields may fail in one operation
 * (docs/decisions/0011-errors-without-stack-traces.md).
 */
export function createFastError(
  parts: Pick<GraphQLError, 'message' | 'nodes' | 'locations' | 'path' | 'extensions'> &
    Partial<Pick<GraphQLError, 'originalError'>>,
): GraphQLError {
  return Object.assign(Object.create(GraphQLError.prototype), { name: 'GraphQLError', ...parts });
}
