import { GraphQLError } from 'graphql';

/**
 * Creates a `GraphQLError` without its constructor, which takes about 10 µs. Thousands of fields may fail in one operation
 * (docs/design/how-it-stays-fast.md#expected-errors).
 */
export function createFastError(
  parts: Pick<GraphQLError, 'message' | 'nodes' | 'locations' | 'path' | 'extensions'> &
    Partial<Pick<GraphQLError, 'originalError'>>,
): GraphQLError {
  return Object.assign(Object.create(GraphQLError.prototype), { name: 'GraphQLError', ...parts });
}
