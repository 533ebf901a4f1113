import type { GraphQLLeafType } from 'graphql';

/** Converts a leaf value for the response. Throws for an invalid value. */
export type Serialize = (value: unknown) => unknown;

const typesOfScalars: Readonly<Record<string, string>> = {
  String: 'string',
  ID: 'string',
  Boolean: 'boolean',
  Int: 'number',
  Float: 'number',
};

/**
 * The serializer of a scalar or enum type. A built-in scalar fails if REST sent a value of another type: GraphQL's own
 * serializers turn `true` into "true" or 1.
 */
export function leafSerializer(type: GraphQLLeafType): Serialize {
  const expected = typesOfScalars[type.name];
  if (expected === undefined) return (value) => type.coerceOutputValue(value);
  const { coerceOutputValue } = type;
  const isNumber = expected === 'number';
  return (value) => {
    // The wording of GraphQL's own scalars. The server recognizes the error by this wording.
    if (typeof value !== expected) throw new TypeError(`${type.name} cannot represent a ${typeof value}.`);
    return isNumber ? coerceOutputValue(value) : value;
  };
}

/** The leaf value for the response. Undefined for null, objects and invalid values. */
export function serializeLeaf(serialize: Serialize, value: unknown): unknown {
  if (value === null || value === undefined || typeof value === 'object') return undefined;
  try {
    return serialize(value) ?? undefined;
  } catch {
    // `completeValue` converts the value again, and reports the error.
    return undefined;
  }
}
