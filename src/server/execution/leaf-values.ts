import type { GraphQLLeafType } from 'graphql';

/** Converts a leaf value for the response. Returns undefined for null, objects and invalid values. */
export type Serialize = (value: unknown) => unknown;

const typesOfScalars: Readonly<Record<string, string>> = {
  String: 'string',
  ID: 'string',
  Boolean: 'boolean',
  Int: 'number',
  Float: 'number',
};

/**
 * The serializer of a scalar or enum type. To a built-in scalar, a value of another type is invalid: GraphQL's own
 * serializers turn `true` into "true" or 1.
 */
export function leafSerializer(type: GraphQLLeafType): Serialize {
  const expected = typesOfScalars[type.name];
  // The value needs no conversion.
  if (expected === 'string' || expected === 'boolean')
    return (value) => (typeof value === expected ? value : undefined);
  return (value) => {
    if (value === null || value === undefined || typeof value === 'object') return undefined;
    if (expected !== undefined && typeof value !== expected) return undefined;
    try {
      return type.coerceOutputValue(value) ?? undefined;
    } catch {
      return undefined;
    }
  };
}
